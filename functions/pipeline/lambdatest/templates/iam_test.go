package templates

import (
	"slices"
	"testing"
)

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
		c := Call{Action: test.action, Resource: test.resource}
		if test.key != "" {
			c.Context = map[string][]string{"dynamodb:LeadingKeys": {test.key}}
		}
		if got := allowed(statements, c); got != test.want {
			t.Errorf("%+v: %v, want %v", c, got, test.want)
		}
	}
}

func TestResolve(t *testing.T) {
	x := ReadTemplate(t, "../../../../template.yaml")
	r := Resolver{x, map[string]string{"AWS::Region": "r", "AWS::AccountId": "1", "AWS::Partition": "aws", "AWS::StackName": "lockstep", "AWS::StackId": "stack", "StateTable": "", "StateKeyArn": "", "Apps": "", "PermissionsBoundaryArn": "", "SubnetIds": "", "SecurityGroupIds": "", "EncryptionKeyArn": "", "PlanTargetRoleArn": "", "PlanRolePattern": "", "CalledFunctions": "lockstep-call-*", "CalledTopics": "lockstep-call-*", "BuildImages": "lockstep-build-*", "SigningKeys": "lockstep-call/*", "StateRolePattern": "", "ApplyRolePattern": "", "StateBucket": "states", "CollectorSecretArn": "", "PageSecretArn": ""}, map[string]string{}}
	for name := range x.Resources {
		r.Refs[name], r.Atts[name+".Arn"] = "ref-"+name, "arn:"+name
	}
	r.Refs["AppKeySecretArn"] = "key"
	role := r.Resolve(x.Resources["StatePlanRole"].Properties).(map[string]any)
	sids := map[string]bool{}
	for _, s := range statementsOf(role) {
		sids[s.sid] = true
	}
	for _, s := range statementsOf(r.Resolve(x.Resources["PlanRole"].Properties).(map[string]any)) {
		sids[s.sid] = true
	}
	if !sids["StateRead"] || sids["StateTable"] || sids["Target"] || sids["StateKey"] {
		t.Errorf("without a table, a key and a role there are the statements %v", sids)
	}
	r.Refs["StateTable"] = "locks"
	role = r.Resolve(x.Resources["StatePlanRole"].Properties).(map[string]any)
	table := Call{Action: "dynamodb:DeleteItem", Resource: "arn:aws:dynamodb:r:1:table/locks", Context: map[string][]string{"dynamodb:LeadingKeys": {"states/net/terraform.tfstate"}}}
	digest := table
	digest.Context = map[string][]string{"dynamodb:LeadingKeys": {"states/net/terraform.tfstate-md5"}}
	if s := statementsOf(role); !allowed(s, table) || allowed(s, digest) {
		t.Error("the plan function may delete locks, and no digest")
	}
}

// TestStateRoles holds what roles may do to states, whatever a session's policy says: the
// functions nothing, the plan function no more than reading and unlocking.
func TestStateRoles(t *testing.T) {
	x := ReadTemplate(t, "../../../../template.yaml")
	r := Resolver{x, map[string]string{
		"AWS::Region": "r", "AWS::AccountId": "1", "AWS::Partition": "aws", "AWS::StackName": "lockstep", "AWS::StackId": "stack", "StateTable": "locks", "StateKeyArn": "arn:state-key", "Apps": "", "PermissionsBoundaryArn": "", "SubnetIds": "", "SecurityGroupIds": "", "EncryptionKeyArn": "arn:encryption-key",
		"PlanTargetRoleArn": "arn:plan-target", "PlanRolePattern": "", "CalledFunctions": "lockstep-call-*", "CalledTopics": "lockstep-call-*", "BuildImages": "lockstep-build-*", "SigningKeys": "lockstep-call/*", "StateRolePattern": "", "ApplyRolePattern": "", "ApplyTargetRoleArn": "arn:apply-target", "StateBucket": "states", "CollectorSecretArn": "", "PageSecretArn": "", "AppKeySecretArn": "arn:app-key", "WebhookSecretArn": "arn:hook",
	}, map[string]string{}}
	for name := range x.Resources {
		r.Atts[name+".Arn"], r.Refs[name] = "arn:"+name, "ref-"+name
	}
	const object, table, lock = "arn:aws:s3:::states/net", "arn:aws:dynamodb:r:1:table/locks", "states/net"
	can := map[string][]string{
		"StatePlanRole":  {"s3:GetObject", "s3:ListBucket", "s3:DeleteObject.tflock", "s3:GetObject.tflock", "dynamodb:GetItem", "dynamodb:DeleteItem", "dynamodb:GetItem-md5"},
		"StateApplyRole": {"s3:GetObject", "s3:ListBucket", "s3:PutObject", "s3:PutObject.tflock", "s3:DeleteObject.tflock", "s3:GetObject.tflock", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:GetItem-md5", "dynamodb:PutItem-md5", "dynamodb:DeleteItem-md5"},
	}
	for name, resource := range x.Resources {
		if resource.Type != "AWS::IAM::Role" {
			continue
		}
		statements := statementsOf(r.Resolve(resource.Properties).(map[string]any))
		may := func(what string, c Call) {
			if got := allowed(statements, c); got != slices.Contains(can[name], what) {
				t.Errorf("%s, %s: %v", name, what, got)
			}
		}
		may("s3:ListBucket", Call{Action: "s3:ListBucket", Resource: "arn:aws:s3:::states"})
		for _, action := range []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutObjectAcl", "s3:GetObjectVersion"} {
			for _, suffix := range []string{"", ".tflock"} {
				may(action+suffix, Call{Action: action, Resource: object + suffix})
			}
			if allowed(statements, Call{Action: action, Resource: "arn:aws:s3:::others/net"}) {
				t.Errorf("%s may %s in another bucket", name, action)
			}
		}
		for _, action := range []string{"GetItem", "PutItem", "DeleteItem", "UpdateItem", "Scan", "Query"} {
			for _, suffix := range []string{"", "-md5"} {
				may("dynamodb:"+action+suffix, Call{Action: "dynamodb:" + action, Resource: table, Context: map[string][]string{"dynamodb:LeadingKeys": {lock + suffix}}})
			}
		}
	}
}

// TestKeyPolicy holds that what a comment names is read by those whom the account lets,
// through S3 only, and written by the functions only.
func TestKeyPolicy(t *testing.T) {
	x := ReadTemplate(t, "../../../../template.yaml")
	r := Resolver{x, map[string]string{"AWS::Region": "r", "AWS::AccountId": AccountID, "AWS::Partition": "aws", "PageSecretArn": ""}, map[string]string{}}
	for name := range x.Resources {
		r.Atts[name+".Arn"] = "arn:aws:iam::" + AccountID + ":role/" + name
	}
	policy := StatementsIn(r.Resolve(x.Resources["Key"].Properties["KeyPolicy"]).(map[string]any))
	key := []Statement{{actions: []string{"kms:*"}, resources: []string{"*"}}}
	through := map[string][]string{"kms:ViaService": {"s3.r.amazonaws.com"}, "kms:EncryptionContext:repository": {"acme/infra"}}
	for name, test := range map[string]struct {
		who     string
		own     []Statement
		action  string
		context map[string][]string
		want    bool
	}{
		"a person with the right reads":       {"arn:aws:iam::" + AccountID + ":user/alice", key, "kms:Decrypt", through, true},
		"a person without it does not":        {"arn:aws:iam::" + AccountID + ":user/alice", nil, "kms:Decrypt", through, false},
		"nobody writes":                       {"arn:aws:iam::" + AccountID + ":user/alice", key, "kms:GenerateDataKey", through, false},
		"nobody decrypts elsewhere":           {"arn:aws:iam::" + AccountID + ":user/alice", key, "kms:Decrypt", map[string][]string{"kms:EncryptionContext:repository": {"acme/infra"}}, false},
		"nor by another service":              {"arn:aws:iam::" + AccountID + ":user/alice", key, "kms:Decrypt", map[string][]string{"kms:ViaService": {"ebs.r.amazonaws.com"}, "kms:EncryptionContext:repository": {"acme/infra"}}, false},
		"nor what does not say whose it is":   {"arn:aws:iam::" + AccountID + ":user/alice", key, "kms:Decrypt", map[string][]string{"kms:ViaService": {"s3.r.amazonaws.com"}}, false},
		"a function reads":                    {"arn:aws:iam::" + AccountID + ":role/PlanRole", key, "kms:Decrypt", through, true},
		"a function writes":                   {"arn:aws:iam::" + AccountID + ":role/ApplyRole", key, "kms:GenerateDataKey", through, true},
		"a function whose role does not say":  {"arn:aws:iam::" + AccountID + ":role/PlanRole", nil, "kms:Decrypt", through, false},
		"the webhook's function does not":     {"arn:aws:iam::" + AccountID + ":role/WebhookRole", key, "kms:GenerateDataKey", through, false},
		"a person with the right administers": {"arn:aws:iam::" + AccountID + ":user/alice", key, "kms:ScheduleKeyDeletion", nil, true},
	} {
		if got := (Rights{Who: test.who, Own: test.own}).May(policy, Call{Action: test.action, Resource: "arn:aws:iam::" + AccountID + ":role/Key", Context: test.context}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// statementsOf reads the policies of a role, as they are when the stack is deployed.
func statementsOf(role map[string]any) []Statement {
	var out []Statement
	for _, p := range role["Policies"].([]any) {
		document := p.(map[string]any)["PolicyDocument"].(map[string]any)
		out = append(out, StatementsIn(document)...)
	}
	return out
}
