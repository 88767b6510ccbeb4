//go:build linux

package lambdatest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// road is everything as it is deployed: the functions' real programs, with template.yaml's
// settings and rights, between a GitHub and the real servers that play AWS.
type road struct {
	t       testing.TB
	hub     *githubtest.Hub
	repo    *githubtest.Repository
	account *lambdatest.Account
	stack   *lambdatest.Stack
	hook    string // the webhook's URL
	page    string // the page's address
	log     *logged
	cut     bool // functions are killed at their limit
	read    int  // parts of packages, at the last call of usage
}

const root = "../../.."

// bootstraps are built once.
var bootstraps = sync.OnceValues(func() (map[string]string, error) {
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	if err := statebackendtest.BuiltOf(root, "./functions/webhook", "./functions/plan", "./functions/apply", "./functions/janitor", "./functions/web"); err != nil {
		return nil, err
	}
	return lambdatest.BuildFunctions(root, dir, "webhook", "plan", "apply", "janitor", "web")
})

// logged is what the functions have logged.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const hookSecret = "the webhook's secret"

const pageKey = "the key of the page, of more than 32 characters"

// pageSecrets returns the secret of the page.
func pageSecrets(key string, hub *githubtest.Hub) string {
	return fmt.Sprintf(`{"key": %q, "client_id": %q, "client_secret": %q}`, key, githubtest.ClientID, hub.ClientSecret())
}

// newRoad deploys everything for a repository with files. change may change what is
// deployed.
func newRoad(t testing.TB, files githubtest.Files, change ...func(*lambdatest.StackOptions)) *road {
	t.Helper()
	return newRoadTo(t, func(hub http.Handler) http.Handler { return hub }, files, change...)
}

// newRoadTo is newRoad with something between the functions and GitHub.
func newRoadTo(t testing.TB, between func(http.Handler) http.Handler, files githubtest.Files, change ...func(*lambdatest.StackOptions)) *road {
	t.Helper()
	services := lambdatest.Services{S3: statebackendtest.StartVersitygw(t), DynamoDB: statebackendtest.StartDynoxide(t), SQS: lambdatest.StartQueues(t)}
	programs, err := bootstraps()
	if err != nil {
		t.Fatal(err)
	}
	r := &road{t: t, account: lambdatest.StartAccount(t), log: &logged{}}
	services.Account = r.account.URL
	r.hub = githubtest.New(githubtest.Options{Secret: github.NewSecret(hookSecret)})
	api := httptest.NewServer(between(r.hub))
	t.Cleanup(api.Close)
	r.repo = r.hub.AddRepository("acme", "infra", files)
	r.repo.Grant("alice", "write")
	r.repo.Grant("mallory", "read")
	page := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.stack.Functions["web"].URL().ServeHTTP(w, req) }))
	t.Cleanup(page.Close)
	r.page = page.URL
	r.hub.SetCallback(page.URL + "/signed-in")
	o := lambdatest.StackOptions{
		Template: templates.ReadTemplate(t, filepath.Join(root, "template.yaml")), Name: "lockstep",
		Parameters: map[string]string{
			"AppId": "4711", "Serves": "acme/infra",
			"AppKeySecretArn": r.account.Keep("app-key", r.hub.AppKey()), "WebhookSecretArn": r.account.Keep("webhook", hookSecret),
			"PageSecretArn": r.account.Keep("page", pageSecrets(pageKey, r.hub)), "PageUrl": page.URL,
			"GitHubUrl": api.URL, "StateBucket": "states", "StateTable": "locks", "StateKeyArn": "arn:aws:kms:us-east-1:111122223333:key/states", "ExternalId": "only we know it",
			"PlanTargetRoleArn": r.account.AddRole("plan"), "ApplyTargetRoleArn": r.account.AddRole("apply"),
		},
		Services: services, Bootstraps: programs, StateTable: "locks", Log: r.log, Keep: r.account.Keep,
	}
	for _, f := range change {
		f(&o)
	}
	r.stack = lambdatest.Deploy(t, o)
	t.Cleanup(func() { remember(r.stack) })
	hook := httptest.NewServer(r.stack.Functions["webhook"].URL())
	t.Cleanup(hook.Close)
	r.hook = hook.URL
	r.hub.SetWebhook(hook.URL)
	t.Cleanup(r.check)
	return r
}

// check holds for every story: nobody asked for what the role does not allow, and no
// secret is in a log or on GitHub.
func (r *road) check() {
	for _, d := range r.stack.Denied() {
		r.t.Errorf("the role does not allow %s", d)
	}
	said := r.log.String()
	for _, c := range r.hub.Edits() {
		said += c.Text
	}
	for _, secret := range []string{hookSecret, pageKey, "ghu_", r.hub.ClientSecret(), lambdatest.SecretKey, "PRIVATE KEY", "only we know it", "token-of-", "secret-of-"} {
		if strings.Contains(said, secret) {
			r.t.Errorf("%q was said", secret)
		}
	}
	if r.t.Failed() {
		r.t.Logf("the functions' log:\n%s", r.log)
		r.t.Logf("what was done on GitHub:\n%s", strings.Join(r.hub.Lines(), "\n"))
	}
}

// settle lets everything happen that follows from what was done, but for what waits to
// be tried again.
func (r *road) settle() {
	r.t.Helper()
	// A queue moves a message to the dead letters when it is asked for it, and those may
	// have been looked at before: so once more.
	for idle := 0; idle < 2; idle++ {
		n, err := r.hub.Deliver(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, m := range r.stack.Mappings {
			n += r.drain(m)
		}
		if n > 0 {
			idle = -1
		}
	}
}

// drain handles what is visible in a queue, and returns how many messages that were.
func (r *road) drain(m *lambdatest.Mapping) int {
	r.t.Helper()
	total := 0
	for {
		n, got, err := m.Step(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if got.Error != nil && got.Error.Type != "Runtime.ExitError" && !(r.cut && got.Error.Type == "Sandbox.Timedout") {
			r.t.Errorf("%s: %v", m.QueueName, got.Error)
		}
		if total += n; n == 0 {
			return total
		}
	}
}

// later lets the time pass after which messages come again, and what follows happen. It
// returns how many messages that were.
func (r *road) later() int {
	r.t.Helper()
	n := 0
	for _, m := range r.stack.Mappings {
		left, err := m.Expire(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		n += left
	}
	r.settle()
	return n
}

// untilOver has the messages come again until an apply is over. A killed invocation ends with its
// time only, by the machine's clock: until then nobody can know that it was killed. An apply that never ends is ended by the time
// limit of the tests.
func (r *road) untilOver(number int, comment int64) {
	r.t.Helper()
	for strings.Contains(r.answer(number, comment), "is being applied") {
		time.Sleep(500 * time.Millisecond)
		r.later()
	}
}

// untilShown waits until the status comment of a pull request has a text. Builds of plans are not in any queue.
func (r *road) untilShown(number int, text string) {
	r.t.Helper()
	for !strings.Contains(r.status(number), text) {
		time.Sleep(500 * time.Millisecond)
		r.settle()
	}
}

// slowness returns how many times as long as on an idle machine everything takes at the moment, by the last plan of
// few resources; at least 1. Limits of time are for idle machines, and are multiplied by it.
func (r *road) slowness() time.Duration {
	plans := r.stack.Functions["plan"].Invocations()
	longest := time.Duration(0)
	for _, x := range plans {
		longest = max(longest, x.Init+x.Duration)
	}
	return max(1, (longest+time.Second-1)/time.Second)
}

// limit gives the apply function less time, of which it hears promised, and has it begin nothing in the last part of that.
func (r *road) limit(limit, promised, stopBefore time.Duration) {
	r.stack.Functions["apply"].Configure(func(f *lambdatest.FunctionSpec) {
		f.Timeout, f.Promised = limit, promised
		f.Env["LOCKSTEP_STOP_BEFORE"] = stopBefore.String()
	})
}

// pull pushes changes to a branch and opens a pull request.
func (r *road) pull(branch string, changes githubtest.Files) int {
	r.t.Helper()
	r.repo.Push("alice", branch, "Change "+branch, changes)
	n := r.repo.OpenPull("alice", "Change "+branch, branch)
	r.settle()
	return n
}

// say comments and returns our answer, "" if there is none.
func (r *road) say(who string, number int, text string) string {
	r.t.Helper()
	id := r.repo.Comment(who, number, text)
	r.settle()
	return r.answer(number, id)
}

func (r *road) answer(number int, id int64) string {
	r.t.Helper()
	name := strconv.FormatInt(id, 10)
	return cmp.Or(r.marked(number, comment.ResultMarker(name)), r.marked(number, comment.AnswerMarker(name)))
}

// status returns the comment about how the pull request stands.
func (r *road) status(number int) string {
	r.t.Helper()
	return r.marked(number, comment.StatusMarker)
}

// marked returns the one comment of ours with a marker.
func (r *road) marked(number int, marker string) string {
	r.t.Helper()
	found := ""
	for _, c := range r.repo.Comments(number) {
		if c.Author == "lockstep[bot]" && strings.Contains(c.Body, marker) {
			if found != "" {
				r.t.Errorf("there are two comments with %s", marker)
			}
			found = c.Body
		}
	}
	return found
}

// check returns the check runs of a branch's head as "name: status conclusion".
func (r *road) checks(branch string) string {
	var out []string
	for _, c := range r.repo.Checks(r.repo.Head(branch)) {
		out = append(out, strings.TrimSpace(c.Name+": "+string(c.Status)+" "+string(c.Conclusion)))
	}
	return strings.Join(out, "\n")
}

// state returns the state of a key, "" if there is none.
func (r *road) state(key string) string {
	r.t.Helper()
	return r.object("states", key)
}

func (r *road) object(bucket, key string) string {
	r.t.Helper()
	out, err := r.stack.S3.GetObject(context.WithoutCancel(r.t.Context()), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if none := (*s3types.NoSuchKey)(nil); errors.As(err, &none) {
		return ""
	}
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// artifacts returns the keys of everything that is kept of plans and reports.
func (r *road) artifacts() []string {
	r.t.Helper()
	out, err := r.stack.S3.ListObjectsV2(r.t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(r.stack.Ref("Artifacts"))})
	if err != nil {
		r.t.Fatal(err)
	}
	var keys []string
	for _, o := range out.Contents {
		keys = append(keys, *o.Key)
	}
	return keys
}

func (r *road) expect(what, text string, parts ...string) {
	r.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			r.t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

// project is a root module whose state is in S3, with some resources.
func project(key string, resources ...string) string {
	return "terraform {\n  backend \"s3\" {\n    bucket         = \"states\"\n    key            = \"" + key + "\"\n    region         = \"us-east-1\"\n    dynamodb_table = \"locks\"\n    use_lockfile   = true\n  }\n}\n" + strings.Join(resources, "")
}

func thing(name, input string) string {
	return "resource \"terraform_data\" \"" + name + "\" {\n  input = \"" + input + "\"\n}\n"
}
