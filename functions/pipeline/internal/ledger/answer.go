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

// An Answer is one comment in the making: those who carry out commands add replies, and the one
// writer of comments turns them into text.
type Answer struct {
	Pull pipeline.Pull
	Name string
	// Message is the ID of the message that brought the comment to answer.
	Message string
	// At is the time of the comment to answer, by GitHub's clock: the answer is not older.
	At      time.Time `json:",omitzero"`
	Replies []Reply   `json:"Parts"`
	// Synced is set if the comment on GitHub has all replies.
	Synced bool `json:"Told"`
	// Promised are the IDs of replies that people may have read as pending, First those of all that were there when they
	// read that first. Apart is set if the result is, or
	// may be, a comment of its own.
	Promised []string `json:",omitempty"`
	First    []string `json:",omitempty"`
	Apart    bool     `json:",omitempty"`
}

// A Reply is the outcome of a command for one project, or of one that is for none.
type Reply struct {
	ID   string          // unique in the answer
	Data json.RawMessage `json:"Reply"` // of comment.MarshalReply
	// Body, if it has a key, is the artifact with the reply's body.
	Body pipeline.Artifact
}

func AnswerDir(p pipeline.Pull) string { return fmt.Sprintf("ask/%d/%d", p.Repo.ID, p.Number) }

// Answered reports whether there is an answer to a comment, or the beginning of one.
func (ld Ledger) Answered(ctx context.Context, pull pipeline.Pull, comment int64) (bool, error) {
	rec, err := ld.Records.Get(ctx, AnswerDir(pull)+"/"+strconv.FormatInt(comment, 10))
	return rec.Version != "", err
}

// Comment returns the ID of the comment to answer, 0 if the answer is not to a comment.
func (a Answer) Comment() int64 {
	id, _ := strconv.ParseInt(a.Name, 10, 64)
	return id
}

// Has reports whether there are replies whose IDs begin so.
func (a Answer) Has(prefix string) bool {
	return slices.ContainsFunc(a.Replies, func(r Reply) bool { return strings.HasPrefix(r.ID, prefix) })
}

// Pending reports whether the outcome is still to come.
func (r Reply) Pending() bool {
	reply, err := comment.UnmarshalReply(r.Data)
	_, is := reply.(comment.Pending)
	return err == nil && is
}

// The names of answers that are not to a comment. An answer to a comment has the comment's ID.
const (
	PushAnswer      = "push"      // refusals and failures after a push
	MergeAnswer     = "merge"     // the outcomes of applies on merge
	CloseAnswer     = "close"     // applies that will not be merged
	CheckAnswer     = "check"     // plans that became others when another pull request was applied
	QueueAnswer     = "queue"     // the beginning of the names of those about merge groups, one a group
	AutomergeAnswer = "automerge" // the beginning of the names of refused merges, one a head
	RerunAnswer     = "rerun"     // the beginning of the names of answers to the button of a check run, one a delivery
)
