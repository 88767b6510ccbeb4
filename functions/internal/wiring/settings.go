package wiring

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// A Function is the name of a Lambda function of the pipeline, which is also the name of its directory.
type Function string

const (
	Webhook Function = "webhook"
	Plan    Function = "plan"
	Apply   Function = "apply"
	Janitor Function = "janitor"
	Web     Function = "web"
)

// functions are all Lambda functions of the pipeline.
var functions = []Function{Webhook, Plan, Apply, Janitor, Web}

// Settings are the values of a function's environment variables. A field is zero if the function does not read
// its variable.
type Settings struct {
	Table, Bucket, Key     string // the table of records, the bucket of artifacts and its KMS key
	Events, Plans, Applies string // the URLs of queues
	AppID                  int64
	AppKeySecret           string // the ARN of a secret
	WebhookSecret          string // the same
	GitHubURL              string
	// PageSecret is the ARN of the page's secret. PageURL is the address of the page, without a slash at the end. It is ""
	// if there is no page. In the web function, it is also "" if the page is at the function's own address.
	PageSecret, PageURL string
	// Apps are the additional Apps, without the first one. AppsSecrets is the prefix of the names of their
	// secrets.
	Apps        applist.List
	AppsSecrets string
	// Metrics is the name of the deployment in metrics; "" for no metrics.
	Metrics string
	// CollectorSecret is the ARN of a secret with the settings of a collector of OpenTelemetry; "" for none.
	CollectorSecret string
	// Serves are the owners and repositories for which Lockstep works.
	Serves intake.Serves
	// Deployment is the name of this deployment; "" if it has none.
	Deployment string
	// TargetRole is the ARN of the role whose credentials providers get, and ExternalID its external ID. Both
	// are "" if there is none.
	TargetRole, ExternalID string
	// StateRole is the ARN of the role with access to states, and StateExternalID its external ID.
	StateRole, StateExternalID string
	// OwnStates are patterns of addresses in S3. At such an address, every repository may store its own states.
	OwnStates places.Own
	// Mirror is a directory with provider packages. If it is set, packages are installed only from there; ""
	// means from their registries.
	Mirror string
	// Toolbox is the bucket with the tools of steps; "" if no steps can run.
	Toolbox string
	// Audit is the bucket with the audit records.
	Audit string
	// Builds is the name of the CodeBuild project that runs long applies; "" if there is none.
	Builds string
	// MaxPlans is the maximum number of plans at the same time. A single repository may use all of them, as
	// long as no other repository has plans to make.
	MaxPlans int
	// StopBefore is how long before its time limit an apply stops beginning changes.
	StopBefore time.Duration
}

// A variable is an environment variable that some functions read.
type variable struct {
	name     string
	of       []Function // the functions that read it
	optional bool       // may be empty
	read     func(*Settings, string) error
}

var (
	all      = functions
	handlers = []Function{Webhook, Plan, Apply, Janitor} // of messages
	inGitHub = []Function{Plan, Apply, Janitor}
	engines  = []Function{Plan, Apply}
)

var variables = []variable{
	{"LOCKSTEP_TABLE", all, false, text(func(s *Settings) *string { return &s.Table })},
	{"LOCKSTEP_SERVES", all, true, serves},
	{"LOCKSTEP_DEPLOYMENT", inGitHub, true, text(func(s *Settings) *string { return &s.Deployment })},
	{"LOCKSTEP_BUCKET", []Function{Plan, Apply, Janitor, Web}, false, text(func(s *Settings) *string { return &s.Bucket })},
	{"LOCKSTEP_KEY", inGitHub, false, text(func(s *Settings) *string { return &s.Key })},
	{"LOCKSTEP_EVENTS_QUEUE", handlers, false, queue(func(s *Settings) *string { return &s.Events })},
	{"LOCKSTEP_PLANS_QUEUE", []Function{Plan}, false, queue(func(s *Settings) *string { return &s.Plans })},
	{"LOCKSTEP_APPLIES_QUEUE", []Function{Plan}, false, queue(func(s *Settings) *string { return &s.Applies })},
	{"LOCKSTEP_APP_ID", inGitHub, false, appID},
	{"LOCKSTEP_APP_KEY_SECRET", inGitHub, false, secretARN(func(s *Settings) *string { return &s.AppKeySecret })},
	{"LOCKSTEP_WEBHOOK_SECRET", []Function{Webhook}, false, secretARN(func(s *Settings) *string { return &s.WebhookSecret })},
	{"LOCKSTEP_GITHUB_URL", []Function{Plan, Apply, Janitor, Web}, true, text(func(s *Settings) *string { return &s.GitHubURL })},
	{"LOCKSTEP_APPS", handlers, true, apps},
	{"LOCKSTEP_APPS_SECRETS", handlers, false, text(func(s *Settings) *string { return &s.AppsSecrets })},
	{"LOCKSTEP_TARGET_ROLE", engines, true, text(func(s *Settings) *string { return &s.TargetRole })},
	{"LOCKSTEP_EXTERNAL_ID", engines, true, text(func(s *Settings) *string { return &s.ExternalID })},
	{"LOCKSTEP_STATE_ROLE", engines, false, text(func(s *Settings) *string { return &s.StateRole })},
	{"LOCKSTEP_STATE_EXTERNAL_ID", engines, false, text(func(s *Settings) *string { return &s.StateExternalID })},
	{"LOCKSTEP_STATES", engines, true, ownStates},
	{"LOCKSTEP_MIRROR", engines, true, text(func(s *Settings) *string { return &s.Mirror })},
	{"LOCKSTEP_TOOLBOX", engines, true, text(func(s *Settings) *string { return &s.Toolbox })},
	{"LOCKSTEP_AUDIT", []Function{Plan, Apply, Web}, false, text(func(s *Settings) *string { return &s.Audit })},
	{"LOCKSTEP_BUILD_PROJECT", engines, true, text(func(s *Settings) *string { return &s.Builds })},
	{"LOCKSTEP_PAGE_SECRET", []Function{Web}, false, secretARN(func(s *Settings) *string { return &s.PageSecret })},
	{"LOCKSTEP_PAGE_URL", []Function{Plan, Apply, Janitor, Web}, true, pageURL},
	{"LOCKSTEP_METRICS", all, true, text(func(s *Settings) *string { return &s.Metrics })},
	{"LOCKSTEP_COLLECTOR_SECRET", inGitHub, true, secretARN(func(s *Settings) *string { return &s.CollectorSecret })},
	{"LOCKSTEP_MAX_PLANS", []Function{Plan}, false, maxPlans},
	{"LOCKSTEP_STOP_BEFORE", []Function{Apply}, true, stopBefore},
}

// variablesOf returns the names of the environment variables that a function reads.
func variablesOf(f Function) []string {
	var out []string
	for _, v := range variables {
		if slices.Contains(v.of, f) {
			out = append(out, v.name)
		}
	}
	return out
}

// readSettings reads a function's settings from environment variables. The error lists all mistakes in them.
func readSettings(f Function, getenv func(string) string) (Settings, error) {
	var s Settings
	if f == Apply {
		s.StopBefore = pipeline.DefaultStopBefore
	}
	var errs []error
	for _, v := range variables {
		if !slices.Contains(v.of, f) {
			continue
		}
		value := strings.TrimSpace(getenv(v.name))
		switch {
		case value != "":
			if err := v.read(&s, value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", v.name, err))
			}
		case !v.optional:
			errs = append(errs, fmt.Errorf("%s is not set", v.name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Settings{}, fmt.Errorf("the environment variables of the %s function differ from template.yaml: %w", f, err)
	}
	return s, nil
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, value string) error { *field(s) = value; return nil }
}

func queue(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		if u, err := url.Parse(value); err != nil || u.Host == "" || !strings.HasSuffix(u.Path, ".fifo") {
			return fmt.Errorf("%q is not the URL of a FIFO queue", value)
		}
		*field(s) = value
		return nil
	}
}

func serves(s *Settings, value string) (err error) {
	s.Serves, err = intake.ParseServes(value)
	return err
}

func apps(s *Settings, value string) (err error) {
	s.Apps, err = applist.Parse(value)
	return err
}

func appID(s *Settings, value string) (err error) {
	if s.AppID, err = strconv.ParseInt(value, 10, 64); err != nil || s.AppID <= 0 {
		return fmt.Errorf("%q is not the ID of a GitHub App", value)
	}
	return nil
}

// secretARN returns a function that parses the ARN of a secret. Its errors do not quote the value, because
// somebody may have entered the secret itself instead of the ARN.
func secretARN(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		if parts := strings.SplitN(value, ":", 6); len(parts) != 6 || parts[0] != "arn" || parts[2] != "secretsmanager" {
			return errors.New("it is not the ARN of a secret in Secrets Manager")
		}
		*field(s) = value
		return nil
	}
}

func pageURL(s *Settings, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" {
		return fmt.Errorf("%q is not the address of a server, such as https://lockstep.example.com", value)
	}
	s.PageURL = "https://" + u.Host
	return nil
}

func ownStates(s *Settings, value string) (err error) {
	s.OwnStates, err = places.ParseOwn(value)
	return err
}

func maxPlans(s *Settings, value string) (err error) {
	if s.MaxPlans, err = strconv.Atoi(value); err != nil || s.MaxPlans < 1 {
		return fmt.Errorf("%q is not a number of plans", value)
	}
	return nil
}

func stopBefore(s *Settings, value string) (err error) {
	if s.StopBefore, err = time.ParseDuration(value); err != nil || s.StopBefore < 0 || s.StopBefore > 10*time.Minute {
		return fmt.Errorf("%q is not a time such as 2m or 90s, of ten minutes at most", value)
	}
	return nil
}
