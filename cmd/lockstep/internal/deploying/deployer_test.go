package deploying

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
	"github.com/lockstep-iac/lockstep/infra/awstest"
)

// A question is a request of the person who deploys, for the simulator.
type question struct {
	Who      string         `json:"who"`
	Own      []string       `json:"own"`
	Resource []string       `json:"resource,omitempty"`
	Action   string         `json:"action"`
	On       string         `json:"on"`
	Context  map[string]any `json:"context"`
}

// asDeployer asks for something with the rights of infra/deployer.json; via is what CloudFormation adds to its
// requests in somebody's name.
func asDeployer(action, on string, context ...map[string]any) question {
	q := question{Who: "arn:aws:iam::" + awstest.ID + ":role/deployer", Own: []string{"deployer"}, Action: action, On: on, Context: map[string]any{"aws:PrincipalAccount": awstest.ID}}
	for _, c := range context {
		maps.Copy(q.Context, c)
	}
	if strings.HasPrefix(action, "kms:") && strings.Contains(on, ":key/") {
		q.Resource = []string{"key"}
	}
	return q
}

var via = map[string]any{"aws:CalledVia": []string{"cloudformation.amazonaws.com"}}

// An answer is the simulator's: By are the statements that match, "deployer N".
type answer struct {
	Allowed bool
	By      []string
}

// simulate asks a simulator of IAM that others keep.
func simulate(t *testing.T, questions []question) []answer {
	t.Helper()
	var answers []answer
	templates.Ask(t, map[string]any{"judge": map[string]any{"requests": questions, "policies": map[string]any{
		"deployer": deployer(t),
		"key": map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{ // which leaves it to the account
			"Effect": "Allow", "Principal": map[string]any{"AWS": "arn:aws:iam::" + awstest.ID + ":root"}, "Action": "kms:*", "Resource": "*",
		}}},
	}}}, &answers)
	return answers
}

// deployer is the policy.
func deployer(t *testing.T) (p struct {
	Version   string
	Statement []map[string]any
}) {
	t.Helper()
	data, err := os.ReadFile("../../../../infra/deployer.json")
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// deployments are the requests of a first deployment, one that fails, updates, another App, and the doctor.
func deployments(t *testing.T) []awstest.Request {
	t.Helper()
	s := newStage(t)
	s.account.FailAt("Events", "lockstep-events.fifo already exists")
	plan := s.account.AddRole("plan-target", `{"Principal":{"AWS":"arn:aws:iam::111122223333:role/plan"}}`)
	s.want(s.run("", s.options("-parameter=PlanTargetRoleArn="+plan, "-tag=team=infra")...), 1)
	s.want(s.run("", s.options("-parameter=PlanTargetRoleArn="+plan, "-tag=team=infra")...), 0, "Lockstep is deployed")
	s.want(s.run(""), 0, "is up to date")
	s.write("plan.zip", "the next version's code of plan")
	s.want(s.run("", "-auto-approve"), 0, "Lockstep is deployed")
	s.hub.AddRepository("acme", "infra", nil)
	hub, site := s.server("lockstep-labs")
	s.others = append(s.others, hub)
	s.want(s.run("", "-app=ghes", "-github="+site, "-organization=labs", "-serves=labs", "-tag=team=infra", "-auto-approve"), 0, "the stack lockstep has the App ghes")
	hub.AddRepository("labs", "infra", nil)
	s.want(s.examine(), 0)
	out := s.account.Requests()
	slices.SortFunc(out, func(a, b awstest.Request) int { return strings.Compare(a.Action+a.Resource, b.Action+b.Resource) })
	return slices.Compact(out)
}

// byCloudFormation are requests that CloudFormation makes in the name of the person for the resources of
// template.yaml, by type, with an ARN of each.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-iam-template.html
var byCloudFormation = map[string]struct {
	on      string
	actions []string
}{
	"AWS::Serverless::Function":       {"arn:aws:lambda:eu-central-1:111122223333:function:lockstep-plan", []string{"lambda:CreateFunction", "lambda:UpdateFunctionCode", "lambda:PutFunctionConcurrency", "lambda:DeleteFunction"}},
	"AWS::Lambda::Url":                {"arn:aws:lambda:eu-central-1:111122223333:function:lockstep-webhook", []string{"lambda:CreateFunctionUrlConfig"}},
	"AWS::Lambda::Permission":         {"arn:aws:lambda:eu-central-1:111122223333:function:lockstep-webhook", []string{"lambda:AddPermission"}},
	"AWS::Lambda::EventSourceMapping": {"*", []string{"lambda:CreateEventSourceMapping"}},
	"AWS::CodeBuild::Project":         {"arn:aws:codebuild:eu-central-1:111122223333:project/lockstep-apply", []string{"codebuild:CreateProject", "codebuild:UpdateProject", "codebuild:DeleteProject"}},
	"AWS::Logs::LogGroup":             {"arn:aws:logs:eu-central-1:111122223333:log-group:/aws/lambda/lockstep-plan", []string{"logs:CreateLogGroup", "logs:PutRetentionPolicy"}},
	"AWS::SQS::Queue":                 {"arn:aws:sqs:eu-central-1:111122223333:lockstep-events.fifo", []string{"sqs:CreateQueue", "sqs:SetQueueAttributes"}},
	"AWS::SQS::QueuePolicy":           {"arn:aws:sqs:eu-central-1:111122223333:lockstep-events.fifo", []string{"sqs:SetQueueAttributes"}},
	"AWS::Scheduler::Schedule":        {"arn:aws:scheduler:eu-central-1:111122223333:schedule/default/lockstep-JanitorTimer-1A2B", []string{"scheduler:CreateSchedule"}},
	"AWS::DynamoDB::Table":            {"arn:aws:dynamodb:eu-central-1:111122223333:table/lockstep-Records-1A2B", []string{"dynamodb:CreateTable", "dynamodb:UpdateTimeToLive", "dynamodb:UpdateContinuousBackups"}},
	"AWS::S3::Bucket":                 {"arn:aws:s3:::lockstep-artifacts-1a2b", []string{"s3:CreateBucket", "s3:PutBucketVersioning", "s3:PutEncryptionConfiguration", "s3:PutLifecycleConfiguration"}},
	"AWS::S3::BucketPolicy":           {"arn:aws:s3:::lockstep-artifacts-1a2b", []string{"s3:PutBucketPolicy"}},
	"AWS::KMS::Key":                   {"arn:aws:kms:eu-central-1:111122223333:key/1a2b", []string{"kms:PutKeyPolicy", "kms:EnableKeyRotation"}},
	"AWS::KMS::Alias":                 {"arn:aws:kms:eu-central-1:111122223333:alias/lockstep", []string{"kms:CreateAlias"}},
	"AWS::IAM::Role":                  {"arn:aws:iam::111122223333:role/lockstep-PlanRole-1A2B", []string{"iam:CreateRole", "iam:PutRolePolicy", "iam:DeleteRole"}},
	"AWS::IAM::RolePolicy":            {"arn:aws:iam::111122223333:role/lockstep-PlanRole-1A2B", []string{"iam:PutRolePolicy", "iam:GetRolePolicy"}},
	"AWS::CloudWatch::Alarm":          {"arn:aws:cloudwatch:eu-central-1:111122223333:alarm:lockstep-JanitorAlarm-1A2B", []string{"cloudwatch:PutMetricAlarm"}},
	"AWS::CloudWatch::Dashboard":      {"arn:aws:cloudwatch::111122223333:dashboard/lockstep-metrics", []string{"cloudwatch:PutDashboard", "cloudwatch:GetDashboard", "cloudwatch:DeleteDashboards"}},
}

// TestDeployer holds that infra/deployer.json allows each request of deployments, and what CloudFormation does
// for them; that each of its statements is needed; and that it allows little else.
func TestDeployer(t *testing.T) {
	t.Parallel()
	var questions []question
	for _, r := range deployments(t) {
		if r.Action != "sts:GetCallerIdentity" { // which everybody may
			questions = append(questions, asDeployer(r.Action, r.Resource))
		}
	}
	template, err := os.ReadFile("../../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range strings.FieldsFunc(string(template), func(r rune) bool { return r == '\n' }) {
		kind, ok := strings.CutPrefix(kind, "    Type: AWS::")
		if x := byCloudFormation["AWS::"+kind]; ok && x.actions == nil {
			t.Errorf("there is no request for resources of the type AWS::%s", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(byCloudFormation)) {
		x := byCloudFormation[kind]
		for _, action := range x.actions {
			questions = append(questions, asDeployer(action, x.on, via))
		}
	}
	role := "arn:aws:iam::111122223333:role/lockstep-PlanRole-1A2B"
	network := map[string]any{"iam:PolicyARN": "arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"}
	questions = append(questions,
		asDeployer("iam:AttachRolePolicy", role, via, network),
		asDeployer("ec2:DescribeSubnets", "*", via),
		asDeployer("iam:PassRole", role, via, map[string]any{"iam:PassedToService": "codebuild.amazonaws.com"}),
		asDeployer("iam:PassRole", role, via, map[string]any{"iam:PassedToService": "lambda.amazonaws.com"}))
	used := map[string]bool{}
	for i, a := range simulate(t, questions) {
		if !a.Allowed {
			t.Errorf("%s on %s is denied", questions[i].Action, questions[i].On)
		}
		for _, by := range a.By {
			used[by] = true
		}
	}
	for i, s := range deployer(t).Statement {
		// The simulator's list of resources lacks transforms, which a change set of a template with one needs.
		// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/control-access-with-iam.html
		if s["Sid"] != "Transform" && !used[fmt.Sprint("deployer ", i)] {
			t.Errorf("no request needs the statement %v", s["Sid"])
		}
	}
	denied := []question{
		asDeployer("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:eu-central-1:111122223333:secret:other-AbCdEf"),
		asDeployer("secretsmanager:DeleteSecret", "arn:aws:secretsmanager:eu-central-1:111122223333:secret:lockstep/webhook-secret-AbCdEf"),
		asDeployer("s3:GetObject", "arn:aws:s3:::lockstep-artifacts-1a2b/5/7/net@default/1/plan"),
		asDeployer("s3:GetObject", "arn:aws:s3:::acme-states/net/terraform.tfstate"),
		asDeployer("s3:GetObject", "arn:aws:s3:::acme-states/net/terraform.tfstate", via),
		asDeployer("s3:PutObject", "arn:aws:s3:::lockstep-999999999999-eu-central-1/lockstep/a/plan.zip"),
		asDeployer("cloudformation:DeleteStack", "arn:aws:cloudformation:eu-central-1:111122223333:stack/other/1"),
		asDeployer("lambda:UpdateFunctionCode", "arn:aws:lambda:eu-central-1:111122223333:function:lockstep-apply"),
		asDeployer("lambda:UpdateFunctionCode", "arn:aws:lambda:eu-central-1:111122223333:function:other", via),
		asDeployer("codebuild:StartBuild", "arn:aws:codebuild:eu-central-1:111122223333:project/lockstep-apply"),
		asDeployer("codebuild:UpdateProject", "arn:aws:codebuild:eu-central-1:111122223333:project/other", via),
		asDeployer("sqs:SendMessage", "arn:aws:sqs:eu-central-1:111122223333:lockstep-applies.fifo"),
		asDeployer("dynamodb:PutItem", "arn:aws:dynamodb:eu-central-1:111122223333:table/lockstep-Records-1A2B"),
		asDeployer("kms:Decrypt", "arn:aws:kms:eu-central-1:111122223333:key/1a2b"),
		asDeployer("kms:ScheduleKeyDeletion", "arn:aws:kms:eu-central-1:111122223333:key/1a2b", via),
		asDeployer("iam:PutRolePolicy", role),
		asDeployer("iam:AttachRolePolicy", role, via, map[string]any{"iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess"}),
		asDeployer("iam:CreateRole", "arn:aws:iam::111122223333:role/admin", via),
		asDeployer("iam:PassRole", "arn:aws:iam::111122223333:role/admin", via, map[string]any{"iam:PassedToService": "lambda.amazonaws.com"}),
		asDeployer("iam:PassRole", role, via, map[string]any{"iam:PassedToService": "ec2.amazonaws.com"}),
		asDeployer("iam:CreateUser", "arn:aws:iam::111122223333:user/lockstep-a", via),
		asDeployer("sts:AssumeRole", role),
	}
	for i, a := range simulate(t, denied) {
		if a.Allowed {
			t.Errorf("%s on %s is allowed, by %q", denied[i].Action, denied[i].On, a.By)
		}
	}
}
