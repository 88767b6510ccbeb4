package comment

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Reply is the result of one command for one project. Its type is in the table [kinds]. A Reply is data
// rather than text: it is stored until all replies of an [Answer] exist.
type Reply interface{ markdown() string }

// kinds are all types of replies, by the names under which they are stored.
var kinds = reasons.Union[Reply]{
	"pending":       reflect.TypeFor[Pending](),
	"renewed":       reflect.TypeFor[PlanRenewal](),
	"queued plan":   reflect.TypeFor[QueuedPlan](),
	"planned":       reflect.TypeFor[Planned](),
	"superseded":    reflect.TypeFor[PlanSuperseded](),
	"done":          reflect.TypeFor[Done](),
	"failed":        reflect.TypeFor[Failed](),
	"refused":       reflect.TypeFor[Refused](),
	"recovered":     reflect.TypeFor[Recovered](),
	"queried":       reflect.TypeFor[Queried](),
	"proposed":      reflect.TypeFor[DriftProposed](),
	"shown":         reflect.TypeFor[Shown](),
	"stopping":      reflect.TypeFor[Stopping](),
	"stopped":       reflect.TypeFor[StoppedApply](),
	"locked":        reflect.TypeFor[Locked](),
	"lifted":        reflect.TypeFor[Lifted](),
	"unlocked":      reflect.TypeFor[Unlocked](),
	"overridden":    reflect.TypeFor[Overridden](),
	"misunderstood": reflect.TypeFor[Misunderstood](),
	"obeyed":        reflect.TypeFor[Obeyed](),
	"guide":         reflect.TypeFor[Guide](),
	"unfinished":    reflect.TypeFor[Unfinished](),
	"unapplied":     reflect.TypeFor[Unapplied](),
	"not merged":    reflect.TypeFor[MergeRefused](),
	"broken":        reflect.TypeFor[Broken](),
	"too many":      reflect.TypeFor[TooMany](),
}

// MarshalReply encodes a reply as JSON.
func MarshalReply(r Reply) ([]byte, error) {
	data, err := kinds.Encode(r)
	if err != nil {
		panic(err.Error())
	}
	return data, nil
}

// UnmarshalReply decodes the result of [MarshalReply]. If this version of Lockstep does not know the type of
// the reply, it returns a [Broken] that says so. So the answer can show its other replies.
func UnmarshalReply(data []byte) (Reply, error) {
	r, err := kinds.Decode(data)
	var unknown *reasons.UnknownError
	if errors.As(err, &unknown) {
		return Broken{Reason: fmt.Sprintf("another version of Lockstep wrote the result %s, which this version does not know", markdown.Code(unknown.Kind))}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	return r, nil
}

// A Verdict is the result of an answer in one word. Lockstep shows it as a reaction to the comment with the
// command.
type Verdict int

const (
	Waiting Verdict = iota // for at least one reply
	Good
	Bad
)

// VerdictOn returns the verdict about the replies of one answer.
func VerdictOn(replies []Reply) Verdict {
	v := Good
	for _, r := range replies {
		switch r := r.(type) {
		case Pending:
			return Waiting
		case Queried:
			if r.Import != nil && r.Import.Problem != "" {
				v = Bad
			}
		case DriftProposed:
			if r.Problem != "" {
				v = Bad
			}
		case Refused, Misunderstood, Failed, PlanSuperseded, PlanRenewal, QueuedPlan, Unfinished, Unapplied, MergeRefused, Broken, TooMany, StoppedApply:
			v = Bad
		}
	}
	return v
}

// WithBody returns r with the given body, in Markdown. A reply whose type has no body is returned unchanged.
func WithBody(r Reply, body string) Reply {
	switch r := r.(type) {
	case Done:
		r.Body = body
		return r
	case Planned:
		r.Body = body
		return r
	case Failed:
		r.Body = body
		return r
	case StoppedApply:
		r.Body = body
		return r
	}
	return r
}

// Markdown returns the text of a single reply.
func Markdown(r Reply) string { return r.markdown() }
