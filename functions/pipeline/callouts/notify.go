package callouts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A notice is what Lockstep sends as a notification. cmd/docs/reference/requests.md is generated from these
// fields. No field is ever removed.
type notice struct {
	// Type is always "notification".
	Type string `json:"type"`
	// Timestamp is when Lockstep made the request, in RFC 3339.
	Timestamp time.Time  `json:"timestamp"`
	Data      noticeData `json:"data"`
}

type noticeData struct {
	// ID is the same in each repetition of the request.
	ID string `json:"id"`
	// Notification is the label of the notify block.
	Notification string `json:"notification"`
	// Repository is OWNER/NAME.
	Repository string `json:"repository"`
	// PullRequest is the number of the pull request. For drift, it is the number of the issue, or 0 if there is none.
	PullRequest int `json:"pull_request"`
	// URL is the address of the pull request or the issue on GitHub.
	URL string `json:"url"`
	// Outcomes are the outcomes of one or more projects.
	Outcomes []outcome `json:"outcomes"`
}

type outcome struct {
	// Outcome is "planned", "unchanged", "plan_failed", "applied", "apply_failed", "apply_stopped", "not_applied",
	// "drift", "drift_over" or "out_of_date".
	Outcome string `json:"outcome"`
	// Project is the name of the project.
	Project string `json:"project"`
	// Dir is the project's directory, as a path from the root of the repository.
	Dir string `json:"dir"`
	// Workspace is the project's workspace.
	Workspace string `json:"workspace"`
	// SHA is the full ID of the commit that was planned or applied.
	SHA string `json:"sha"`
	// Actor is the login of the person who asked for the plan or the apply, and empty for a push.
	Actor string `json:"actor"`
	// Changes are the numbers of objects that the plan changes. After an apply, they are the numbers of objects
	// that it has changed.
	Changes *changes `json:"changes"`
}

// Notify sends a notification. It ignores the body of a successful answer.
func (c *Caller) Notify(ctx context.Context, n jobs.Notice) error {
	if len(n.Happened) == 0 {
		return nil
	}
	id := n.ID()
	body, err := noticeOf(n, id)
	if err != nil {
		return fmt.Errorf("describe the outcomes for the notification %s: %w", n.Notification.Name, err)
	}
	if _, err := c.call(ctx, n.Notification.Endpoint, "msg_"+id, time.Now(), body); err != nil {
		return errors.New(c.message(fmt.Sprintf("the notification %s was not delivered: %v", n.Notification.Name, err)))
	}
	return nil
}

// found returns what a look has found, in words; "" for the result of a plan or an apply.
func found(h jobs.Happened) string {
	switch h.Outcome {
	case endpoints.OutcomeDrift:
		return comment.DriftFound(h.Drifted)
	case endpoints.OutcomeDriftOver:
		return comment.DriftOver
	case endpoints.OutcomeOutOfDate:
		return comment.OutOfDate(h.Counts)
	}
	return ""
}

// noticeOf returns a notification in the form that its endpoint expects. id is the same in all attempts.
func noticeOf(n jobs.Notice, id string) ([]byte, error) {
	first := n.Happened[0].Run.Pull
	told := comment.Message{Repo: first.Repository(), Number: first.Number, URL: n.URL}
	data := noticeData{ID: id, Notification: n.Notification.Name, Repository: told.Repo, PullRequest: told.Number, URL: n.URL}
	for _, h := range n.Happened {
		r := h.Run
		told.Outcomes = append(told.Outcomes, comment.Outcome{Project: r.Project, Standing: h.Standing(), Actor: r.Asked.By, Counts: h.Counts, Found: found(h)})
		data.Outcomes = append(data.Outcomes, outcome{string(h.Outcome), r.Project, r.Spec.Dir, r.Workspace, r.Spec.Head, r.Asked.By, changed(h.Counts)})
	}
	if n.Notification.Slack != "" {
		return json.Marshal(map[string]string{"text": told.Slack()})
	}
	return json.Marshal(notice{"notification", time.Now().UTC().Truncate(time.Second), data})
}
