//go:build linux

package runtest

import "testing"

func TestAllowed(t *testing.T) {
	role := map[string]any{"Policies": []any{map[string]any{"PolicyDocument": map[string]any{"Statement": []any{
		map[string]any{"Sid": "Read", "Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:states/*"},
		map[string]any{"Sid": "Lock", "Effect": "Allow", "Action": []any{"s3:PutObject", "s3:DeleteObject"}, "Resource": "arn:states/*.tflock"},
		map[string]any{"Sid": "Table", "Effect": "Allow", "Action": "dynamodb:*", "Resource": "arn:table"},
		map[string]any{
			"Sid": "NoDigests", "Effect": "Deny", "Action": "dynamodb:PutItem", "Resource": "arn:table",
			"Condition": map[string]any{"ForAnyValue:StringLike": map[string]any{"dynamodb:LeadingKeys": []any{"*-md5"}}},
		},
		map[string]any{
			"Sid": "Deliveries", "Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "arn:records",
			"Condition": map[string]any{"ForAllValues:StringEquals": map[string]any{"dynamodb:LeadingKeys": []any{"delivery"}}},
		},
	}}}}}
	statements := statementsOf(role)
	for _, test := range []struct {
		action, resource, key string
		want                  bool
	}{
		{"s3:GetObject", "arn:states/a/b", "", true},
		{"s3:GetObject", "arn:other/a", "", false},
		{"s3:PutObject", "arn:states/a/b", "", false},
		{"s3:PutObject", "arn:states/a/b.tflock", "", true},
		{"s3:DeleteObject", "arn:states/a/b.tflock", "", true},
		{"s3:ListBucket", "arn:states", "", false},
		{"dynamodb:PutItem", "arn:table", "states/a", true},
		{"dynamodb:PutItem", "arn:table", "states/a-md5", false},
		{"dynamodb:GetItem", "arn:table", "states/a-md5", true},
		{"dynamodb:GetItem", "arn:records", "delivery", true},
		{"dynamodb:GetItem", "arn:records", "run", false},
	} {
		c := call{Action: test.action, Resource: test.resource}
		if test.key != "" {
			c.keys = []string{test.key}
		}
		if got := allowed(statements, c); got != test.want {
			t.Errorf("%+v: %v, want %v", c, got, test.want)
		}
	}
}

func TestResolve(t *testing.T) {
	x := ReadTemplate(t, "../../../template.yaml")
	r := resolver{x, map[string]string{"AWS::Region": "r", "AWS::AccountId": "1", "AWS::Partition": "aws", "AWS::StackName": "lockstep", "StateTable": "", "StateKeyArn": "", "PlanTargetRoleArn": "", "StateBucket": "states"}, map[string]string{}}
	for name := range x.Resources {
		r.refs[name], r.atts[name+".Arn"] = "ref-"+name, "arn-"+name
	}
	r.refs["AppKeySecretArn"] = "key"
	role := r.resolve(x.Resources["PlanRole"].Properties).(map[string]any)
	sids := map[string]bool{}
	for _, s := range statementsOf(role) {
		sids[s.sid] = true
	}
	if !sids["StateRead"] || sids["StateTable"] || sids["Target"] || sids["StateKey"] {
		t.Errorf("without a table, a key and a role there are the statements %v", sids)
	}
	r.refs["StateTable"] = "locks"
	role = r.resolve(x.Resources["PlanRole"].Properties).(map[string]any)
	table := call{Action: "dynamodb:PutItem", Resource: "arn:aws:dynamodb:r:1:table/locks", keys: []string{"states/net/terraform.tfstate"}}
	digest := table
	digest.keys = []string{"states/net/terraform.tfstate-md5"}
	if s := statementsOf(role); !allowed(s, table) || allowed(s, digest) {
		t.Error("a plan may write its lock, and no digest")
	}
}
