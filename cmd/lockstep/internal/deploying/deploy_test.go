package deploying

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/awstest"
)

// TestDeploy sets everything up with answers that a person types, finds nothing to do, and updates.
func TestDeploy(t *testing.T) {
	s := newStage(t)
	r := s.run("acme\n\nacme-states\nyes\nyes\n", "-github="+s.site, "-tag=team=infra")
	s.want(r, 0, "AWS account 111122223333, region eu-central-1", "Which GitHub organization", "StateBucket: Name of the bucket", "[acme]",
		"ACTION", "WebhookFunction", "CREATE_COMPLETE Records", "Lockstep is deployed. Stack: lockstep. Webhook: "+hookURL, "/apps/lockstep-acme/installations/new")
	s.complete()
	if _, p := s.account.Stack("lockstep"); p["Serves"] != "acme" {
		t.Error(p["Serves"])
	}
	before := len(s.account.Actions())
	s.want(s.run(""), 0, "done     stack     lockstep is up to date", "done     delivery  a webhook has arrived", "Lockstep is deployed")
	for _, action := range s.account.Actions()[before:] {
		if !reads(action) {
			t.Errorf("a run with nothing to do does %s", action)
		}
	}
	s.write("plan.zip", "the next version's code of plan")
	s.want(s.run("", "-plan", "-parameter=LogDays=30"), 0, "to do    code      upload plan.zip, template.yaml", "the code of plan", `LogDays = "30"`)
	s.want(s.run("no\n", "-parameter=LogDays=30"), 1, "you did not answer yes")
	s.want(s.run("yes\nno\n", "-parameter=LogDays=30"), 1, "Modify", "PlanFunction", "you did not answer yes")
	s.want(s.run("yes\nyes\n", "-parameter=LogDays=30"), 0, "Modify", "UPDATE_COMPLETE PlanFunction", "Lockstep is deployed")
	if status, p := s.account.Stack("lockstep"); status != "UPDATE_COMPLETE" || p["LogDays"] != "30" || p["StateBucket"] != "acme-states" {
		t.Error(status, p)
	}
	s.want(s.run("", "-parameter=ExternalId=hidden"), 1, "ExternalId = ****")
	r = s.run("", "-parameter=ExternalId=hidden", "-auto-approve")
	s.want(r, 0, "Lockstep is deployed")
	if strings.Contains(r.out, "= \"hidden\"") {
		t.Error("a hidden parameter is shown")
	}
}

// reads reports whether an action changes nothing.
func reads(action string) bool {
	_, verb, _ := strings.Cut(action, ":")
	return slices.ContainsFunc([]string{"Get", "List", "Describe"}, func(p string) bool { return strings.HasPrefix(verb, p) })
}

// TestPlan holds that -plan changes nothing, neither at AWS nor at GitHub, and asks nothing.
func TestPlan(t *testing.T) {
	s := newStage(t)
	s.want(s.run("", "-plan", "-github="+s.site, "-organization=acme"), 0,
		"to do    secrets", "to do    app       register a GitHub App for the organization acme", "later    key", "to do    bucket    create the bucket lockstep-111122223333-eu-central-1",
		"later    stack     create the stack lockstep", "later    webhook", "later    delivery")
	for _, action := range s.account.Actions() {
		if !reads(action) {
			t.Errorf("-plan does %s", action)
		}
	}
	if m, _ := s.hub.Registered(); len(m) != 0 {
		t.Error("-plan registers an App")
	}
}

// TestRefused refuses each action in turn: the run says which, and the next one completes the rest, and
// makes nothing twice.
func TestRefused(t *testing.T) {
	for action, want := range map[string]string{
		"sts:GetCallerIdentity":              "AWS does not accept the credentials",
		"secretsmanager:DescribeSecret":      "look at the secret lockstep/github-app-key",
		"secretsmanager:CreateSecret":        "make the secret lockstep/github-app-key",
		"secretsmanager:PutSecretValue":      "put the value of the secret lockstep/webhook-secret",
		"secretsmanager:GetSecretValue":      "read the secret lockstep/github-app-key",
		"s3:ListBucket":                      "belongs to another account, or you have no access to it",
		"s3:CreateBucket":                    "make the bucket lockstep-111122223333-eu-central-1",
		"s3:PutBucketPublicAccessBlock":      "close the bucket lockstep-111122223333-eu-central-1 to the public",
		"s3:PutBucketVersioning":             "have the bucket lockstep-111122223333-eu-central-1 keep versions",
		"s3:GetBucketVersioning":             "ask whether the bucket lockstep-111122223333-eu-central-1 has versions",
		"s3:GetBucketPublicAccessBlock":      "ask whether the bucket lockstep-111122223333-eu-central-1 is closed",
		"s3:GetObject":                       "look for apply.zip in the bucket",
		"s3:PutObject":                       "upload apply.zip",
		"cloudformation:DescribeStacks":      "look at the stack lockstep",
		"cloudformation:CreateChangeSet":     "make a change set of the stack lockstep",
		"cloudformation:DescribeChangeSet":   "read the change set of the stack lockstep",
		"cloudformation:ExecuteChangeSet":    "execute the change set of the stack lockstep",
		"cloudformation:DescribeStackEvents": "read the events of the stack lockstep",
		"cloudformation:GetTemplate":         "read the template of the stack lockstep",
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.account.Refuse(action)
			r := s.run("", s.options()...)
			s.want(r, 1, want, "lockstep: hint: ")
			s.account.Allow()
			s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
			s.complete()
		})
	}
}

// TestLost loses the answer to each action that was carried out: the next run completes the rest, and makes
// nothing twice.
func TestLost(t *testing.T) {
	for _, action := range []string{
		"secretsmanager:CreateSecret", "s3:CreateBucket", "s3:PutBucketVersioning", "s3:PutBucketPublicAccessBlock",
		"secretsmanager:TagResource", "cloudformation:CreateChangeSet", "cloudformation:ExecuteChangeSet",
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.account.Lose(action)
			s.want(s.run("", s.options()...), 1, "lockstep: error: ")
			if action == "secretsmanager:TagResource" {
				// The App is there, and its key is lost.
				s.want(s.run("", s.options()...), 1, "its private key was not stored", "-app-key FILE")
				s.write("key.pem", s.hub.AppKey())
				s.want(s.run("", s.options("-app-key="+s.dir+"/key.pem")...), 0, "Lockstep is deployed", "Delete the file "+s.dir+"/key.pem")
			} else {
				s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
			}
			s.complete()
		})
	}
}

// TestKeyNotKept refuses the App's key, and takes another one of the same App.
func TestKeyNotKept(t *testing.T) {
	s := newStage(t)
	s.account.Refuse("secretsmanager:TagResource")
	s.want(s.run("", s.options()...), 1, "the App lockstep-acme (ID 4711) is registered, but its key could not be stored", "-app-id 4711 -app-key FILE")
	s.account.Allow()
	s.write("key.pem", "no key")
	s.want(s.run("", s.options("-app-id=4711", "-app-key="+s.dir+"/key.pem")...), 1, "key.pem of -app-key has no private key", "BEGIN RSA PRIVATE KEY")
	s.write("key.pem", s.hub.AppKey())
	s.want(s.run("", s.options("-app-id=4712", "-app-key="+s.dir+"/key.pem")...), 1, "check that the file of -app-key is a private key of the App with the ID 4712")
	s.want(s.run("", s.options("-app-id=4711", "-app-key="+s.dir+"/key.pem")...), 0, "Lockstep is deployed")
	s.complete()
}

// TestGitHubRefuses refuses each request to GitHub in turn.
func TestGitHubRefuses(t *testing.T) {
	for request, want := range map[string]string{
		"PATCH /api/v3/app/hook/config":               "set the address of the App's webhooks",
		"GET /api/v3/app/hook/config":                 "ask for the address of the App's webhooks",
		"GET /api/v3/app/hook/deliveries":             "list the deliveries of webhooks",
		"POST /api/v3/app/hook/deliveries/1/attempts": "ask for another attempt at delivery 1",
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.github = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method+" "+r.URL.Path != request {
					return false
				}
				http.Error(w, `{"message":"no"}`, http.StatusForbidden)
				return true
			}
			s.want(s.run("", s.options()...), 1, want)
			s.github = nil
			s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
			s.complete()
		})
	}
}

// TestNotDelivered holds that a function that refuses webhooks is noticed.
func TestNotDelivered(t *testing.T) {
	s := newStage(t)
	s.answer = http.StatusUnauthorized
	s.want(s.run("", s.options()...), 1, `the webhook did not arrive: GitHub received the answer "Invalid HTTP Response: 401"`, "aws logs tail --region eu-central-1 /aws/lambda/lockstep-webhook")
	s.want(s.run("", "-plan"), 0, "to do    delivery  ask GitHub to send the last webhook again")
	s.answer = http.StatusOK
	s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
	s.complete()
}

// TestFailed has a resource fail: its reason is shown, and not those of its followers. The next run deletes the
// rest, and creates the stack.
func TestFailed(t *testing.T) {
	s := newStage(t)
	s.account.FailAt("Events", "lockstep-events.fifo already exists")
	s.want(s.run("", s.options()...), 1, "ROLLBACK_COMPLETE: Events (AWS::SQS::Queue) failed: lockstep-events.fifo already exists")
	s.want(s.run("", s.options("-plan")...), 0, "delete the rest of the failed stack lockstep, and create it again")
	s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
	s.complete()
	s.account.FailAt("PlanFunction", "no capacity")
	s.write("plan.zip", "other code")
	s.want(s.run("", "-auto-approve"), 1, "UPDATE_ROLLBACK_COMPLETE: PlanFunction (AWS::Serverless::Function) failed: no capacity")
	s.want(s.run("", "-auto-approve"), 0, "Lockstep is deployed")
}

// TestStates has other changes under way, and stacks that only a person can mend.
func TestStates(t *testing.T) {
	s := newStage(t)
	s.want(s.run("", s.options()...), 0)
	s.account.SetStatus("lockstep", "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE")
	s.want(s.run("", "-plan"), 0, "wait for the change of the stack lockstep that is in progress (UPDATE_IN_PROGRESS)")
	s.account.SetStatus("lockstep", "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE")
	s.want(s.run("", "-auto-approve"), 0, "Lockstep is deployed")
	s.account.SetStatus("lockstep", "UPDATE_ROLLBACK_FAILED", "")
	s.want(s.run("", "-auto-approve"), 1, "the stack lockstep is UPDATE_ROLLBACK_FAILED", "continue-update-rollback --region eu-central-1 --stack-name lockstep")
	s.account.SetStatus("lockstep", "UPDATE_COMPLETE", "")
	s.account.DeleteSecret("lockstep/webhook-secret")
	s.want(s.run("", "-auto-approve"), 1, "lockstep/webhook-secret is scheduled for deletion", "restore-secret --region eu-central-1 --secret-id lockstep/webhook-secret")
}

// TestForeignBucket has somebody else own the bucket of the usual name, who waits for our code.
func TestForeignBucket(t *testing.T) {
	s := newStage(t)
	name := "lockstep-" + awstest.ID + "-" + awstest.Region
	s.account.Foreign = []string{name}
	s.want(s.run("", s.options()...), 1, name+" belongs to another account", "name another bucket: -bucket NAME")
	if slices.Contains(s.account.Actions(), "s3:PutObject") {
		t.Error("code was uploaded to a bucket of somebody else")
	}
	s.account.Foreign = nil
	s.want(s.run("", s.options("-bucket=acme-code")...), 0, "Lockstep is deployed")
	s.want(s.run("", "-plan"), 0, "done     bucket    acme-code")
}

// TestSwappedCode has somebody write other code under the name of ours, before it is deployed and after.
func TestSwappedCode(t *testing.T) {
	s := newStage(t)
	s.account.Refuse("cloudformation:CreateChangeSet")
	s.want(s.run("", s.options()...), 1)
	s.account.Allow()
	bucket := "lockstep-" + awstest.ID + "-" + awstest.Region
	s.account.Swap(bucket, "apply.zip", "evil")
	s.want(s.run("", s.options("-plan")...), 0, "to do    code      upload apply.zip")
	s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
	if !s.account.Runs("ApplyFunction", "the code of apply") {
		t.Error("the swapped code is deployed")
	}
	s.account.Swap(bucket, "template.yaml", "evil")
	s.want(s.run("", "-auto-approve"), 0, "Lockstep is deployed")
}

// TestUnasked holds that without anybody to ask each missing option is named.
func TestUnasked(t *testing.T) {
	s := newStage(t)
	s.want(s.run("", "-github="+s.site), 1, "-organization is missing", "Which GitHub organization")
	s.want(s.run("", "-github="+s.site, "-input=false", "-organization=acme"), 1, "-parameter Serves=... is missing", "The owners and repositories that Lockstep serves")
	given := s.options()
	given = slices.DeleteFunc(given, func(x string) bool { return x == "-auto-approve" })
	s.want(s.run("", given...), 1, "you did not answer yes", "-auto-approve to go on without a question")
	s.want(s.run("", append(given, "-input=false")...), 1, "approval is needed", "add -auto-approve")
	s.want(s.run("", "-github="+s.site, "-auto-approve"), 1, "-organization is missing")
	s.want(s.run("", "-github="+s.site, "-auto-approve", "-organization=acme", "-parameter=Serves="), 1, "-parameter StateBucket=... is missing")
	for _, action := range s.account.Actions() {
		if !reads(action) {
			t.Errorf("before all is given, deploy does %s", action)
		}
	}
	s.want(s.run("", s.options("-input=false")...), 1, "only a person can register a GitHub App", "-app-id")
	s.want(s.run("", s.options()...), 0, "Lockstep is deployed")
	s.complete()
}

// TestGivenApp deploys an App and secrets that were made by hand, and goes on with what a deployment by hand has left.
func TestGivenApp(t *testing.T) {
	s := newStage(t)
	s.write("key.pem", s.hub.AppKey())
	s.want(s.run("", s.options("-app-id=4711", "-app-key="+s.dir+"/key.pem", "-input=false")...), 0, "Lockstep is deployed")
	key, hook := s.account.ARN("lockstep/github-app-key"), s.account.ARN("lockstep/webhook-secret")
	s.want(s.run("", s.options("-stack=second", "-parameter=AppId=4711", "-parameter=AppKeySecretArn="+key, "-parameter=WebhookSecretArn="+hook)...), 0, "Lockstep is deployed")
	s.want(s.run("", "-stack=second"), 0, "done     app       given by the parameters", "done     stack     second is up to date")
	s.want(s.run("", "-parameter=AppId=1"), 1, "is missing")
}

// TestManifest registers an App from a machine without a browser: a page for one elsewhere, and the code that GitHub has
// answered there with.
func TestManifest(t *testing.T) {
	s := newStage(t)
	s.offline = true
	r := s.run("", "-github="+s.site, "-organization=acme", "-manifest")
	s.want(r, 0, "lockstep deploy -code CODE", s.site+"/organizations/acme/settings/apps/new?state=", "lockstep-acme")
	if n := len(s.account.Actions()); n != 0 {
		t.Errorf("%d requests for a page", n)
	}
	code := s.agree(r.out)
	s.want(s.run("", s.options("-input=false", "-code="+code)...), 0, "Lockstep is deployed")
	s.complete()
	s.want(s.run("", "-manifest", "-organization=acme", "-code=x"), 1, "run with -manifest first")
}

// TestBriefErrors tells of an error of AWS in few words.
func TestBriefErrors(t *testing.T) {
	s := newStage(t)
	s.account.Refuse("sts:GetCallerIdentity")
	r := s.run("", s.options()...)
	s.want(r, 1, "AWS does not accept the credentials: STS GetCallerIdentity: ")
	for _, noise := range []string{"RequestID", "StatusCode", "operation error", "https response"} {
		if strings.Contains(r.out, noise) || strings.Contains(r.err, noise) {
			t.Errorf("%q is in the error: %s%s", noise, r.out, r.err)
		}
	}
}

// TestMistakes are in the command line.
func TestMistakes(t *testing.T) {
	s := newStage(t)
	for args, want := range map[string]string{
		"-stack=a_b":                           "-stack is \"a_b\"",
		"-organization=a/b":                    "which is not the name of an organization",
		"-parameter=Nothing=1":                 `the template has no parameter "Nothing"`,
		"-parameter=LogDays=8":                 `the parameter LogDays cannot be "8": The number of days for which logs are kept`,
		"-parameter=Nothing":                   "NAME=VALUE",
		"-parameter=SubnetIds=subnet-0a":       "one of the parameters SubnetIds and SecurityGroupIds is missing",
		"-permissions-boundary=x":              `the parameter PermissionsBoundaryArn cannot be "x"`,
		"-app-id=x":                            "-app-id is \"x\"",
		"-app-id=1":                            "-app-id needs -app-key",
		"-app-key=/nowhere/key":                "the file /nowhere/key of -app-key cannot be read: no such file",
		"-app-name=" + strings.Repeat("x", 35): "longer than 34 characters",
		"-region=Frankfurt":                    "-region is \"Frankfurt\", which is not valid",
		"-bucket=My_Bucket":                    "3 to 63 small letters",
		"-github=github.com":                   "write the address of a server",
		"-app-name=a/b":                        "-app-name is \"a/b\"",
		"-app-key=" + s.dir + "/template.yaml": "has no private key",
		"-code=a&state=b":                      "copy the text after code=",
		"-manifest":                            "-manifest needs -organization",
		"-artifacts=/nowhere":                  "template.yaml is neither in /nowhere nor above it",
		"-artifacts=":                          "does not have the functions' code",
		"extra":                                "takes no arguments",
	} {
		s.want(s.run("", args), 1, want)
	}
	if n := len(s.account.Actions()); n != 0 {
		t.Errorf("%d requests for mistakes", n)
	}
}

// TestAPI holds where GitHubs have their API.
func TestAPI(t *testing.T) {
	for site, want := range map[string]string{
		"https://github.com": "https://api.github.com/", "https://github.com/": "https://api.github.com/",
		"https://acme.ghe.com": "https://api.acme.ghe.com/", "https://git.acme.example/": "https://git.acme.example/api/v3/",
	} {
		if got := apiOf(site); got != want {
			t.Errorf("%s: %s, want %s", site, got, want)
		}
	}
}
