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

// A step is what Lockstep sends to a hook. cmd/docs/reference/requests.md is generated from these fields. No
// field is ever removed.
type step struct {
	// Type is always "hook".
	Type string `json:"type"`
	// Timestamp is when Lockstep made the request, in RFC 3339.
	Timestamp time.Time `json:"timestamp"`
	Data      stepData  `json:"data"`
}

type stepData struct {
	// ID is the same in each repetition of the request.
	ID string `json:"id"`
	// Hook is the label of the hook block.
	Hook string `json:"hook"`
	// Event is "before_plan", "after_plan", "before_apply" or "after_apply".
	Event string `json:"event"`
	// Repository is OWNER/NAME.
	Repository string `json:"repository"`
	// PullRequest is the number of the pull request.
	PullRequest int `json:"pull_request"`
	// SHA is the full ID of the commit that is planned or applied.
	SHA string `json:"sha"`
	// Actor is the login of the person who asked for the plan or the apply, and empty for a push.
	Actor string `json:"actor"`
	// Project is the name of the project.
	Project string `json:"project"`
	// Dir is the project's directory, as a path from the root of the repository.
	Dir string `json:"dir"`
	// Workspace is the project's workspace.
	Workspace string `json:"workspace"`
	// Plan is the hash of the plan, once there is one.
	Plan string `json:"plan,omitempty"`
	// Options are the options of the plan, as in a comment.
	Options []string `json:"options,omitempty"`
	// Removed is true if the pull request removes the project, so that its objects are destroyed.
	Removed bool `json:"removed,omitempty"`
	// Outcome is "success" or "failure", after a plan or an apply.
	Outcome string `json:"outcome,omitempty"`
	// Changes are the numbers of objects that the plan changes. After an apply, they are the numbers of objects
	// that it has changed.
	Changes *changes `json:"changes,omitempty"`
}

// changes has the numbers of objects that a plan or an apply imports, creates, updates and destroys.
type changes struct {
	// Import is the number of objects to import.
	Import int `json:"import"`
	// Add is the number of objects to create. A replacement counts here and in destroy.
	Add int `json:"add"`
	// Change is the number of objects to update in place.
	Change int `json:"change"`
	// Destroy is the number of objects to destroy.
	Destroy int `json:"destroy"`
	// Forget is the number of objects to remove from the state, without destroying them.
	Forget int `json:"forget"`
}

// Hook calls a hook, and returns its answer. The error is nil unless ctx has ended.
func (c *Caller) Hook(ctx context.Context, s jobs.HookCall) (reasons.Hooked, error) {
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

// parseStep parses the answer of a hook, which may be empty. Only a hook before a plan or an apply can deny:
// after it, a denial is an error.
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
