package callouts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

const slackURL = "https://hooks.slack.example/services/T0/B0/hunter2"

// told is a notice of two outcomes for an endpoint.
func told(e endpoints.Endpoint) jobs.Notice {
	r := stepOf(endpoints.AfterApply, e).Run
	r.Phase, r.Apply.Done = runs.Applied, counting.Counts{Add: 1}
	app := r
	app.Project, app.Phase = "app", runs.ApplyFailed
	n := jobs.Notice{Notification: endpoints.Notification{Name: "chat", Endpoint: e}, URL: "https://github.example/acme/infra/pull/7"}
	for _, r := range []runs.Run{r, app} {
		h, _ := jobs.OutcomeOf(r)
		n.Happened = append(n.Happened, h)
	}
	return n
}

// TestNotifySlack posts to the URL in the secret, which no error has.
func TestNotifySlack(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:lockstep-call/slack"
	var bodies []string
	code := 200
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Host+r.URL.Path+" "+string(body))
		w.WriteHeader(code)
		io.WriteString(w, "ok")
	}))
	defer s.Close()
	secret := slackURL + "\n"
	c := Caller{Transport: to{s}, Secret: func(_ context.Context, asked string) (string, error) {
		if asked != arn {
			return "", errors.New("denied")
		}
		return secret, nil
	}}
	if err := c.Notify(t.Context(), told(endpoints.Endpoint{Slack: arn})); err != nil {
		t.Error(err)
	}
	want := `hooks.slack.example/services/T0/B0/hunter2 {"text":"*acme/infra* \u003chttps://github.example/acme/infra/pull/7|#7\u003e\n• *net*: applied – 1 added, 0 changed, 0 destroyed (zoe)\n• *app*: *failed to apply* – 1 added, 0 changed, 0 destroyed (zoe)"}`
	if len(bodies) != 1 || bodies[0] != want {
		t.Errorf("it got %q", bodies)
	}
	code = 403
	broken := map[string]string{"its answer is 403": secret}
	for _, bad := range []string{"http" + strings.TrimPrefix(slackURL, "https"), "hunter2", "", "https:///hunter2", "https://hunter2\x7f/"} {
		broken["is not the URL of an incoming webhook: "+bad] = bad
	}
	for want, text := range broken {
		secret = text
		want, _, _ = strings.Cut(want, ": ")
		err := c.Notify(t.Context(), told(endpoints.Endpoint{Slack: arn}))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "the notification chat was not delivered") {
			t.Errorf("%q: %v", text, err)
		}
	}
	c.Transport, secret = nil, "https://127.0.0.1/hunter2"
	if err := c.Notify(t.Context(), told(endpoints.Endpoint{Slack: arn})); err == nil || !strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an address of ours: %v", err)
	}
}

// TestNotify publishes the outcomes, with an ID that is the same in a repetition.
func TestNotify(t *testing.T) {
	t.Parallel()
	var got []notice
	c := Caller{Publish: func(_ context.Context, arn string, message []byte) error {
		var n notice
		if err := json.Unmarshal(message, &n); err != nil || arn != "arn" {
			t.Errorf("%s: %v", arn, err)
		}
		got = append(got, n)
		return nil
	}}
	n := told(endpoints.Endpoint{Topic: "arn"})
	later := told(endpoints.Endpoint{Topic: "arn"})
	later.Happened[0].Run.Asked.Try++
	for _, n := range []jobs.Notice{n, n, later, {Notification: n.Notification}} {
		if err := c.Notify(t.Context(), n); err != nil {
			t.Error(err)
		}
	}
	if len(got) != 3 || got[0].Data.ID != got[1].Data.ID || got[0].Data.ID == got[2].Data.ID {
		t.Fatalf("it got %+v", got)
	}
	want := noticeData{ID: got[0].Data.ID, Notification: "chat", Repository: "acme/infra", PullRequest: 7, URL: n.URL, Outcomes: []outcome{
		{"applied", "net", "nets/net", "default", "abc", "zoe", &changes{Add: 1}}, {"apply_failed", "app", "nets/net", "default", "abc", "zoe", &changes{Add: 1}},
	}}
	if diff := cmp.Diff(want, got[0].Data); diff != "" || got[0].Type != "notification" {
		t.Error(diff)
	}
	for _, e := range []endpoints.Endpoint{{Topic: "arn"}, {Slack: "arn"}, {Function: "arn"}, {Program: "p"}} {
		if err := (&Caller{}).Notify(t.Context(), told(e)); err == nil || !strings.Contains(err.Error(), "the notification chat was not delivered") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// TestNotifyOfAMerge holds that projects which a merge leaves are told as such, also where their plans had failed.
func TestNotifyOfAMerge(t *testing.T) {
	t.Parallel()
	n := told(endpoints.Endpoint{Slack: "x"})
	n.Happened = nil
	for _, was := range []runs.Phase{runs.Planned, runs.PlanFailed} {
		r := stepOf(endpoints.AfterApply, endpoints.Endpoint{}).Run
		r.Phase, r.End.Was, r.End.Fate, r.Plan.Applyable, r.Asked.By = runs.Dropped, was, runs.Merged, true, ""
		h, name := jobs.OutcomeOf(r)
		if h.Outcome != endpoints.OutcomeNotApplied || name == "" {
			t.Errorf("%s: %q %q", was, h.Outcome, name)
		}
		n.Happened = append(n.Happened, h)
	}
	body, err := noticeOf(n, "x")
	if err != nil || strings.Count(string(body), "*merged, not applied*") != 2 {
		t.Errorf("%s, %v", body, err)
	}
}
