package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A World is a deployed template: all principals, all resources, and the policies with their final
// values.
type World struct {
	Matrix     *Matrix
	Principals map[string]*Party
	Resources  map[string]*Party
	// Policies are the template's own.
	Policies []Deployed

	resolve func(v any) any
}

// A Party is a principal with its own policies, or a resource with the policies that protect it.
type Party struct {
	ARN      string           `json:"arn"`
	Policies []map[string]any `json:"policies"`
	// Of is the resource whose policies protect this one, if it is a part of another.
	Of string `json:"of,omitempty"`
}

// A Deployed is a policy of the template with its final values.
type Deployed struct {
	templates.Policy
	Resolved map[string]any
}

// objects are those of the template's buckets, by their names in the matrix: a plan, one of no kind,
// and those that functions other than the plan function put, and a tool. The keys are those of package
// runs.
var objects = map[string]string{"a": "5/7/net@default/1/plan", "other": "5/7/net@default/1/other", "report": "5/7/net@default/1/report.md", "result": "5/7/net@default/1/result-1.md", "rescued": "rescued/a", "tool": "tools/0123"}

// Deploy returns the world of a template and a matrix.
func Deploy(x templates.Template, m *Matrix) *World {
	w := &World{Matrix: m, Principals: map[string]*Party{}, Resources: map[string]*Party{"*": {ARN: "*"}}}
	refs, atts := names(x, m)
	w.resolve = func(v any) any { return x.Resolve(refs, atts, v) }
	for name, r := range x.Resources {
		arn := atts[name+".Arn"]
		if arn == "" {
			continue
		}
		w.Resources[name] = &Party{ARN: arn}
		switch r.Type {
		case "AWS::IAM::Role":
			w.Principals[name] = &Party{ARN: arn}
		case "AWS::S3::Bucket":
			for object, key := range objects {
				w.Resources[name+"/"+object] = &Party{ARN: arn + "/" + key, Of: name}
			}
		case "AWS::Logs::LogGroup":
			// Requests use the ARN of a stream.
			w.Resources[name].ARN = strings.TrimSuffix(arn, "*") + "log-stream:a"
		}
	}
	w.others()
	for _, p := range templates.PoliciesOf(x) {
		d := Deployed{p, x.Resolve(refs, atts, p.Document).(map[string]any)}
		w.Policies = append(w.Policies, d)
		for _, on := range p.On {
			party := w.party(p.Kind, on)
			party.Policies = append(party.Policies, d.Resolved)
		}
	}
	return w
}

func (w *World) party(k templates.PolicyKind, name string) *Party {
	if k == templates.RolePolicies {
		return w.Principals[name]
	}
	return w.Resources[name]
}

// others adds the principals and resources of the matrix.
func (w *World) others() {
	allow := func(statement map[string]any) map[string]any {
		statement["Effect"] = "Allow"
		return map[string]any{"Version": "2012-10-17", "Statement": []any{statement}}
	}
	for _, t := range w.Matrix.Resources {
		p := &Party{ARN: w.arn(t.ARN)}
		if t.Delegates {
			s := map[string]any{"Principal": map[string]any{"AWS": "arn:aws:iam::" + templates.AccountID + ":root"}, "Action": "sts:*"}
			if service := strings.Split(p.ARN, ":")[2]; service != "iam" {
				s["Action"], s["Resource"] = service+":*", "*"
			}
			p.Policies = append(p.Policies, allow(s))
		}
		w.Resources[t.Name] = p
	}
	for _, s := range w.Matrix.Principals {
		p := &Party{ARN: w.arn(s.ARN)}
		if s.MayAll {
			p.Policies = append(p.Policies, allow(map[string]any{"Action": "*", "Resource": "*"}))
		}
		w.Principals[s.Name] = p
	}
}

// arn returns the ARN of the resource that a text names by $Name, or the text.
func (w *World) arn(text string) string {
	name, ok := strings.CutPrefix(text, "$")
	if !ok {
		return text
	}
	r := w.Resources[name]
	if r == nil {
		panic("template: the matrix names " + text + ", which is not there")
	}
	return r.ARN
}

// stackID is this stack's ID in the matrix' contexts.
const stackID = "arn:aws:cloudformation:" + lambdatest.Region + ":" + templates.AccountID + ":stack/lockstep/1"

// names gives all resources names, and ARNs to those that requests can name.
func names(x templates.Template, m *Matrix) (refs, atts map[string]string) {
	refs = map[string]string{"AWS::Region": lambdatest.Region, "AWS::AccountId": templates.AccountID, "AWS::Partition": "aws", "AWS::StackName": "lockstep", "AWS::StackId": stackID}
	atts = map[string]string{}
	for name, p := range x.Parameters {
		refs[name] = "of " + name
		if p.Default != nil {
			refs[name] = fmt.Sprint(p.Default)
		}
	}
	maps.Copy(refs, m.Parameters)
	for name, r := range x.Resources {
		id := "lockstep-" + strings.ToLower(name)
		refs[name] = id
		here := lambdatest.Region + ":" + templates.AccountID
		arns := map[string]string{
			"AWS::Serverless::Function": "arn:aws:lambda:" + here + ":function:" + given(r, "FunctionName"),
			"AWS::CodeBuild::Project":   "arn:aws:codebuild:" + here + ":project/" + given(r, "Name"),
			"AWS::DynamoDB::Table":      "arn:aws:dynamodb:" + here + ":table/" + id,
			"AWS::Logs::LogGroup":       "arn:aws:logs:" + here + ":log-group:" + id + ":*",
			"AWS::KMS::Key":             "arn:aws:kms:" + here + ":key/" + id,
			"AWS::SQS::Queue":           "arn:aws:sqs:" + here + ":" + id,
			"AWS::IAM::Role":            "arn:aws:iam::" + templates.AccountID + ":role/" + id,
			"AWS::S3::Bucket":           "arn:aws:s3:::" + id,
		}
		if arns[r.Type] != "" {
			atts[name+".Arn"] = arns[r.Type]
		}
	}
	return refs, atts
}

// given is the name that a resource has by the name of its stack, which policies may have, too.
func given(r templates.Resource, property string) string {
	name, _ := r.Properties[property].(map[string]any)
	return strings.ReplaceAll(fmt.Sprint(name["Fn::Sub"]), "${AWS::StackName}", "lockstep")
}

// Contexts returns the values of each context of the matrix, with ARNs for names.
func (w *World) Contexts() map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, c := range w.Matrix.Contexts {
		keys := map[string]any{}
		for k, v := range c.Keys {
			keys[k] = w.arn(v)
			if k == "dynamodb:LeadingKeys" || k == "aws:TagKeys" {
				keys[k] = strings.Split(v, ",")
			}
		}
		out[c.Name] = keys
	}
	return out
}

// Services returns the services whose actions the policies name, sorted.
func (w *World) Services() []string {
	var out []string
	for _, d := range w.Policies {
		for _, a := range actions(d.Resolved) {
			service, _, _ := strings.Cut(a, ":")
			out = append(out, service)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// actions returns the patterns of actions in a policy's statements.
func actions(document map[string]any) []string {
	var out []string
	for _, s := range list(document["Statement"]) {
		out = append(out, texts(s.(map[string]any)["Action"])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
