package deploying

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A ghes is a GitHub Enterprise Server beside the stage's GitHub, whose App has the name ghes.
type ghes struct {
	*stage
	other     *githubtest.Hub
	otherSite string
}

// withGHES deploys the first App, and starts a server for another one.
func withGHES(t *testing.T) *ghes {
	t.Helper()
	s := newStage(t)
	s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
	s.hub.AddRepository("acme", "infra", nil)
	x := &ghes{stage: s}
	x.other, x.otherSite = s.server("lockstep-labs")
	s.others = append(s.others, x.other)
	return x
}

// add are the options of a run that adds the App.
func (x *ghes) add(more ...string) []string {
	return append([]string{"-app=ghes", "-github=" + x.otherSite, "-organization=labs", "-serves=labs, labs-too/infra", "-auto-approve"}, more...)
}

// entry is the App in the parameter Apps.
func (x *ghes) entry() string {
	return "ghes 4711 " + x.otherSite + "/api/v3/ labs,labs-too/infra"
}

// added holds that both Apps are there, each with its own secrets, once, and that the first one is as it was.
func (x *ghes) added() {
	x.t.Helper()
	x.complete()
	if _, p := x.account.Stack("lockstep"); p["Apps"] != x.entry() || p["Serves"] != "acme" {
		x.t.Errorf("Apps is %q", p["Apps"])
	}
	manifests, owners := x.other.Registered()
	if len(manifests) != 1 || owners[0] != "labs" || manifests[0].Name != "lockstep-labs" {
		x.t.Errorf("registered: %v %v", manifests, owners)
	}
	if x.account.Secret("lockstep/apps/ghes/github-app-key") != x.other.AppKey() {
		x.t.Error("the key is not stored")
	}
	if a, b := x.account.Secret("lockstep/apps/ghes/webhook-secret"), x.account.Secret("lockstep/webhook-secret"); a == "" || a == b {
		x.t.Error("the Apps have one secret for webhooks")
	}
	if n := x.account.Values("lockstep/apps/ghes/github-app-key") + x.account.Values("lockstep/apps/ghes/webhook-secret"); n != 2 {
		x.t.Errorf("%d values of two secrets", n)
	}
}

// TestFurther adds an App to a stack: -plan says so, a second run finds nothing to do, neither does one for the first App, and
// other repositories to serve are an update.
func TestFurther(t *testing.T) {
	x := withGHES(t)
	before := len(x.account.Actions())
	x.want(x.run("", x.add("-plan")...), 0, "to do    secrets   create the secrets lockstep/apps/ghes/github-app-key and lockstep/apps/ghes/webhook-secret",
		"to do    app       register a GitHub App for the organization labs on "+x.otherSite)
	for _, action := range x.account.Actions()[before:] {
		if !reads(action) {
			t.Errorf("-plan does %s", action)
		}
	}
	x.want(x.run("", x.add()...), 0, "Apps = \""+x.entry()+"\"", "the stack lockstep has the App ghes. Webhook: "+hookURL+"webhook/ghes", "/apps/lockstep-labs/installations/new")
	x.added()
	before = len(x.account.Actions())
	for _, args := range [][]string{x.add(), {"-app=ghes"}, nil} {
		x.want(x.run("", args...), 0, "done     stack     lockstep is up to date", "done     delivery  a webhook has arrived")
	}
	for _, action := range x.account.Actions()[before:] {
		if !reads(action) {
			t.Errorf("a run with nothing to do does %s", action)
		}
	}
	x.want(x.run("", "-app=ghes", "-serves=labs", "-plan"), 0, "update the stack lockstep: Apps = \"ghes 4711 "+x.otherSite+"/api/v3/ labs\"")
	x.added()
}

// TestFurtherAsks asks a person for what the App serves.
func TestFurtherAsks(t *testing.T) {
	x := withGHES(t)
	x.want(x.run("labs\nlabs, labs-too/infra\nyes\nyes\n", "-app=ghes", "-github="+x.otherSite), 0, "Which owners and repositories will the App ghes serve?", "[labs]", "the stack lockstep has the App ghes")
	x.added()
	y := withGHES(t)
	y.want(y.run("labs\n*\n", "-app=ghes", "-github="+y.otherSite), 1, `-serves cannot be "*"`)
}

// TestFurtherRefused refuses each action in turn: the run says which, and the next one completes the rest, and makes nothing
// twice.
func TestFurtherRefused(t *testing.T) {
	for action, want := range map[string]string{
		"secretsmanager:DescribeSecret":    "look at the secret lockstep/apps/ghes/github-app-key",
		"secretsmanager:CreateSecret":      "make the secret lockstep/apps/ghes/github-app-key",
		"secretsmanager:PutSecretValue":    "put the value of the secret lockstep/apps/ghes/webhook-secret",
		"secretsmanager:GetSecretValue":    "read the secret lockstep/apps/ghes/github-app-key",
		"cloudformation:DescribeStacks":    "look at the stack lockstep",
		"cloudformation:CreateChangeSet":   "make a change set of the stack lockstep",
		"cloudformation:ExecuteChangeSet":  "execute the change set of the stack lockstep",
		"cloudformation:DescribeChangeSet": "read the change set of the stack lockstep",
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			x := withGHES(t)
			x.account.Refuse(action)
			x.want(x.run("", x.add()...), 1, want, "lockstep: hint: ")
			x.account.Allow()
			x.want(x.run("", x.add()...), 0, "the stack lockstep has the App ghes")
			x.added()
		})
	}
	for request, want := range map[string]string{
		"PATCH /api/v3/app/hook/config":   "set the address of the App's webhooks",
		"GET /api/v3/app/hook/deliveries": "list the deliveries of webhooks",
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			x := withGHES(t)
			x.github = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method+" "+r.URL.Path != request {
					return false
				}
				http.Error(w, `{"message":"no"}`, http.StatusForbidden)
				return true
			}
			x.want(x.run("", x.add()...), 1, want)
			x.github = nil
			x.want(x.run("", x.add()...), 0, "the stack lockstep has the App ghes")
			x.added()
		})
	}
}

// TestFurtherMistakes is a table of options that cannot be, and of stacks that an App cannot be added to.
func TestFurtherMistakes(t *testing.T) {
	none := newStage(t)
	none.want(none.run("", "-app=ghes", "-organization=labs", "-auto-approve"), 1, "the stack lockstep does not exist in eu-central-1, so the App ghes cannot be added to it", "`lockstep deploy` without -app")
	x := withGHES(t)
	before := len(x.account.Actions())
	for args, want := range map[string]string{
		"-app=GHES":                             `-app: "GHES" is not the name of an App`,
		"-app=":                                 "is not the name of an App",
		"-app=a/b":                              "is not the name of an App",
		"-serves=labs":                          "-serves is only for a further App",
		"-app=ghes -serves=*":                   "-serves: ",
		"-app=ghes -parameter=Apps=x":           "-app and the parameter Apps cannot be used together",
		"-app=ghes -parameter=GitHubUrl=https:": "are for the first App",
	} {
		x.want(x.run("", strings.Fields(args)...), 1, want)
	}
	if n := len(x.account.Actions()); n != before {
		t.Errorf("%d requests for mistakes", n-before)
	}
	// The first App under another name would have everything twice.
	x.write("key.pem", x.hub.AppKey())
	x.want(x.run("", "-app=again", "-github="+x.site, "-app-id=4711", "-app-key="+x.dir+"/key.pem", "-serves=acme", "-auto-approve"), 1, "is the first App of the stack")
	if _, p := x.account.Stack("lockstep"); p["Apps"] != "" {
		t.Errorf("Apps is %q", p["Apps"])
	}
}

// TestDoctorOfFurther examines a stack with two Apps, of which one is not well: it says which.
func TestDoctorOfFurther(t *testing.T) {
	x := withGHES(t)
	x.want(x.run("", x.add()...), 0)
	x.want(x.examine(), 1, "the App ghes is not installed on any account")
	x.other.AddRepository("labs", "infra", nil)
	x.want(x.examine(), 0, "No problems found")
	x.other.Withdraw("checks")
	x.other.SetWebhook(hookURL)
	r := x.examine()
	x.want(r, 1, "the App ghes lacks the permissions checks: write", `the webhook address of the App ghes is "`+hookURL+`", but should be "`+hookURL+`webhook/ghes"`, "run `lockstep deploy -app ghes` to set the address")
	if strings.Contains(r.out, "the App lacks") || strings.Contains(r.out, "webhooks of the App go") {
		t.Errorf("the first App is said to be wrong: %s", r.out)
	}
}
