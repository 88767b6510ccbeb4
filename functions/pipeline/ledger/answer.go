package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// An Answer is an answer that is being put together: those who carry out parts of a command
// write them here, and the one who writes comments makes a comment of it.
type Answer struct {
	Pull pipeline.Pull
	Name string
	// Message is the event that is answered, of a comment.
	Message string
	Replies []Reply `json:"Parts"`
	// Synced is set if the comment on GitHub has all replies.
	Synced bool `json:"Told"`
}

// A Reply is the outcome of a command for one project, or of one that is for none.
type Reply struct {
	ID   string          // unique in the answer
	Data json.RawMessage `json:"Reply"` // of comment.MarshalReply
	// Body, if there is a key, is the artifact that the reply's body is in.
	Body pipeline.Artifact
}

func AnswerDir(p pipeline.Pull) string { return fmt.Sprintf("ask/%d/%d", p.Repo.ID, p.Number) }

// Answered reports whether an answer to a comment is there, or was begun.
func (ld Ledger) Answered(ctx context.Context, pull pipeline.Pull, comment int64) (bool, error) {
	rec, err := ld.Records.Get(ctx, AnswerDir(pull)+"/"+strconv.FormatInt(comment, 10))
	return rec.Version != "", err
}

// Comment returns the ID of the comment that is answered, 0 if it is none.
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

// The names of answers that are not to a comment, which have its ID.
const (
	PushAnswer  = "push"  // why a pull request is not planned
	MergeAnswer = "merge" // what came of applying on merge
	CloseAnswer = "close" // what is left behind
	RerunAnswer = "rerun" // begins those of what came of the button of a check run: one a delivery
)
