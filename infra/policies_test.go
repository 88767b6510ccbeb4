package infra

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// An object is a resource's attributes.
type object map[string]any

func (o object) text(attribute string) string { return o[attribute].(string) }

// policy is the document in an attribute.
func (o object) policy(attribute string) json.RawMessage { return json.RawMessage(o.text(attribute)) }

// made returns what a module makes, by address.
func made(t *testing.T, module string, variables map[string]cty.Value) map[string]object {
	t.Helper()
	run := engine.Run{Config: load(t, module), Variables: map[string]cty.Value{}}
	for name, v := range run.Config.Root.Content.Variables {
		given, ok := variables[name]
		if !ok {
			given = v.Default
		}
		value, err := v.Prepare(given)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		run.Variables[name] = value
	}
	processes := aws(t)
	planning, applying := provider.NewPool(processes), provider.NewPool(processes)
	defer planning.Close()
	defer applying.Close()
	run.Providers = planning
	plan, ds := engine.Plan(t.Context(), run, states.Empty(), engine.PlanOptions{})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	run.Providers = applying
	done, ds := engine.Apply(t.Context(), run, plan, engine.ApplyOptions{})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	out := map[string]object{}
	for address, r := range done.State.Resources() {
		for key, i := range r.Instances {
			var attributes object
			if err := json.Unmarshal(i.Current.AttrsJSON, &attributes); err != nil {
				t.Fatal(err)
			}
			out[address.String()+key.String()] = attributes
		}
	}
	return out
}

// A judged is a request for the simulator, and what it must say.
type judged struct {
	Who      string              `json:"who"`
	Own      []string            `json:"own,omitempty"`
	Session  json.RawMessage     `json:"session,omitempty"`
	Resource []string            `json:"resource,omitempty"`
	Action   string              `json:"action"`
	On       string              `json:"on"`
	Context  map[string][]string `json:"context"`
	want     bool
}

// judge asks the simulator, and holds that each statement of the policies that are not named in given
// matches a request.
func judge(t *testing.T, policies map[string]json.RawMessage, given []string, all []judged) {
	t.Helper()
	var answers []struct {
		Allowed bool
		By      []string
	}
	templates.Ask(t, map[string]any{"judge": map[string]any{"policies": policies, "requests": all}}, &answers)
	used, counts := map[string]bool{}, map[bool]int{}
	for i, a := range answers {
		if a.Allowed != all[i].want {
			t.Errorf("%s: %s on %s with %v: %v, by %q", all[i].Who, all[i].Action, all[i].On, all[i].Context, a.Allowed, a.By)
			continue
		}
		counts[a.Allowed]++
		for _, by := range a.By {
			used[by] = true
		}
	}
	t.Logf("%d requests are allowed, %d denied", counts[true], counts[false])
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		var p struct{ Statement []map[string]any }
		if err := json.Unmarshal(policies[name], &p); err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Statement {
			if !slices.Contains(given, name) && !used[fmt.Sprint(name, " ", i)] {
				t.Errorf("%s: no request needs the statement %v, %v", name, i+1, s["Sid"])
			}
		}
	}
}

// requests are those of the functions' tests, with values for the template's words.
func requests(t *testing.T, values ...string) templates.Requests {
	t.Helper()
	text, err := os.ReadFile("../functions/internal/template/testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, err := templates.ReadRequests(strings.NewReplacer(values...).Replace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	planFunction  = "arn:aws:iam::" + account + ":role/lockstep-PlanRole"
	applyFunction = "arn:aws:iam::" + account + ":role/lockstep-ApplyRole"
	externalID    = "only-we-know-this-one"
)

func texts(values ...string) cty.Value {
	var out []cty.Value
	for _, v := range values {
		out = append(out, cty.StringVal(v))
	}
	return cty.ListVal(out)
}

// everything is a policy that allows everything: what is denied beside it is denied by the module.
const everything = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

// TestTargetPolicies holds that the roles of providers are assumed as the functions' tests do it and not
// otherwise, and that the role for plans reads no secret but those that are named, whatever its policies allow.
func TestTargetPolicies(t *testing.T) {
	t.Parallel()
	const secret, parameter, remote = "arn:aws:secretsmanager:us-east-1:" + account + ":secret:token-AbCdEf", "arn:aws:ssm:us-east-1:" + account + ":parameter/word", "arn:aws:s3:::acme-states/vpc/terraform.tfstate"
	p := made(t, "target", map[string]cty.Value{
		"plan_function_role_arn": cty.StringVal(planFunction), "apply_function_role_arn": cty.StringVal(applyFunction),
		"external_id": cty.StringVal(externalID), "repositories": texts("acme/infra"), "apply_policy_arns": texts("arn:aws:iam::aws:policy/PowerUserAccess"),
		"secret_arns": texts(secret, parameter), "remote_state_arns": texts(remote),
	})
	policies := map[string]json.RawMessage{"everything": json.RawMessage(everything)}
	arns := map[string]string{}
	for _, use := range []string{"plan", "apply"} {
		at := `["` + use + `"]`
		role := p["aws_iam_role.provider"+at]
		arns[use] = role.text("arn")
		policies[use+" trust"] = role.policy("assume_role_policy")
		policies[use+" secrets"] = p["aws_iam_role_policy.secrets"+at].policy("policy")
		policies[use+" states"] = p["aws_iam_role_policy.remote_states"+at].policy("policy")
	}
	policies["plan denied"] = p["aws_iam_role_policy.denied[0]"].policy("policy")
	functions := map[string]string{"PlanRole": planFunction, "ApplyRole": applyFunction}
	var all []judged
	for _, d := range requests(t, "${ExternalId}", externalID).Asked {
		use := map[string]string{"${PlanTargetRoleArn}": "plan", "${ApplyTargetRoleArn}": "apply"}[d.Resource]
		if use == "" {
			continue
		}
		j := judged{Who: functions[d.Who], Own: []string{"everything"}, Resource: []string{use + " trust"}, Action: d.Action, On: arns[use], Context: d.Context, want: true}
		all = append(all, j)
		j.want = false
		for _, who := range []string{"arn:aws:iam::" + account + ":role/admin", functions[map[string]string{"plan": "ApplyRole", "apply": "PlanRole"}[use]]} {
			j.Who = who
			all = append(all, j)
		}
		j.Who = functions[d.Who]
		for _, change := range [][2]string{{"aws:RequestTag/repository", "acme/other"}, {"aws:RequestTag/repository", ""}, {"aws:RequestTag/pull", ""}, {"aws:TagKeys", "admin"}, {"sts:ExternalId", "another"}} {
			if change[0] == "sts:ExternalId" && d.Action == "sts:TagSession" {
				continue // which has none
			}
			j.Context = maps.Clone(d.Context)
			j.Context[change[0]] = []string{change[1]}
			all = append(all, j)
		}
	}
	asked := func(use, action, on string, want bool, via string) {
		j := judged{Who: arns[use], Own: []string{"everything", use + " secrets", use + " states"}, Action: action, On: on, Context: map[string][]string{}, want: want}
		if use == "plan" {
			j.Own = append(j.Own, "plan denied")
		}
		if via == "" {
			j.Own = j.Own[1:] // the module's own policies
		} else if via != "-" {
			j.Context["kms:ViaService"] = []string{via + ".us-east-1.amazonaws.com"}
		}
		if strings.HasPrefix(action, "kms:") {
			j.Resource = []string{"key"}
		}
		all = append(all, j)
	}
	policies["key"] = json.RawMessage(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:root"},"Action":"kms:*","Resource":"*"}]}`)
	for _, use := range []string{"plan", "apply"} {
		for action, on := range map[string]string{"secretsmanager:GetSecretValue": secret, "ssm:GetParameter": parameter, "s3:GetObject": remote} {
			asked(use, action, on, true, "")
			asked(use, action, strings.NewReplacer("token", "other", "word", "other", "vpc", "other").Replace(on), use == "apply", "-")
		}
		const key = "arn:aws:kms:us-east-1:" + account + ":key/1"
		for _, via := range []string{"secretsmanager", "ssm", "s3"} {
			asked(use, "kms:Decrypt", key, true, via)
		}
		asked(use, "kms:Decrypt", key, use == "apply", "ebs")
		asked(use, "kms:Decrypt", key, use == "apply", "-")
		asked(use, "dynamodb:GetItem", "arn:aws:dynamodb:us-east-1:"+account+":table/users", use == "apply", "-")
		asked(use, "sqs:ReceiveMessage", "arn:aws:sqs:us-east-1:"+account+":jobs", use == "apply", "-")
		asked(use, "ec2:DescribeInstances", "*", true, "-")
	}
	judge(t, policies, []string{"everything", "key"}, all)
}

// TestStatePolicies holds that the role with access to states does what the functions' tests do in sessions
// of the template's roles, and not what is refused to those; and that the bucket and the key refuse others' ways.
func TestStatePolicies(t *testing.T) {
	t.Parallel()
	const encryption = "arn:aws:kms:us-east-1:" + account + ":key/encryption"
	p := made(t, "state", map[string]cty.Value{
		"bucket": cty.StringVal("states"), "table": cty.StringVal("locks"), "trusted_arns": texts(applyFunction),
		"external_id": cty.StringVal(externalID), "encryption_key_arns": texts(encryption),
	})
	key := p["aws_kms_key.states"].text("arn")
	policies := map[string]json.RawMessage{
		"everything": json.RawMessage(everything),
		"states":     p["aws_iam_role_policy.states[0]"].policy("policy"), "trust": p["aws_iam_role.states[0]"].policy("assume_role_policy"),
		"bucket": p["aws_s3_bucket_policy.states"].policy("policy"), "key": p["aws_kms_key.states"].policy("policy"),
		"other key": json.RawMessage(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:root"},"Action":"kms:*","Resource":"*"}]}`),
	}
	role := p["aws_iam_role.states[0]"].text("arn")
	protected := func(on string) []string {
		switch {
		case strings.HasPrefix(on, "arn:aws:s3:::states"):
			return []string{"bucket"}
		case on == key:
			return []string{"key"}
		case on == encryption:
			return []string{"other key"}
		}
		return nil
	}
	r := requests(t, "${StateKeyArn}", key, "${EncryptionKeyArn}", encryption, "${StateApplyRole.Arn}", role, "${AWS::StackId}", externalID)
	var all []judged
	for _, d := range r.Asked {
		switch {
		case d.Who == "StateApplyRole" && d.Session != "":
			all = append(all, judged{Who: role, Own: []string{"states"}, Session: json.RawMessage(r.Sessions[d.Session]), Resource: protected(d.Resource), Action: d.Action, On: d.Resource, Context: d.Context, want: d.Allowed})
		case d.Who == "ApplyRole" && d.Resource == role && d.Allowed:
			j := judged{Who: applyFunction, Resource: []string{"trust"}, Action: d.Action, On: role, Context: d.Context, want: true}
			all = append(all, j)
			j.Who, j.Own, j.want = planFunction, []string{"everything"}, false
			all = append(all, j)
			for _, change := range [][2]string{{"aws:RequestTag/repository", "acme"}, {"aws:RequestTag/pull", ""}, {"aws:TagKeys", "admin"}} {
				j.Who, j.Context = applyFunction, maps.Clone(d.Context)
				j.Context[change[0]] = []string{change[1]}
				all = append(all, j)
			}
		}
	}
	admin := "arn:aws:iam::" + account + ":role/admin"
	for _, x := range []struct {
		action, on, key, value string
		want                   bool
	}{
		{"s3:GetObject", "arn:aws:s3:::states/net/terraform.tfstate", "aws:SecureTransport", "false", false},
		{"s3:GetObject", "arn:aws:s3:::states/net/terraform.tfstate", "aws:SecureTransport", "true", true},
		{"kms:Decrypt", key, "kms:ViaService", "s3.us-east-1.amazonaws.com", true},
		{"kms:Decrypt", key, "kms:ViaService", "ebs.us-east-1.amazonaws.com", false},
		{"kms:GenerateDataKey", key, "kms:ViaService", "dynamodb.us-east-1.amazonaws.com", false},
		{"kms:ScheduleKeyDeletion", key, "aws:SecureTransport", "true", true},
	} {
		all = append(all, judged{Who: admin, Own: []string{"everything"}, Resource: protected(x.on), Action: x.action, On: x.on, Context: map[string][]string{x.key: {x.value}}, want: x.want})
	}
	for _, action := range []string{"s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutObjectAcl"} {
		all = append(all, judged{Who: role, Own: []string{"states"}, Resource: []string{"bucket"}, Action: action, On: "arn:aws:s3:::states/net/terraform.tfstate", Context: map[string][]string{"aws:SecureTransport": {"true"}}})
	}
	judge(t, policies, []string{"everything", "other key"}, all)
}
