package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// An Answer has the replies for a comment that Lockstep will write. The handlers of commands add replies. The
// handler that writes comments turns them into text.
type Answer struct {
	Pull pipeline.Pull
	Name string
	// Message is the ID of the message with the comment to answer.
	Message string
	// At is the time of the comment that is answered, by GitHub's clock. The answer itself is not older.
	At      time.Time `json:",omitzero"`
	Replies []Reply   `json:"Parts"`
	// Synced is set if the comment on GitHub contains all replies.
	Synced bool `json:"Told"`
	// Promised are the IDs of replies that people may have read as pending. First are the IDs of all replies
	// that existed when people first read a pending one. Apart is set if a separate comment has, or may have,
	// the result.
	Promised []string `json:",omitempty"`
	First    []string `json:",omitempty"`
	Apart    bool     `json:",omitempty"`
	// Comments are the IDs of the comments on GitHub: of the answer and, if it is Apart, of the result.
	Comments []int64 `json:",omitempty"`
	// Minimized is set once GitHub was asked to fold the comment, because newer plans have replaced all of its plans.
	Minimized bool `json:",omitempty"`
}

// A Reply is the result of a command: for one project, or for no certain project.
type Reply struct {
	ID   string          // unique in the answer
	Data json.RawMessage `json:"Reply"` // made by comment.MarshalReply
	// Body is the artifact with the reply's long text; its Key is "" if there is none.
	Body pipeline.Artifact
}

func AnswerDir(p pipeline.Pull) string { return fmt.Sprintf("ask/%d/%d", p.Repo.ID, p.Number) }

// Answered reports whether the answer to a comment exists or was begun.
func (ld Ledger) Answered(ctx context.Context, pull pipeline.Pull, comment int64) (bool, error) {
	rec, err := ld.Records.Get(ctx, AnswerDir(pull)+"/"+strconv.FormatInt(comment, 10))
	return rec.Version != "", err
}

// Comment returns the ID of the comment that is answered; 0 if the answer is not for a comment.
func (a Answer) Comment() int64 {
	id, _ := strconv.ParseInt(a.Name, 10, 64)
	return id
}

// Has reports whether the answer has a reply whose ID begins with prefix.
func (a Answer) Has(prefix string) bool {
	return slices.ContainsFunc(a.Replies, func(r Reply) bool { return strings.HasPrefix(r.ID, prefix) })
}

// PlanReplyID returns the ID of the reply about a plan. attempt is its number among the plans of its run, and
// target the target of the run.
func PlanReplyID(target string, attempt int) string {
	return fmt.Sprintf("plan %s %d", target, attempt)
}

// PlansOnly reports whether all replies are about plans.
func (a Answer) PlansOnly() bool {
	return len(a.Replies) > 0 && !slices.ContainsFunc(a.Replies, func(r Reply) bool { return !strings.HasPrefix(r.ID, "plan ") })
}

// Replaced reports whether each plan of an answer about plans has a newer one. latest has the number of the last
// plan of each target.
func (a Answer) Replaced(latest map[string]int) bool {
	for _, r := range a.Replies {
		target, attempt, _ := strings.Cut(strings.TrimPrefix(r.ID, "plan "), " ")
		if n, err := strconv.Atoi(attempt); err != nil || n >= latest[target] {
			return false
		}
	}
	return a.PlansOnly()
}

// Pending reports whether the reply only says that the command is still being carried out.
func (r Reply) Pending() bool {
	reply, err := comment.UnmarshalReply(r.Data)
	_, is := reply.(comment.Pending)
	return err == nil && is
}

// Names of answers to events that are not comments. The name of an answer to a comment is the comment's ID.
const (
	PushAnswer      = "push"      // refusals and failures after a push
	MergeAnswer     = "merge"     // the outcomes of applies on merge
	CloseAnswer     = "close"     // applies that will not be merged
	CheckAnswer     = "check"     // plans that have changed because another pull request was applied
	QueueAnswer     = "queue"     // a prefix, for merge groups: one answer for each group
	AutomergeAnswer = "automerge" // a prefix, for refused merges: one answer for each head
	RerunAnswer     = "rerun"     // a prefix, for the button of a check run: one answer for each delivery
)
