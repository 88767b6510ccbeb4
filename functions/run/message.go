package run

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// A Message is what is to be done about one delivery: names and parsed commands
// only, nothing that could be out of date.
type Message struct {
	// ID is the delivery's.
	ID   string
	Pull Pull
	// Action is GitHub's word for what happened to the pull request; "" for a comment.
	Action string `json:",omitempty"`
	Merged bool   `json:",omitempty"`
	// Comment is the ID of a new comment, Actor its author, and Lines what it asks for.
	Comment int64          `json:",omitempty"`
	Actor   string         `json:",omitempty"`
	Lines   []comment.Line `json:",omitempty"`
}

// Group names what happens in order: all messages about one pull request.
func (m Message) Group() string { return fmt.Sprintf("%d/%d", m.Pull.Repo.ID, m.Pull.Number) }
