package comment

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// A Reply is the outcome of one command for one project: one of the types in the table below. They
// are data: the replies of an answer are kept until all of them are there.
type Reply interface{ markdown() string }

// kinds are all types of replies, by the name under which they are kept.
var kinds = map[string]reflect.Type{
	"pending":       reflect.TypeFor[Pending](),
	"planned":       reflect.TypeFor[Planned](),
	"superseded":    reflect.TypeFor[Superseded](),
	"done":          reflect.TypeFor[Done](),
	"failed":        reflect.TypeFor[Failed](),
	"refused":       reflect.TypeFor[Refused](),
	"unlocked":      reflect.TypeFor[Unlocked](),
	"misunderstood": reflect.TypeFor[Misunderstood](),
	"guide":         reflect.TypeFor[Guide](),
	"unfinished":    reflect.TypeFor[Unfinished](),
	"broken":        reflect.TypeFor[Broken](),
	"too many":      reflect.TypeFor[TooMany](),
}

// MarshalReply encodes a reply as JSON.
func MarshalReply(r Reply) ([]byte, error) {
	for name, t := range kinds {
		if reflect.TypeOf(r) == t {
			return json.Marshal(map[string]Reply{name: r})
		}
	}
	panic(fmt.Sprintf("comment: %T is in no table", r))
}

// UnmarshalReply decodes what [MarshalReply] has encoded.
func UnmarshalReply(data []byte) (Reply, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	for name, value := range m {
		t, ok := kinds[name]
		if !ok {
			return nil, fmt.Errorf("read reply: there is no kind %q", name)
		}
		v := reflect.New(t)
		if err := json.Unmarshal(value, v.Interface()); err != nil {
			return nil, fmt.Errorf("read reply: %w", err)
		}
		return v.Elem().Interface().(Reply), nil
	}
	return nil, fmt.Errorf("read reply: there is none")
}

// A Verdict is the summary of an answer in a single reaction.
type Verdict int

const (
	Waiting Verdict = iota // for at least one reply
	Good
	Bad
)

// VerdictOn returns the verdict on replies.
func VerdictOn(replies []Reply) Verdict {
	v := Good
	for _, r := range replies {
		switch r.(type) {
		case Pending:
			return Waiting
		case Refused, Misunderstood, Failed, Superseded, Unfinished, Broken, TooMany:
			v = Bad
		}
	}
	return v
}

// WithBody returns a reply with a body, in Markdown, if its type has one.
func WithBody(r Reply, body string) Reply {
	switch r := r.(type) {
	case Done:
		r.Body = body
		return r
	case Failed:
		r.Body = body
		return r
	}
	return r
}

// Markdown returns a single reply.
func Markdown(r Reply) string { return r.markdown() }
