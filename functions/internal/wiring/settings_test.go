package wiring

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// environment is what template.yaml makes of a stack.
var environment = map[string]string{
	"LOCKSTEP_TABLE": "records", "LOCKSTEP_BUCKET": "artifacts", "LOCKSTEP_AUDIT": "audit", "LOCKSTEP_KEY": "arn:aws:kms:eu-central-1:1:key/k",
	"LOCKSTEP_EVENTS_QUEUE": "https://sqs/1/events.fifo", "LOCKSTEP_PLANS_QUEUE": "https://sqs/1/plans.fifo", "LOCKSTEP_APPLIES_QUEUE": "https://sqs/1/applies.fifo",
	"LOCKSTEP_APP_ID": "4711", "LOCKSTEP_APP_KEY_SECRET": "arn:aws:secretsmanager:eu-central-1:1:secret:key",
	"LOCKSTEP_WEBHOOK_SECRET": "arn:aws:secretsmanager:eu-central-1:1:secret:hook", "LOCKSTEP_GITHUB_URL": "https://github.example/api/v3/",
	"LOCKSTEP_STATE_ROLE": "arn:aws:iam::1:role/states", "LOCKSTEP_STATE_EXTERNAL_ID": "stack", "LOCKSTEP_STATES": "s3://states/{owner}/{name}/**",
	"LOCKSTEP_TARGET_ROLE": "arn:aws:iam::2:role/target", "LOCKSTEP_EXTERNAL_ID": "x", "LOCKSTEP_STOP_BEFORE": "90s", "LOCKSTEP_MAX_PLANS": "10", "LOCKSTEP_SERVES": "acme,bob/infra", "LOCKSTEP_DEPLOYMENT": "ou-a",
	"LOCKSTEP_APPS": "ghes 12 https://github.acme.example/api/v3/ acme", "LOCKSTEP_APPS_SECRETS": "lockstep/apps/",
}

func read(f Function, change map[string]string) (Settings, error) {
	return readSettings(f, func(name string) string {
		if v, ok := change[name]; ok {
			return v
		}
		return environment[name]
	})
}

func TestRead(t *testing.T) {
	serves, err := intake.ParseServes("acme bob/infra")
	if err != nil {
		t.Fatal(err)
	}
	apps := applist.List{{Name: "ghes", ID: 12, URL: "https://github.acme.example/api/v3/", Serves: "acme"}}
	same := cmp.Comparer(func(a, b intake.Serves) bool { return reflect.DeepEqual(a, b) })
	for f, want := range map[Function]Settings{
		Webhook: {Table: "records", Serves: serves, Events: "https://sqs/1/events.fifo", WebhookSecret: environment["LOCKSTEP_WEBHOOK_SECRET"], Apps: apps, AppsSecrets: "lockstep/apps/"},
		Apply: {
			Table: "records", Bucket: "artifacts", Audit: "audit", Key: environment["LOCKSTEP_KEY"], Events: "https://sqs/1/events.fifo",
			Serves: serves, Deployment: "ou-a", AppID: 4711, AppKeySecret: environment["LOCKSTEP_APP_KEY_SECRET"], GitHubURL: "https://github.example/api/v3/",
			StateRole: "arn:aws:iam::1:role/states", StateExternalID: "stack", OwnStates: places.Own{"s3://states/{owner}/{name}/**"},
			TargetRole: "arn:aws:iam::2:role/target", ExternalID: "x", StopBefore: 90 * time.Second,
			Apps: apps, AppsSecrets: "lockstep/apps/",
		},
	} {
		got, err := read(f, nil)
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(want, got, same); d != "" {
			t.Errorf("%s: %s", f, d)
		}
	}
	got, err := read(Apply, map[string]string{"LOCKSTEP_STOP_BEFORE": "", "LOCKSTEP_TARGET_ROLE": "", "LOCKSTEP_GITHUB_URL": " "})
	if err != nil || got.StopBefore != pipeline.DefaultStopBefore || got.TargetRole != "" || got.GitHubURL != "" {
		t.Errorf("what may be left out: %+v, %v", got, err)
	}
}

func TestReadMistakes(t *testing.T) {
	const secret = "-----BEGIN RSA PRIVATE KEY-----"
	_, err := read(Apply, map[string]string{
		"LOCKSTEP_TABLE": "", "LOCKSTEP_EVENTS_QUEUE": "https://sqs/1/events", "LOCKSTEP_APP_ID": "lockstep",
		"LOCKSTEP_APP_KEY_SECRET": secret, "LOCKSTEP_STOP_BEFORE": "2", "LOCKSTEP_STATES": "s3://states/**", "LOCKSTEP_SERVES": "*", "LOCKSTEP_APPS": "ghes",
	})
	if err == nil {
		t.Fatal("all is well")
	}
	for _, want := range []string{
		"LOCKSTEP_TABLE is not set", `LOCKSTEP_EVENTS_QUEUE: "https://sqs/1/events" is not the URL of a FIFO queue`,
		`LOCKSTEP_APP_ID: "lockstep" is not the ID`, "LOCKSTEP_APP_KEY_SECRET: it is not the ARN of a secret", `LOCKSTEP_STOP_BEFORE: "2" is not a time`, `LOCKSTEP_SERVES: "*": an owner`, `LOCKSTEP_APPS: "ghes": an App is NAME ID URL OWNERS`,
		`LOCKSTEP_STATES: the pattern "s3://states/**" is the same for all repositories`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the secret is in: %v", err)
	}
}
