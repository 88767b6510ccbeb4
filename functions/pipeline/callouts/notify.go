package callouts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// A notice is the message of a notification. Its fields are documented for users, and none is ever removed.
type notice struct {
	Type      string     `json:"type"` // "notification"
	Timestamp time.Time  `json:"timestamp"`
	Data      noticeData `json:"data"`
}

type noticeData struct {
	ID           string    `json:"id"` // the same in each repetition
	Notification string    `json:"notification"`
	Repository   string    `json:"repository"`
	PullRequest  int       `json:"pull_request"`
	URL          string    `json:"url"`
	Outcomes     []outcome `json:"outcomes"`
}

type outcome struct {
	Outcome   string   `json:"outcome"`
	Project   string   `json:"project"`
	Dir       string   `json:"dir"`
	Workspace string   `json:"workspace"`
	SHA       string   `json:"sha"`
	Actor     string   `json:"actor"` // login; "" for a push
	Changes   *changes `json:"changes"`
}

// Notify delivers a notice. The answer is ignored if it is a success.
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

// noticeOf returns the message in the form that the endpoint expects.
func noticeOf(n jobs.Notice, id string) ([]byte, error) {
	first := n.Happened[0].Run.Pull
	told := comment.Message{Repo: first.Repository(), Number: first.Number, URL: n.URL}
	data := noticeData{ID: id, Notification: n.Notification.Name, Repository: told.Repo, PullRequest: told.Number, URL: n.URL}
	for _, h := range n.Happened {
		r := h.Run
		told.Outcomes = append(told.Outcomes, comment.Outcome{Project: r.Project, Standing: h.Standing(), Actor: r.Asked.By, Counts: h.Counts})
		data.Outcomes = append(data.Outcomes, outcome{string(h.Outcome), r.Project, r.Spec.Dir, r.Workspace, r.Spec.Head, r.Asked.By, changed(h.Counts)})
	}
	if n.Notification.Slack != "" {
		return json.Marshal(map[string]string{"text": told.Slack()})
	}
	return json.Marshal(notice{"notification", time.Now().UTC().Truncate(time.Second), data})
}
