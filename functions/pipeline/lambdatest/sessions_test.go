//go:build linux

package lambdatest_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sessions"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	states3 "github.com/lockstep-iac/lockstep/statebackend/s3"
)

// clients are those of a function's process.
type clients struct {
	s3       *s3.Client
	dynamodb *dynamodb.Client
}

// as returns clients that find AWS where a function does, with some credentials.
func (r *road) as(function string, by aws.CredentialsProvider) clients {
	at := r.stack.Gates[function]
	return clients{
		s3.New(s3.Options{Region: lambdatest.Region, BaseEndpoint: &at, Credentials: by, UsePathStyle: true, RetryMaxAttempts: 1}),
		dynamodb.New(dynamodb.Options{Region: lambdatest.Region, BaseEndpoint: &at, Credentials: by, RetryMaxAttempts: 1}),
	}
}

// role is the one by which a function reaches states.
func (r *road) role(function string) sessions.Role {
	at := r.stack.Gates[function]
	client := sts.New(sts.Options{Region: lambdatest.Region, BaseEndpoint: &at, Credentials: credentials.NewStaticCredentialsProvider(lambdatest.AccessKey, lambdatest.SecretKey, ""), RetryMaxAttempts: 1})
	return sessions.Role{ARN: r.stack.Att(map[string]string{"plan": "StatePlanRole.Arn", "apply": "StateApplyRole.Arn"}[function]), ExternalID: r.stack.Ref("AWS::StackId"), STS: client}
}

// tryAll does everything that can be done to a state and what is beside it, and returns
// what was let through.
func (c clients) tryAll(t *testing.T, key string) string {
	t.Helper()
	bucket := aws.String("states")
	var done []string
	try := func(what string, err error) {
		var api smithy.APIError
		if errors.As(err, &api) && strings.HasPrefix(api.ErrorCode(), "AccessDenied") {
			return
		}
		if err != nil && (api == nil || api.ErrorCode() != "NoSuchKey") { // whoever may read is told that there is nothing
			what += "?" + err.Error()
		}
		done = append(done, what)
	}
	for _, suffix := range []string{"", ".tflock", ".old", ".journal"} {
		name := aws.String(key + suffix)
		if suffix == ".journal" {
			name = aws.String(states3.JournalOf(key) + "1")
		}
		_, err := c.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: name, Body: strings.NewReader("x")})
		try("put"+suffix, err)
		out, err := c.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: name})
		if try("get"+suffix, err); err == nil {
			out.Body.Close()
		}
		_, err = c.s3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: bucket, Key: name})
		try("delete"+suffix, err)
	}
	for _, suffix := range []string{"", "-md5", "-lockstep"} {
		id := map[string]dynamodbtypes.AttributeValue{"LockID": &dynamodbtypes.AttributeValueMemberS{Value: "states/" + key + suffix}}
		_, err := c.dynamodb.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("locks"), Item: id})
		try("PutItem"+suffix, err)
		_, err = c.dynamodb.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("locks"), Key: id})
		try("GetItem"+suffix, err)
		_, err = c.dynamodb.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("locks"), Key: id})
		try("DeleteItem"+suffix, err)
	}
	_, err := c.dynamodb.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("locks")})
	try("Scan", err)
	return strings.Join(done, " ")
}

// TestSessions tries, with the credentials that functions have and those of sessions, what
// they let through: the functions themselves reach no state, and a session its own only.
func TestSessions(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "db/main.tf": project("db/terraform.tfstate")})
	const other = "db/terraform.tfstate"
	for _, key := range []string{netState, other} {
		for _, suffix := range []string{"", ".old"} {
			if _, err := r.stack.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("states"), Key: aws.String(key + suffix), Body: strings.NewReader("{}")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	at, err := places.Of("s3", map[string]any{"bucket": "states", "key": netState, "dynamodb_table": "locks"}, "default")
	if err != nil {
		t.Fatal(err)
	}
	job := jobs.Job{Repo: r.repo.Repo(), Number: 1, Project: "net", StateGrant: jobs.StateGrant{State: at}}
	const read, unlock = "get get.tflock get.journal GetItem GetItem-md5", "get get.tflock delete.tflock get.journal GetItem DeleteItem GetItem-md5"
	want := map[string]string{
		"plan":  unlock, // as far as the function goes
		"apply": "put get put.tflock get.tflock delete.tflock put.journal get.journal delete.journal PutItem GetItem DeleteItem PutItem-md5 GetItem-md5 DeleteItem-md5 PutItem-lockstep GetItem-lockstep DeleteItem-lockstep",
	}
	for _, function := range []string{"plan", "apply"} {
		own := r.as(function, credentials.NewStaticCredentialsProvider(lambdatest.AccessKey, lambdatest.SecretKey, ""))
		if got := own.tryAll(t, netState); got != "" {
			t.Errorf("the %s function itself may %s", function, got)
		}
		job.Access = map[string]jobs.Access{"plan": jobs.Unlocks, "apply": jobs.Writes}[function]
		by, err := r.role(function).For(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		session := r.as(function, by)
		if got := session.tryAll(t, netState); got != want[function] {
			t.Errorf("a session to %s may %s\nwant %s", function, got, want[function])
		}
		if got := session.tryAll(t, other); got != "" {
			t.Errorf("a session to %s may, of another state, %s", function, got)
		}
		// A session for planning, or for unlocking, by the role for applying is as narrow as any.
		for access, want := range map[jobs.Access]string{jobs.Reads: read, jobs.Unlocks: unlock} {
			job.Access = access
			if by, err = r.role(function).For(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			if got := r.as(function, by).tryAll(t, netState); got != want {
				t.Errorf("a session of access %v, by the role to %s, may %s\nwant %s", access, function, got, want)
			}
		}
	}
	r.stack.ForgetDenied()
}

// TestWhoMayAssume tries to get a session as somebody else, or for nobody.
func TestWhoMayAssume(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState)})
	at, err := places.Of("s3", map[string]any{"bucket": "states", "key": netState}, "default")
	if err != nil {
		t.Fatal(err)
	}
	job := jobs.Job{Repo: r.repo.Repo(), Number: 1, Project: "net", StateGrant: jobs.StateGrant{State: at}}
	for name, change := range map[string]func(*sessions.Role, *jobs.Job){
		"another function":  func(x *sessions.Role, _ *jobs.Job) { x.STS = r.role("apply").STS },
		"the webhook's":     func(x *sessions.Role, _ *jobs.Job) { x.STS = stsAt(r.stack.Gates["webhook"]) },
		"the janitor's":     func(x *sessions.Role, _ *jobs.Job) { x.STS = stsAt(r.stack.Gates["janitor"]) },
		"the role to apply": func(x *sessions.Role, _ *jobs.Job) { x.ARN = r.role("apply").ARN },
		"another stack": func(x *sessions.Role, _ *jobs.Job) {
			x.ExternalID = "arn:aws:cloudformation:us-east-1:1:stack/other/1"
		},
		"without an external ID": func(x *sessions.Role, _ *jobs.Job) { x.ExternalID = "" },
		"for no repository":      func(_ *sessions.Role, j *jobs.Job) { j.Repo.Owner, j.Repo.Name = "", "" },
		"for no project":         func(_ *sessions.Role, j *jobs.Job) { j.Project = "" },
		"with too long a policy": func(_ *sessions.Role, j *jobs.Job) { j.State.Key = strings.Repeat("k", 1000) },
	} {
		role, j := r.role("plan"), job
		change(&role, &j)
		if _, err := role.For(t.Context(), j); err == nil {
			t.Errorf("%s: there are credentials", name)
		}
	}
	if _, err := r.role("plan").For(t.Context(), job); err != nil {
		t.Errorf("the plan function itself: %v", err)
	}
	r.stack.ForgetDenied()
}

func stsAt(url string) *sts.Client {
	return sts.New(sts.Options{Region: lambdatest.Region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider(lambdatest.AccessKey, lambdatest.SecretKey, ""), RetryMaxAttempts: 1})
}

// TestRunsHaveSessions holds that every request for a state is made in a session that is
// narrowed to it, and that a plan's role is not an apply's.
func TestRunsHaveSessions(t *testing.T) {
	t.Parallel()
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "db/main.tf": project("db/terraform.tfstate")})
	n := r.pull("both", githubtest.Files{"net/a.tf": thing("a", "1"), "db/b.tf": thing("b", "1")})
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `net`", "**Applied** `db`")
	seen := map[string]bool{}
	for _, q := range r.stack.Requests() {
		if !strings.Contains(q.Resource, ":::states/") && !strings.HasSuffix(q.Resource, "table/locks") {
			continue
		}
		seen[q.Function] = true
		if q.Session != r.role(q.Function).ARN {
			t.Errorf("%s is asked for by %q", q, q.Session)
		}
	}
	if !seen["plan"] || !seen["apply"] {
		t.Errorf("states were asked for by %v", seen)
	}
	for _, s := range r.stack.Sessions() {
		key := map[string]string{"net": netState, "db": "db/terraform.tfstate"}[s.Tags["project"]]
		if s.Tags["repository"] != "acme/infra" || s.Tags["pull"] != "1" || key == "" || !strings.Contains(s.Policy, `"arn:aws:s3:::states/`+key+`"`) || strings.Count(s.Policy, "terraform.tfstate") != strings.Count(s.Policy, key)+strings.Count(s.Policy, "/"+url.PathEscape(key)+"/*") {
			t.Errorf("a session of %v: %s", s.Tags, s.Policy)
		}
	}
}
