//go:build linux

package lambdatest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// twoThings is a repository with one project, which a pull request gives a second thing.
func twoThings(t *testing.T, change ...func(*lambdatest.StackOptions)) (r *road, number int) {
	t.Helper()
	r = newRoad(t, githubtest.Files{"net/main.tf": project("net/terraform.tfstate", thing("vpc", "10.0.0.0/16"))}, change...)
	return r, r.pull("subnet", githubtest.Files{"net/subnet.tf": thing("subnet", "10.0.1.0/24")})
}

const netState = "net/terraform.tfstate"

// serial returns the serial of a state, and the names of its resources.
func (r *road) serial(key string) (int, []string) {
	r.t.Helper()
	var s struct {
		Serial    int
		Resources []struct{ Name string }
	}
	text := r.state(key)
	if text == "" {
		return 0, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, x := range s.Resources {
		names = append(names, x.Name)
	}
	return s.Serial, names
}

// free holds that nothing is locked.
func (r *road) free(key string) {
	r.t.Helper()
	if lock := r.state(key + ".tflock"); lock != "" {
		r.t.Errorf("%s is locked: %s", key, lock)
	}
}

// TestRoad is the main job: a signed webhook, a plan in a comment and a check, a comment,
// the applied state. Then every delivery comes again, and nothing happens.
func TestRoad(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t)
	r.expect("the plan", r.status(n), "2 to add", "terraform_data.subnet", "10.0.1.0/24", "lockstep apply")
	r.expect("the check", r.checks("subnet"), "completed success")
	if serial, _ := r.serial(netState); serial != 0 {
		t.Errorf("planning wrote a state with serial %d", serial)
	}
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied**", "2 added, 0 changed, 0 destroyed")
	r.expect("the status", r.status(n), "applied by `alice`")
	serial, names := r.serial(netState)
	if d := cmp.Diff([]string{"subnet", "vpc"}, names); d != "" || serial != 1 {
		t.Errorf("the state has serial %d and%s", serial, d)
	}
	r.free(netState)
	r.repo.Merge("alice", n)
	r.settle()

	before := r.hub.Lines()
	for _, guid := range r.hub.Deliveries() {
		answer, err := r.hub.Redeliver(t.Context(), guid)
		if err != nil || strings.Contains(answer, `"queued"`) {
			t.Errorf("delivery %s again: %s, %v", guid, answer, err)
		}
	}
	r.settle()
	if d := cmp.Diff(before, r.hub.Lines()); d != "" {
		t.Errorf("the second time, on GitHub:%s", d)
	}
	if again, _ := r.serial(netState); again != serial {
		t.Errorf("the second time, the state went from serial %d to %d", serial, again)
	}
	r.encrypted()
	r.granted()
}

// encrypted holds that every artifact was written under the key, bound to what it is of.
func (r *road) encrypted() {
	r.t.Helper()
	seen := 0
	for _, q := range r.stack.Requests() {
		if q.Action != "s3:PutObject" || !strings.Contains(q.Resource, r.stack.Ref("Artifacts")) {
			continue
		}
		seen++
		if q.Header.Get("X-Amz-Server-Side-Encryption") != "aws:kms" || q.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") == "" || q.Header.Get("X-Amz-Server-Side-Encryption-Context") == "" {
			r.t.Errorf("%s is not encrypted as it should be: %v", q.Resource, q.Header)
		}
	}
	if seen == 0 {
		r.t.Error("no artifact was written")
	}
}

// granted holds that the webhook's function has no right that it does not use.
func (r *road) granted() {
	r.t.Helper()
	var used []string
	for _, q := range r.stack.Requests() {
		if q.Function == "webhook" && !slices.Contains(used, q.Action) {
			used = append(used, q.Action)
		}
	}
	slices.Sort(used)
	want := []string{"dynamodb:GetItem", "dynamodb:PutItem", "secretsmanager:GetSecretValue", "sqs:SendMessage"}
	if d := cmp.Diff(want, used); d != "" {
		r.t.Errorf("the webhook's function does%s", d)
	}
}

// TestEveryMessageTwice hands each message over a second time after it was handled.
func TestEveryMessageTwice(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t)
	for _, m := range r.stack.Mappings {
		m.Twice = true
	}
	r.say("alice", n, "lockstep apply")
	serial, names := r.serial(netState)
	if serial != 1 || len(names) != 2 {
		t.Errorf("the state has serial %d and %v", serial, names)
	}
	told := strings.Join(r.hub.Lines(), "\n")
	for _, once := range []string{"check lockstep/net on #1 by lockstep[bot]: success, Applied", "**Applied** `net`", "rocket", "comment #1 on #1"} {
		if c := strings.Count(told, once); c != 1 {
			t.Errorf("%q happened %d times:\n%s", once, c, told)
		}
	}
}

// once calls kill at the first request that is asked about.
func once(which func(lambdatest.Request) bool, kill func()) func(lambdatest.Request) int {
	var first sync.Once
	return func(q lambdatest.Request) int {
		if !which(q) {
			return 0
		}
		status := 0
		first.Do(func() {
			status = http.StatusServiceUnavailable // nobody hears it
			kill()
		})
		return status
	}
}

// TestKilledPlanning kills the plan function while it reads the state. The message comes again, and
// nothing is in the way: plans lock nothing.
func TestKilledPlanning(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "10.0.0.0/16"))})
	plan := r.stack.Functions["plan"]
	r.stack.Fault(once(func(q lambdatest.Request) bool {
		return q.Function == "plan" && q.Action == "s3:GetObject" && strings.HasSuffix(q.Resource, netState)
	}, func() { go plan.Kill() }))
	n := r.pull("subnet", githubtest.Files{"net/subnet.tf": thing("subnet", "10.0.1.0/24")})
	r.free(netState)
	if r.later() == 0 {
		t.Fatal("no message came again")
	}
	r.expect("the status", r.status(n), "2 to add")
	r.say("alice", n, "lockstep apply")
	if _, names := r.serial(netState); len(names) != 2 {
		t.Errorf("the state has %v", names)
	}
}

// TestKilledApplying kills the apply function at several points of an apply. What comes
// of it is told, and nothing is applied twice.
func TestKilledApplying(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at     func(lambdatest.Request) bool
		answer string
		left   string // to be planned afterwards
	}{
		"before anything is done": {
			func(q lambdatest.Request) bool {
				return q.Action == "s3:GetObject" && strings.HasSuffix(q.Resource, netState)
			},
			"Nothing was changed. To try again, comment `lockstep apply`", "2 to add",
		},
		"when the state is written": {
			func(q lambdatest.Request) bool {
				return q.Action == "s3:PutObject" && strings.HasSuffix(q.Resource, netState)
			},
			"**Applied** `net`: 2 added", "no changes", // the next process went on from the journal
		},
		"when it is unlocked": {
			func(q lambdatest.Request) bool {
				return q.Action == "s3:DeleteObject" && strings.HasSuffix(q.Resource, ".tflock")
			},
			"**Applied** `net`: 2 added", "no changes", // the outcome was recorded before
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, n := twoThings(t, func(o *lambdatest.StackOptions) {
				o.Timeouts = map[string]time.Duration{"apply": 12 * time.Second}
				o.Parameters["StopBefore"] = "3s"
			})
			apply := r.stack.Functions["apply"]
			r.stack.Fault(once(func(q lambdatest.Request) bool { return q.Function == "apply" && test.at(q) }, func() { go apply.Kill() }))
			id := r.repo.Comment("alice", n, "lockstep apply")
			r.settle()
			if r.later() == 0 {
				t.Fatal("no message came again")
			}
			r.untilOver(n, id)
			r.expect("the answer", r.answer(n, id), test.answer)
			r.say("alice", n, "lockstep unlock")
			r.free(netState)
			r.say("alice", n, "lockstep plan")
			r.expect("the status", r.status(n), test.left)
			r.say("alice", n, "lockstep apply")
			if _, names := r.serial(netState); len(names) != 2 {
				t.Errorf("the state has %v", names)
			}
		})
	}
}

func TestForkAndStrangers(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t)
	fork := r.repo.Fork("eve")
	fork.Push("eve", "evil", "Change", githubtest.Files{"net/evil.tf": thing("evil", "evil")})
	e := r.repo.OpenPullFrom(fork, "eve", "Change", "evil")
	r.settle()
	text := ""
	for _, c := range r.repo.Comments(e) {
		text += c.Body
	}
	r.expect("what is said to a fork", text, "fork")
	r.expect("the answer to a stranger", r.say("mallory", n, "lockstep apply"), "permission")
	if serial, _ := r.serial(netState); serial != 0 {
		t.Error("something was applied")
	}
}

// TestBadWebhooks holds what the function answers to what is no webhook of GitHub's, and
// that nothing follows from it.
func TestBadWebhooks(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))})
	post := func(secret, event, guid, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.hook, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(github.EventHeader, event)
		req.Header.Set(github.DeliveryHeader, guid)
		if secret != "" {
			req.Header.Set(github.SignatureHeader, github.Sign(github.NewSecret(secret), []byte(body)))
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer struct{ Result string }
		json.NewDecoder(res.Body).Decode(&answer) // some answers have none
		return res.StatusCode, answer.Result
	}
	const guid = "11111111-1111-4111-8111-111111111111"
	for name, test := range map[string]struct {
		secret, event, guid, body string
		status                    int
		says                      string
	}{
		"no signature":         {"", "pull_request", guid, "{}", 401, "signature"},
		"a wrong signature":    {"another secret", "pull_request", guid, "{}", 401, "signature"},
		"oversized":            {hookSecret, "pull_request", guid, strings.Repeat(" ", lambdatest.MaxPayload), 413, ""},
		"no delivery":          {hookSecret, "pull_request", "", "{}", 400, "X-GitHub-Delivery"},
		"an unknown event":     {hookSecret, "star", guid, "{}", 202, "nothing to do"},
		"no pull request":      {hookSecret, "pull_request", guid, "{}", 400, "cannot be used"},
		"no JSON":              {hookSecret, "pull_request", guid, "{", 400, "not readable"},
		"without installation": {hookSecret, "pull_request", guid, `{"action":"opened","number":1,"repository":{"id":1,"name":"infra","owner":{"login":"acme"}},"sender":{"login":"alice"}}`, 400, "installation"},
	} {
		status, says := post(test.secret, test.event, test.guid, test.body)
		if status != test.status || !strings.Contains(says, test.says) {
			t.Errorf("%s: %d %q, want %d %q", name, status, says, test.status, test.says)
		}
	}
	r.settle()
	if n := len(r.stack.Functions["plan"].Invocations()); n != 0 {
		t.Errorf("%d messages followed", n)
	}
}

// TestGitHubIsDown holds that messages wait until GitHub is back.
func TestGitHubIsDown(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]githubtest.Failure{
		"an outage": githubtest.Outage, "a limit": githubtest.Limited(time.Now().Add(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoad(t, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))})
			r.repo.Push("alice", "subnet", "Change", githubtest.Files{"net/subnet.tf": thing("subnet", "2")})
			n := r.repo.OpenPull("alice", "Change", "subnet")
			r.hub.Fail(-1, failure)
			r.settle()
			if r.status(n) != "" {
				t.Fatal("there is a status without GitHub")
			}
			r.expect("the log", r.log.String(), `"msg":"not handled"`)
			r.hub.Fail(0, nil)
			r.stack.Functions["plan"].Kill() // an hour later, it is another environment
			if r.later() == 0 {
				t.Fatal("the message is lost")
			}
			r.expect("the status", r.status(n), "2 to add")
		})
	}
}

// TestS3Refuses holds that a state which cannot be read or written is told of, and that
// nothing is lost.
func TestS3Refuses(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t)
	r.stack.Fault(func(q lambdatest.Request) int {
		if q.Action == "s3:PutObject" && strings.HasSuffix(q.Resource, netState) {
			return http.StatusForbidden
		}
		return 0
	})
	answer := r.say("alice", n, "lockstep apply")
	r.stack.Fault(nil)
	r.expect("the answer", answer, "**Failed to apply**", "access denied", "s3://"+r.stack.Ref("Artifacts")+"/rescued/")
	r.expect("the check", r.checks("subnet"), "failure")
	rescued := ""
	for _, key := range r.artifacts() {
		if strings.HasPrefix(key, "rescued/") {
			rescued = r.object(r.stack.Ref("Artifacts"), key)
		}
	}
	r.expect("the state that was kept", rescued, `"subnet"`, `"vpc"`)
}

// TestStrangersAreTurnedAway holds that a deployment which serves others drops the webhooks
// of a repository at the door: the webhook's function says so in its log, keeps nothing,
// and sends nothing.
func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	r, n := twoThings(t, func(o *lambdatest.StackOptions) { o.Parameters["Serves"] = "acme-inc, acme/other" })
	r.say("alice", n, "lockstep plan")
	r.round()
	for _, line := range r.hub.Lines() {
		if strings.Contains(line, "lockstep[bot]") {
			t.Errorf("Lockstep did %s", line)
		}
	}
	if got := len(r.stack.Functions["plan"].Invocations()); got != 0 {
		t.Errorf("%d messages followed", got)
	}
	r.expect("the log", r.log.String(), `"function":"webhook","error":"acme/infra is not served`)
}
