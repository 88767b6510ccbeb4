package callouts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

const (
	key    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	keyARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:lockstep-call/cost"
	plan   = `{"format_version":"1.2","resource_changes":[]}`
)

var job = jobs.Job{Repo: github.Repo{Owner: "acme", Name: "infra"}, Number: 7, Head: "abc", Actor: "zoe", Project: "net", Dir: "nets/net", Workspace: "default"}

func secrets(_ context.Context, arn string) (string, error) {
	if arn != keyARN {
		return "", errors.New("denied")
	}
	return key + "\n", nil
}

// to has all connections made to one server, whatever the URL's host.
type to struct{ *httptest.Server }

func (s to) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = s.Listener.Addr().String()
	return s.Client().Transport.RoundTrip(r)
}

// TestWebhook has a receiver check the signature with the specification's own library.
func TestWebhook(t *testing.T) {
	t.Parallel()
	var got request
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		hook, bad := standardwebhooks.NewWebhook(key)
		if bad := errors.Join(err, bad, hook.Verify(body, r.Header), json.Unmarshal(body, &got)); bad != nil || r.Method != http.MethodPost || r.Host != "cost.example" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.Method, r.Host, bad)
		}
		io.WriteString(w, `{"verdict":"allow"}`)
	}))
	defer s.Close()
	g := requirements.Gate{Name: "cost", Endpoint: endpoints.Endpoint{URL: "https://cost.example/x?y=z", Secret: keyARN}}
	c := Caller{Secret: secrets, Transport: to{s}}
	v, err := c.Judge(t.Context(), job, g, []byte(plan))
	if diff := cmp.Diff(runs.Judgement{Name: "cost", ID: g.ID()}, v); diff != "" || err != nil {
		t.Error(err, diff)
	}
	want := gateData{Gate: "cost", Repository: "acme/infra", PullRequest: 7, SHA: "abc", Actor: "zoe", Project: "net", Dir: "nets/net", Workspace: "default", Plan: json.RawMessage(plan)}
	if diff := cmp.Diff(want, got.Data); diff != "" || got.Type != "gate" || time.Since(got.Timestamp) > time.Hour {
		t.Errorf("%+v %s", got, diff)
	}
}

// TestAnswers holds that only an allowing verdict allows: all else is a denial, or a mistake.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const rubbish = "no JSON object with verdict"
	long := strings.Repeat("é", maxMessage)
	for answer, want := range map[string]runs.Judgement{
		`{"verdict":"allow"}`: {},
		`{"verdict":"allow","messages":["fine"],"further":1}`:     {Warned: []string{"fine"}},
		`{"verdict":"allow","warnings":["a","b\n<c>"]}`:           {Warned: []string{"a", "b <c>"}},
		`{"verdict":"deny","messages":["dear"],"warnings":["w"]}`: {Denied: []string{"dear"}, Warned: []string{"w"}},
		`{"verdict":"deny"}`:                                                    {Denied: []string{"it gave no reason"}},
		`{"verdict":"deny","messages":["is hunter2"]}`:                          {Denied: []string{"is ***"}},
		`{"verdict":"deny","messages":["` + long + `"]}`:                        {Denied: []string{long[:maxMessage] + "…"}},
		`{"verdict":"deny","messages":[` + strings.Repeat(`"m",`, 25) + `"m"]}`: {Denied: strings.Split(strings.Repeat("m ", 19)+"m", " "), MoreDenied: 6},
		``:                                       {Mistakes: []string{rubbish}},
		`null`:                                   {Mistakes: []string{`its verdict is ""`}},
		`true`:                                   {Mistakes: []string{rubbish}},
		`[{"verdict":"allow"}]`:                  {Mistakes: []string{rubbish}},
		`{"verdict":"allow"} {"verdict":"deny"}`: {Mistakes: []string{rubbish}},
		`{"verdict":"allow","messages":"x"}`:     {Mistakes: []string{rubbish}},
		`{"verdict":"ALLOW"}`:                    {Mistakes: []string{`its verdict is "ALLOW"`}},
		`{"verdict":"deny","verdict":"allow"}`:   {Mistakes: []string{rubbish}},
		`{"verdict":"deny","VERDICT":"allow"}`:   {Mistakes: []string{rubbish}},
		`{"Verdict":"allow"}`:                    {Mistakes: []string{rubbish}},
		`{"verdict":"allow","warningſ":["w"]}`:   {Mistakes: []string{rubbish}},
		`{"verdict":true}`:                       {Mistakes: []string{rubbish}},
		`{"statusCode":200,"body":"{}"}`:         {Mistakes: []string{`its verdict is ""`}},
		`{"verdict":"allow","pad":"` + strings.Repeat("x", maxAnswer) + `"}`: {Mistakes: []string{"more than 65536 bytes"}},
	} {
		g := requirements.Gate{Name: "cost", Endpoint: endpoints.Endpoint{Function: "arn"}}
		c := Caller{
			Invoke: func(context.Context, string, []byte) ([]byte, error) { return []byte(answer), nil },
			Hide:   func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		}
		v, err := c.Judge(t.Context(), job, g, []byte(plan))
		if err != nil || v.Name != "cost" || v.ID != g.ID() {
			t.Errorf("%.80s: %+v %v", answer, v, err)
		}
		if len(want.Mistakes) > 0 && len(v.Mistakes) > 0 && strings.Contains(v.Mistakes[0], want.Mistakes[0]) {
			v.Mistakes = want.Mistakes
		}
		want.Name, want.ID = v.Name, v.ID
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("%.80s: %s", answer, diff)
		}
	}
}

// TestWebhookFaults holds that an endpoint which is busy is asked again, and that none of its failures is a verdict.
func TestWebhookFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		header string
		calls  int32
		want   string
	}{
		"busy":       {503, "", 3, "its answer is 503"},
		"limited":    {429, "", 3, "its answer is 429"},
		"refused":    {401, "", 1, "its answer is 401"},
		"gone":       {404, "", 1, "its answer is 404"},
		"elsewhere":  {302, "https://other.example/", 1, "its answer is 302"},
		"no content": {204, "", 1, "no JSON object"},
	} {
		var calls atomic.Int32
		ids := make(chan string, 99)
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			ids <- r.Header.Get("webhook-id")
			if test.header != "" {
				w.Header().Set("Location", test.header)
			}
			w.WriteHeader(test.status)
			if test.status != 204 {
				io.WriteString(w, `{"verdict":"allow"}`)
			}
		}))
		c := Caller{Secret: secrets, Transport: to{s}}
		v, err := c.Judge(t.Context(), job, requirements.Gate{Name: "cost", Endpoint: endpoints.Endpoint{URL: "https://cost.example/", Secret: keyARN}}, []byte(plan))
		s.Close()
		if err != nil || len(v.Mistakes) != 1 || !strings.Contains(v.Mistakes[0], test.want) || calls.Load() != test.calls {
			t.Errorf("%s: %+v %v, %d calls", name, v, err, calls.Load())
		}
		for first := <-ids; len(ids) > 0; {
			if id := <-ids; id != first {
				t.Errorf("%s: another attempt has the ID %s, and the first %s", name, id, first)
			}
		}
	}
}

// large answers with a body that has no end for all that anybody reads of it, and counts that.
type large struct{ read int }

func (x *large) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(io.LimitReader(x, 16<<20))}, nil
}

func (x *large) Read(p []byte) (int, error) {
	x.read += len(p)
	return len(p), nil
}

// TestLargeAnswer carries out an attack: an endpoint answers more than the process has memory. It holds that the rest is not read.
func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	var x large
	c := Caller{Secret: secrets, Transport: &x}
	v, err := c.Judge(t.Context(), job, requirements.Gate{Name: "cost", Endpoint: endpoints.Endpoint{URL: "https://cost.example/", Secret: keyARN}}, []byte(plan))
	if err != nil || len(v.Mistakes) != 1 || !strings.Contains(v.Mistakes[0], "more than 65536 bytes") || x.read > 4*maxAnswer {
		t.Errorf("%+v %v, %d bytes are read", v, err, x.read)
	}
}

// TestNoVerdict has gates that cannot be asked, each of which says why.
func TestNoVerdict(t *testing.T) {
	t.Parallel()
	hook := endpoints.Endpoint{URL: "https://cost.example/?token=hidden", Secret: keyARN}
	short := func(context.Context, string) (string, error) { return "whsec_", nil }
	broken := transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	for want, test := range map[string]struct {
		c Caller
		e endpoints.Endpoint
	}{
		"functions of AWS Lambda cannot be invoked here":       {Caller{}, endpoints.Endpoint{Function: "arn"}},
		"secrets of AWS Secrets Manager cannot be read here":   {Caller{}, hook},
		"secret:other cannot be read: denied":                  {Caller{Secret: secrets}, endpoints.Endpoint{URL: hook.URL, Secret: "secret:other"}},
		"is not a key as Standard Webhooks has them":           {Caller{Secret: short}, hook},
		"only https URLs are followed":                         {Caller{Secret: secrets, Transport: broken}, endpoints.Endpoint{URL: "http://cost.example", Secret: keyARN}},
		"no connection is made to the address 127.0.0.1 here":  {Caller{Secret: secrets}, endpoints.Endpoint{URL: "https://127.0.0.1:9001/2018-06-01/runtime", Secret: keyARN}},
		"no connection is made to the address 169.254.169.254": {Caller{Secret: secrets}, endpoints.Endpoint{URL: "https://169.254.169.254/latest", Secret: keyARN}},
		"no connection is made to the address 10.0.0.1 here":   {Caller{Secret: secrets}, endpoints.Endpoint{URL: "https://10.0.0.1/", Secret: keyARN}},
		"connection refused":                                   {Caller{Secret: secrets, Transport: broken}, hook},
	} {
		v, err := test.c.Judge(t.Context(), job, requirements.Gate{Name: "g", Endpoint: test.e}, []byte(plan))
		if err != nil || len(v.Mistakes) != 1 || !strings.Contains(v.Mistakes[0], want) || strings.Contains(v.Mistakes[0], "hidden") {
			t.Errorf("%s: %+v %v", want, v, err)
		}
	}
	v, err := new(Caller).Judge(t.Context(), job, requirements.Gate{}, []byte(`"`+strings.Repeat("x", maxRequest)+`"`))
	if err != nil || len(v.Mistakes) != 1 || !strings.Contains(v.Mistakes[0], "a request has at most") {
		t.Errorf("a long plan: %v %v", v, err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSilence holds that a gate has its time, and that a run which is stopped meanwhile has no verdict at all.
func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := Caller{Invoke: func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return []byte(`{"verdict":"allow"}`), ctx.Err()
		}}
		g := requirements.Gate{Name: "slow", Endpoint: endpoints.Endpoint{Function: "arn", Timeout: 3 * time.Second}}
		began := time.Now()
		v, err := c.Judge(t.Context(), job, g, []byte(plan))
		if err != nil || len(v.Mistakes) != 1 || v.Mistakes[0] != "there was no answer within 3 s" || time.Since(began) != 3*time.Second {
			t.Errorf("%+v %v after %v", v, err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Judge(ctx, job, g, []byte(plan)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}
