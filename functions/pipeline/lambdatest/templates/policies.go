package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A PolicyKind is the kind of a policy. The kind decides which members a statement may leave out.
type PolicyKind string

// The kinds of policies. A role's own policies have no principals, and a trust policy has no resource.
const (
	RolePolicies     PolicyKind = "role"
	TrustPolicies    PolicyKind = "trust"
	ResourcePolicies PolicyKind = "resource"
)

// A Policy is a policy document of the template.
type Policy struct {
	Kind PolicyKind
	Name string // "PlanRole.plan", "Key.KeyPolicy"
	// On are the logical names of the role that has the policy, or of the resources that it protects.
	On       []string
	Document map[string]any
}

// PoliciesOf returns all policies of a template, sorted by name. It panics if a resource of an unknown type has
// a policy, because no test would check that policy.
func PoliciesOf(x Template) []Policy {
	var out []Policy
	for _, name := range slices.Sorted(maps.Keys(x.Resources)) {
		r := x.Resources[name]
		document := func(property string) map[string]any { return r.Properties[property].(map[string]any) }
		switch r.Type {
		case "AWS::IAM::Role":
			out = append(out, Policy{TrustPolicies, name + ".AssumeRolePolicyDocument", []string{name}, document("AssumeRolePolicyDocument")})
			for _, p := range list(r.Properties["Policies"]) {
				m := p.(map[string]any)
				out = append(out, Policy{RolePolicies, fmt.Sprintf("%s.%v", name, m["PolicyName"]), []string{name}, m["PolicyDocument"].(map[string]any)})
			}
		case "AWS::IAM::RolePolicy":
			out = append(out, Policy{RolePolicies, name, []string{Target(r.Properties["RoleName"])}, document("PolicyDocument")})
		case "AWS::IAM::Policy":
			for _, role := range list(r.Properties["Roles"]) {
				out = append(out, Policy{RolePolicies, name + "." + Target(role), []string{Target(role)}, document("PolicyDocument")})
			}
		case "AWS::KMS::Key":
			out = append(out, Policy{ResourcePolicies, name + ".KeyPolicy", []string{name}, document("KeyPolicy")})
		case "AWS::S3::BucketPolicy":
			out = append(out, Policy{ResourcePolicies, name, []string{Target(r.Properties["Bucket"])}, document("PolicyDocument")})
		case "AWS::SQS::QueuePolicy":
			var queues []string
			for _, q := range list(r.Properties["Queues"]) {
				queues = append(queues, Target(q))
			}
			out = append(out, Policy{ResourcePolicies, name, queues, document("PolicyDocument")})
		case "AWS::Lambda::Permission":
			out = append(out, permission(name, r.Properties))
		default:
			for _, p := range []string{"PolicyDocument", "ResourcePolicy", "Policies", "ManagedPolicyArns"} {
				if r.Properties[p] != nil {
					panic(fmt.Sprintf("templates: %s has %s, which PoliciesOf does not read", name, p))
				}
			}
		}
	}
	return out
}

// permission returns the policy that Lambda makes of a resource AWS::Lambda::Permission.
// Source: https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html
func permission(name string, p map[string]any) Policy {
	function := Target(p["FunctionName"])
	s := map[string]any{
		"Sid": name, "Effect": "Allow", "Action": p["Action"], "Principal": p["Principal"],
		"Resource": map[string]any{"Fn::GetAtt": function + ".Arn"},
	}
	conditions := map[string]any{}
	if v := p["FunctionUrlAuthType"]; v != nil {
		conditions["StringEquals"] = map[string]any{"lambda:FunctionUrlAuthType": v}
	}
	if v := p["InvokedViaFunctionUrl"]; v != nil {
		conditions["Bool"] = map[string]any{"lambda:InvokedViaFunctionUrl": fmt.Sprint(v)}
	}
	if v := p["SourceAccount"]; v != nil {
		conditions["StringLike"] = map[string]any{"aws:SourceAccount": v}
	}
	if v := p["SourceArn"]; v != nil {
		conditions["ArnLike"] = map[string]any{"aws:SourceArn": v}
	}
	if len(conditions) > 0 {
		s["Condition"] = conditions
	}
	return Policy{ResourcePolicies, name, []string{function}, map[string]any{"Version": "2012-10-17", "Statement": []any{s}}}
}

// Target returns the logical name of the resource in a Ref or GetAtt; "" if v is neither.
func Target(v any) string {
	m, _ := v.(map[string]any)
	if name, ok := m["Ref"].(string); ok {
		return name
	}
	att, _ := m["Fn::GetAtt"].(string)
	name, _, _ := strings.Cut(att, ".")
	return name
}

// list returns a value, which is one element or a list, as a list.
func list(v any) []any {
	if l, ok := v.([]any); ok || v == nil {
		return l
	}
	return []any{v}
}
