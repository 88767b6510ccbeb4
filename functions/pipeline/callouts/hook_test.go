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
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// stepOf is a step of an endpoint.
func stepOf(on endpoints.HookEvent, e endpoints.Endpoint) jobs.HookCall {
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: job.Repo, Number: 7}, Project: "net", Workspace: "default"}, Spec: runs.Spec{Head: "abc", Dir: "nets/net"}, Asked: runs.Asked{By: "zoe", Attempt: 2, Try: 5}}
	return jobs.HookCall{Hook: endpoints.Hook{Name: "ticket", Endpoint: e}, Event: on, Run: r, Counts: counting.Counts{Add: 1, Destroy: 2}}
}

// TestStep has a receiver check the signature, and that a repetition has the same ID.
func TestStep(t *testing.T) {
	t.Parallel()
	var got []step
	var ids []string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		hook, bad := standardwebhooks.NewWebhook(key)
		var x step
		if bad := errors.Join(err, bad, hook.Verify(body, r.Header), json.Unmarshal(body, &x)); bad != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, bad)
		}
		got, ids = append(got, x), append(ids, r.Header.Get("webhook-id"))
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	c := Caller{Secret: secrets, Transport: to{s}}
	e := endpoints.Endpoint{URL: "https://chat.example/x", Secret: keyARN}
	for _, on := range []endpoints.HookEvent{endpoints.BeforeApply, endpoints.AfterApply, endpoints.AfterApply} {
		said, err := c.Hook(t.Context(), stepOf(on, e))
		if diff := cmp.Diff(reasons.Hooked{Hook: "ticket", Event: string(on)}, said); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	if ids[1] != ids[2] || ids[0] == ids[1] || ids[0] != "msg_"+got[0].Data.ID {
		t.Errorf("the IDs are %q", ids)
	}
	want := stepData{ID: got[0].Data.ID, Hook: "ticket", Event: "before_apply", Repository: "acme/infra", PullRequest: 7, SHA: "abc", Actor: "zoe", Project: "net", Dir: "nets/net", Workspace: "default"}
	if diff := cmp.Diff(want, got[0].Data); diff != "" || got[0].Type != "hook" {
		t.Error(diff)
	}
	want.ID, want.Event, want.Outcome, want.Changes = got[1].Data.ID, "after_apply", "success", &changes{Add: 1, Destroy: 2}
	if diff := cmp.Diff(want, got[1].Data); diff != "" {
		t.Error(diff)
	}
}

// TestStepID holds that each step has an ID of its own.
func TestStepID(t *testing.T) {
	t.Parallel()
	base := stepOf(endpoints.BeforeApply, endpoints.Endpoint{})
	others := map[string]func(*jobs.HookCall){
		"hook": func(s *jobs.HookCall) { s.Hook.Name = "x" }, "event": func(s *jobs.HookCall) { s.Event = endpoints.AfterApply }, "project": func(s *jobs.HookCall) { s.Run.Project = "x" },
		"pull request": func(s *jobs.HookCall) { s.Run.Pull.Number = 8 }, "apply": func(s *jobs.HookCall) { s.Run.Asked.Try = 6 },
		"plan": func(s *jobs.HookCall) { s.Event = endpoints.BeforePlan }, "another plan": func(s *jobs.HookCall) { s.Event, s.Run.Asked.Attempt = endpoints.BeforePlan, 3 },
		"plan made": func(s *jobs.HookCall) { s.Event = endpoints.AfterPlan }, "plan failed": func(s *jobs.HookCall) { s.Event, s.Failed = endpoints.AfterPlan, true },
		"plan of another state": func(s *jobs.HookCall) { s.Event, s.State.Serial = endpoints.AfterPlan, 4 }, "plan with other changes": func(s *jobs.HookCall) { s.Event, s.Counts.Add = endpoints.AfterPlan, 3 },
	}
	seen := map[string]string{base.ID(): "itself"}
	for name, change := range others {
		s := base
		change(&s)
		if other := seen[s.ID()]; other != "" {
			t.Errorf("another %s has the ID of %s", name, other)
		}
		seen[s.ID()] = name
	}
}

// TestStepAnswers holds what an answer means before and after something.
func TestStepAnswers(t *testing.T) {
	t.Parallel()
	const rubbish = "its answer is neither empty nor a JSON object"
	for answer, want := range map[string]struct{ before, after reasons.Hooked }{
		"":                                {},
		" \n":                             {},
		"null":                            {},
		"{}":                              {},
		`{"messages":["a","is hunter2"]}`: {reasons.Hooked{Messages: []string{"a", "is ***"}}, reasons.Hooked{Messages: []string{"a", "is ***"}}},
		`{"verdict":"allow","warnings":["a\nb"],"statusCode":200}`: {reasons.Hooked{Messages: []string{"a b"}}, reasons.Hooked{Messages: []string{"a b"}}},
		`{"verdict":"deny","messages":["no"]}`:                     {reasons.Hooked{Refuses: true, Messages: []string{"no"}}, reasons.Hooked{Mistake: `its verdict is "deny", and there is nothing to deny on after_plan`}},
		`{"messages":[` + strings.Repeat(`"m",`, 25) + `"m"]}`:     {reasons.Hooked{Messages: strings.Split(strings.Repeat("m ", 19)+"m", " "), More: 6}, reasons.Hooked{Messages: strings.Split(strings.Repeat("m ", 19)+"m", " "), More: 6}},
		`{"verdict":"deny","Verdict":"allow"}`:                     {reasons.Hooked{Mistake: `its answer is neither empty nor a JSON object, with texts in messages, and verdict, "allow" or "deny"`}, reasons.Hooked{Mistake: `its answer is neither empty nor a JSON object, with texts in messages, and verdict, "allow" or "deny"`}},
		`{"verdict":"maybe"}`:                                      {reasons.Hooked{Mistake: `its verdict is "maybe", and`}, reasons.Hooked{Mistake: `its verdict is "maybe", and`}},
		`{"messages":"a"}`:                                         {reasons.Hooked{Mistake: rubbish}, reasons.Hooked{Mistake: rubbish}},
		"<html>":                                                   {reasons.Hooked{Mistake: rubbish}, reasons.Hooked{Mistake: rubbish}},
		"{} {}":                                                    {reasons.Hooked{Mistake: rubbish}, reasons.Hooked{Mistake: rubbish}},
	} {
		c := Caller{
			Invoke: func(context.Context, string, []byte) ([]byte, error) { return []byte(answer), nil },
			Hide:   func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		}
		for on, want := range map[endpoints.HookEvent]reasons.Hooked{endpoints.BeforePlan: want.before, endpoints.AfterPlan: want.after} {
			got, err := c.Hook(t.Context(), stepOf(on, endpoints.Endpoint{Function: "arn"}))
			want.Hook, want.Event = "ticket", string(on)
			if want.Mistake != "" && strings.HasPrefix(got.Mistake, want.Mistake) {
				want.Mistake = got.Mistake
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s on %s: %v %s", answer, on, err, diff)
			}
			if got.Against() != (on == endpoints.BeforePlan && (want.Refuses || want.Mistake != "")) {
				t.Errorf("%s on %s is against it: %t", answer, on, got.Against())
			}
		}
	}
}

// TestPrograms holds that programs are run by their names, and only where somebody has chosen them.
func TestPrograms(t *testing.T) {
	t.Parallel()
	e := endpoints.Endpoint{Program: "ticket"}
	got, err := (&Caller{}).Hook(t.Context(), stepOf(endpoints.BeforePlan, e))
	if err != nil || !strings.Contains(got.Mistake, "-hook-programs") || !got.Against() {
		t.Errorf("%+v %v", got, err)
	}
	c := &Caller{Program: func(_ context.Context, name string, input []byte) ([]byte, error) {
		if name != "ticket" || !json.Valid(input) {
			t.Errorf("%s %s", name, input)
		}
		return []byte(`{"messages":["CHG-7"]}`), nil
	}}
	if got, err = c.Hook(t.Context(), stepOf(endpoints.BeforePlan, e)); err != nil || len(got.Messages) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Hook(ctx, stepOf(endpoints.BeforePlan, e)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestAccepted holds that each success of HTTP is an answer: a receiver with a queue behind it answers 202.
func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 202, 204} {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		c := Caller{Secret: secrets, Transport: to{s}}
		h := endpoints.Hook{Name: "ticket", Endpoint: endpoints.Endpoint{URL: "https://tickets.example/", Secret: keyARN}}
		said, err := c.Hook(t.Context(), jobs.HookCall{Hook: h, Event: endpoints.BeforeApply})
		s.Close()
		if err != nil || said.Against() {
			t.Errorf("%d: %+v, %v", status, said, err)
		}
	}
}
