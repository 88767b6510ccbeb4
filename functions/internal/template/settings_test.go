package template

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// TestNothingIsOpen holds that template.yaml's settings let in nobody, either.
func TestNothingIsOpen(t *testing.T) {
	for _, open := range Open(templates.ReadTemplate(t, file)) {
		t.Error(open)
	}
}

// TestOpen loosens each setting.
func TestOpen(t *testing.T) {
	for name, test := range map[string]struct{ old, new, want string }{
		"public lists":           {"BlockPublicAcls: true", "BlockPublicAcls: false", "Artifacts: PublicAccessBlockConfiguration.BlockPublicAcls is false"},
		"public policies":        {"        BlockPublicPolicy: true\n", "", "BlockPublicPolicy is <nil>"},
		"public lists, ignored":  {"        IgnorePublicAcls: true\n", "", "IgnorePublicAcls is <nil>"},
		"a public bucket":        {"RestrictPublicBuckets: true", "RestrictPublicBuckets: false", "RestrictPublicBuckets is false"},
		"no versions":            {"VersioningConfiguration: { Status: Enabled }", "VersioningConfiguration: { Status: Suspended }", "VersioningConfiguration.Status is Suspended"},
		"others' objects":        {"ObjectOwnership: BucketOwnerEnforced", "ObjectOwnership: ObjectWriter", "ObjectOwnership is ObjectWriter"},
		"S3's own key":           {"SSEAlgorithm: aws:kms", "SSEAlgorithm: AES256", "SSEAlgorithm is AES256"},
		"another key":            {"KMSMasterKeyID: !GetAtt Key.Arn", "KMSMasterKeyID: alias/aws/s3", "KMSMasterKeyID is alias/aws/s3"},
		"one context for all":    {"BucketKeyEnabled: false", "BucketKeyEnabled: true", "BucketKeyEnabled is true"},
		"records in clear":       {"SSESpecification: { SSEEnabled: true }", "SSESpecification: { SSEEnabled: false }", "Records: SSESpecification.SSEEnabled is false"},
		"records of now only":    {"PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false", "PointInTimeRecoveryEnabled is false"},
		"messages in clear":      {"SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false", "SqsManagedSseEnabled is false"},
		"a key for ever":         {"EnableKeyRotation: true", "EnableKeyRotation: false", "Key: EnableKeyRotation is false"},
		"logs for ever":          {"      RetentionInDays: !Ref LogDays\n", "", "RetentionInDays is <nil>"},
		"a role without bounds":  {"  TimerRole:\n    Type: AWS::IAM::Role\n    Properties:\n      PermissionsBoundary: !If [HasBoundary, !Ref PermissionsBoundaryArn, !Ref AWS::NoValue]\n", "  TimerRole:\n    Type: AWS::IAM::Role\n    Properties:\n", "TimerRole: PermissionsBoundary is <nil>"},
		"a managed policy":       {"  PlanRole:\n    Type: AWS::IAM::Role\n    Properties:\n      PermissionsBoundary: !If [HasBoundary, !Ref PermissionsBoundaryArn, !Ref AWS::NoValue]\n      ManagedPolicyArns: !If [HasNetwork, [!Sub \"arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole\"], !Ref AWS::NoValue]\n", "  PlanRole:\n    Type: AWS::IAM::Role\n    Properties:\n      PermissionsBoundary: !If [HasBoundary, !Ref PermissionsBoundaryArn, !Ref AWS::NoValue]\n      ManagedPolicyArns: [arn:aws:iam::aws:policy/ReadOnlyAccess]\n", "PlanRole: ManagedPolicyArns is [arn:aws:iam::aws:policy/ReadOnlyAccess], and must be"},
		"the network for all":    {"  TimerRole:\n    Type: AWS::IAM::Role\n    Properties:\n", "  TimerRole:\n    Type: AWS::IAM::Role\n    Properties:\n      ManagedPolicyArns: [arn:aws:iam::aws:policy/AdministratorAccess]\n", "TimerRole: ManagedPolicyArns is [arn:aws:iam::aws:policy/AdministratorAccess], and must be"},
		"SAM's policies":         {"CodeUri: dist/plan.zip\n", "CodeUri: dist/plan.zip\n      Policies: AdministratorAccess\n", "PlanFunction: Policies is not among"},
		"another address":        {"CodeUri: dist/plan.zip\n", "CodeUri: dist/plan.zip\n      FunctionUrlConfig: { AuthType: NONE }\n", "PlanFunction: FunctionUrlConfig is not among"},
		"addresses from pages":   {"GetAtt WebhookFunction.Arn\n      AuthType: NONE\n", "GetAtt WebhookFunction.Arn\n      AuthType: NONE\n      Cors: { AllowOrigins: [\"*\"] }\n", "WebhookUrl: Cors is not among"},
		"a key of other regions": {"EnableKeyRotation: true", "EnableKeyRotation: true\n      MultiRegion: true", "Key: MultiRegion is not among"},
		"a flood of webhooks":    {"      ReservedConcurrentExecutions: !If [ReservesWebhook, !Ref WebhookConcurrency, !Ref AWS::NoValue]\n", "", "WebhookFunction: it can take all invocations"},
		"a flood of events":      {"      ScalingConfig: { MaximumConcurrency: !Ref MaxPlans }\n", "", "PlanEvents: it can take all invocations"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(Open(changed(t, test.old, test.new)), "\n"); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}

// TestConcurrency holds that what is reserved is enough for the queues, and leaves an
// account of the usual size what Lambda wants unreserved.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
func TestConcurrency(t *testing.T) {
	x := templates.ReadTemplate(t, file)
	given := func(name string) int {
		n, ok := x.Parameters[name].Default.(int)
		if !ok {
			t.Fatalf("%s has the default %v", name, x.Parameters[name].Default)
		}
		return n
	}
	needed := map[string]int{"Webhook": 1, "Janitor": 1} // its round
	for name, r := range x.Resources {
		if r.Type != "AWS::Lambda::EventSourceMapping" {
			continue
		}
		most := r.Properties["ScalingConfig"].(map[string]any)["MaximumConcurrency"]
		if ref, ok := most.(map[string]any); ok {
			most = given(ref["Ref"].(string))
		}
		function := strings.TrimSuffix(r.Properties["FunctionName"].(map[string]any)["Ref"].(string), "Function")
		needed[function] += most.(int)
		if most.(int) < 2 {
			t.Errorf("%s: Lambda takes no maximum below 2", name)
		}
	}
	sum := 0
	for function, n := range needed {
		got := given(function + "Concurrency")
		if sum += got; got < n {
			t.Errorf("%d invocations are reserved for %s, whose queues take %d", got, function, n)
		}
	}
	if len(needed) != 4 || sum > 1000-100 {
		t.Errorf("%d invocations are reserved for %d functions", sum, len(needed))
	}
}

// TestAlarms holds that the description of each alarm ends with the address of its section in the documentation, which there is.
func TestAlarms(t *testing.T) {
	const page = "cmd/docs/operate/alarms.md"
	text, err := os.ReadFile("../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, r := range templates.ReadTemplate(t, file).Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		seen++
		about, _ := r.Properties["AlarmDescription"].(string)
		if end := " What to do: https://github.com/lockstep-iac/lockstep/blob/main/" + page + "#" + strings.ToLower(name); !strings.HasSuffix(about, end) {
			t.Errorf("%s: the description %q does not end with %q", name, about, end)
		}
		if !strings.Contains(string(text), "\n## "+name+"\n") {
			t.Errorf("%s has no section of %s", page, name)
		}
	}
	if sections := strings.Count(string(text), "\n## "); seen == 0 || sections != seen {
		t.Errorf("there are %d alarms, and %d sections", seen, sections)
	}
}

// TestSchedules holds which schedules the parameter of the janitor takes: those of EventBridge Scheduler that repeat.
// Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
func TestSchedules(t *testing.T) {
	pattern := regexp.MustCompile("^(?:" + templates.ReadTemplate(t, file).Parameters["JanitorSchedule"].AllowedPattern + ")$")
	for schedule, want := range map[string]bool{
		"rate(10 minutes)": true, "rate(1 minute)": true, "rate(1 hour)": true, "rate(2 days)": true, "cron(0/10 * * * ? *)": true, "cron(0 8-18 ? * MON-FRI 2027)": true,
		"rate(0 minutes)": false, "rate(10)": false, "rate(10 seconds)": false, "rate(-5 minutes)": false, "10 minutes": false, "cron(* * *)": false, "cron(0/10 * * * ? * *)": false, "at(2027-01-01T00:00:00)": false, "rate(10 minutes) ": false, "": false,
	} {
		if got := pattern.MatchString(schedule); got != want {
			t.Errorf("%q: %v", schedule, got)
		}
	}
}
