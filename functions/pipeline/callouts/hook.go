package callouts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A step is the request to a hook. Its fields are documented for users, and none is ever removed.
type step struct {
	Type      string    `json:"type"` // "hook"
	Timestamp time.Time `json:"timestamp"`
	Data      stepData  `json:"data"`
}

type stepData struct {
	ID          string `json:"id"` // the same in each repetition
	Hook        string `json:"hook"`
	Event       string `json:"event"`
	Repository  string `json:"repository"`
	PullRequest int    `json:"pull_request"`
	SHA         string `json:"sha"`
	Actor       string `json:"actor"` // login; "" for a push
	Project     string `json:"project"`
	Dir         string `json:"dir"`
	Workspace   string `json:"workspace"`
	// Plan is the name of the plan, if there is one. Options are the options of the plan, as people type them.
	Plan    string   `json:"plan,omitempty"`
	Options []string `json:"options,omitempty"`
	Removed bool     `json:"removed,omitempty"` // the pull request removes the project: its objects are destroyed
	// Outcome and Changes are those of the plan or the apply, for a hook after it.
	Outcome string   `json:"outcome,omitempty"` // "success" or "failure"
	Changes *changes `json:"changes,omitempty"`
}

// changes are numbers of objects.
type changes struct {
	Import  int `json:"import"`
	Add     int `json:"add"`
	Change  int `json:"change"`
	Destroy int `json:"destroy"`
	Forget  int `json:"forget"`
}

// Step calls a hook. The error is that of ctx.
func (c *Caller) Step(ctx context.Context, s jobs.Step) (reasons.Hooked, error) {
	out := reasons.Hooked{Hook: s.Hook.Name, Event: string(s.Event)}
	r := s.Run
	data := stepData{
		ID: s.ID(), Hook: s.Hook.Name, Event: string(s.Event), Repository: r.Pull.Repository(), PullRequest: r.Pull.Number,
		SHA: r.Spec.Head, Actor: r.Asked.By, Project: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace, Plan: r.Plan.Hash, Options: r.Spec.Options.Words(), Removed: r.Spec.Removed,
	}
	if !s.Event.Before() {
		data.Changes = changed(s.Counts)
		if data.Outcome = "success"; s.Failed {
			data.Outcome = "failure"
		}
	}
	body, err := json.Marshal(step{"hook", time.Now().UTC().Truncate(time.Second), data})
	if err != nil {
		return out, fmt.Errorf("describe the run for the hook %s: %w", s.Hook.Name, err)
	}
	var said verdict
	answer, err := c.call(ctx, s.Hook.Endpoint, "msg_"+data.ID, time.Now(), body)
	if err == nil {
		said, err = parseStep(answer, s.Event)
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("call the hook %s: %w", s.Hook.Name, context.Cause(ctx))
	}
	if err != nil {
		out.Mistake = c.message(err.Error())
		return out, nil
	}
	out.Refuses = said.Verdict == "deny"
	out.Messages, out.More = c.messages(slices.Concat(said.Messages, said.Warnings))
	return out, nil
}

func changed(c counting.Counts) *changes {
	return &changes{c.Import, c.Add, c.Change, c.Destroy, c.Forget}
}

// parseStep parses the answer of a hook. Unlike a gate, a hook may have nothing to say. After a plan or an
// apply there is nothing to refuse.
func parseStep(answer []byte, e endpoints.HookEvent) (v verdict, err error) {
	if len(bytes.TrimSpace(answer)) == 0 || string(bytes.TrimSpace(answer)) == "null" {
		return v, nil
	}
	if !decode(answer, &v) {
		return verdict{}, errors.New(`its answer is neither empty nor a JSON object, with texts in messages, and verdict, "allow" or "deny"`)
	}
	switch {
	case v.Verdict == "" || v.Verdict == "allow" || v.Verdict == "deny" && e.Before():
		return v, nil
	case v.Verdict == "deny":
		return verdict{}, fmt.Errorf(`its verdict is "deny", and there is nothing to deny on %s`, e)
	}
	return verdict{}, fmt.Errorf("its verdict is %q, and neither \"allow\" nor \"deny\"", clip(v.Verdict, 40))
}
