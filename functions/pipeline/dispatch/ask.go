package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// The names of answers that are not to a comment, which have its ID.
const (
	pushAsk  = "push"  // why a pull request is not planned
	mergeAsk = "merge" // what came of applying on merge
	closeAsk = "close" // what is left behind
	rerunAsk = "rerun" // begins those of what came of the button of a check run: one a delivery
)

// An Ask is an answer that is being put together: those who carry out parts of a command
// write them here, and the one who writes comments makes a comment of it.
type Ask struct {
	Pull pipeline.Pull
	Name string
	// Message is the event that is answered, of a comment.
	Message string
	Parts   []Part
	// Told says that all of it is said.
	Told bool
}

// A Part is the answer to a command for one project, or to one that is for none.
type Part struct {
	ID    string // unique in the answer
	Reply json.RawMessage
	// Body, if there is a key, is the artifact that the reply's body is in.
	Body pipeline.Artifact
}

func askDir(p pipeline.Pull) string { return fmt.Sprintf("ask/%d/%d", p.Repo.ID, p.Number) }

// askOf names the answer to a message; "" for one that is not answered.
func askOf(m pipeline.Message) string {
	switch m.Kind {
	case pipeline.Commanded:
		if m.Comment == 0 {
			return rerunAsk + "-" + m.ID
		}
		return strconv.FormatInt(m.Comment, 10)
	case pipeline.Closed:
		return mergeAsk
	}
	return ""
}

// Answered reports whether an answer to a comment is there, or was begun.
func (p *Pipeline) Answered(ctx context.Context, pull pipeline.Pull, comment int64) (bool, error) {
	rec, err := p.Records.Get(ctx, askDir(pull)+"/"+strconv.FormatInt(comment, 10))
	return rec.Version != "", err
}

// comment returns the ID of the comment that is answered, 0 if it is none.
func (a Ask) comment() int64 {
	id, _ := strconv.ParseInt(a.Name, 10, 64)
	return id
}

// has reports whether there are parts whose IDs begin so.
func (a Ask) has(prefix string) bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool { return strings.HasPrefix(p.ID, prefix) })
}

// part makes one of a reply.
func part(id string, r comment.Reply) Part {
	data, err := comment.MarshalReply(r)
	if err != nil {
		panic(fmt.Sprintf("pipeline: %v", err))
	}
	return Part{ID: id, Reply: data}
}

// planPart and applyPart are about the plan or apply that the run speaks of.
func planPart(r runs.Run, reply comment.Reply) Part {
	return part(fmt.Sprintf("plan %s %d", r.Target(), r.Attempt), reply)
}

func applyPart(r runs.Run, reply comment.Reply) Part {
	return part(fmt.Sprintf("apply %s %d", r.Target(), r.Try), reply)
}

// reply puts parts into an answer, in the place of those with the same IDs. A part that
// says that something is under way does not replace one that says what came of it. With
// the name "" nobody waits for an answer.
func (t *task) reply(ctx context.Context, name string, parts ...Part) error {
	if name == "" || len(parts) == 0 {
		return nil
	}
	return t.changeAsk(ctx, name, func(a *Ask) {
		for _, p := range parts {
			i := slices.IndexFunc(a.Parts, func(x Part) bool { return x.ID == p.ID })
			switch {
			case i < 0:
				a.Parts = append(a.Parts, p)
			case p.pending():
				continue
			default:
				a.Parts[i] = p
			}
			a.Told = false
		}
	})
}

func (p Part) pending() bool {
	r, err := comment.UnmarshalReply(p.Reply)
	_, is := r.(comment.Pending)
	return err == nil && is
}

// answer makes replies the whole answer, if they are not it already.
func (t *task) answer(ctx context.Context, name string, replies ...comment.Reply) error {
	var parts []Part
	for i, r := range replies {
		parts = append(parts, part(strconv.Itoa(i), r))
	}
	return t.changeAsk(ctx, name, func(a *Ask) {
		if !slices.EqualFunc(a.Parts, parts, func(x, y Part) bool { return x.ID == y.ID && string(x.Reply) == string(y.Reply) }) {
			a.Parts, a.Told = parts, false
		}
	})
}

// changeAsk changes an answer, or begins one.
func (t *task) changeAsk(ctx context.Context, name string, change func(*Ask)) error {
	p := t.message.Pull
	_, err := t.change(ctx, askDir(p)+"/"+name, func(old []byte) ([]byte, error) {
		a := Ask{Pull: p, Name: name}
		if old != nil {
			if err := json.Unmarshal(old, &a); err != nil {
				return nil, fmt.Errorf("the record is damaged: %w", err)
			}
		}
		before := string(pipeline.Encode(a))
		change(&a)
		after := pipeline.Encode(a)
		if old != nil && string(after) == before {
			return nil, errAsIs
		}
		return after, nil
	})
	return err
}

// asks returns the answers of the pull request that are not told yet.
func (t *task) asks(ctx context.Context) ([]Ask, error) {
	list, err := t.Records.List(ctx, askDir(t.message.Pull))
	if err != nil {
		return nil, fmt.Errorf("list answers: %w", err)
	}
	var out []Ask
	for _, rec := range list {
		var a Ask
		if err := json.Unmarshal(rec.Value, &a); err != nil {
			return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
		if !a.Told {
			out = append(out, a)
		}
	}
	return out, nil
}
