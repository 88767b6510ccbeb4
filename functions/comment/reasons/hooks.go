package reasons

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Hooked is the answer of a hook. If the hook was called before a plan or an apply, and refuses it or fails,
// the answer is a reason why the plan or apply is refused.
type Hooked struct {
	Hook  string // its name
	Event string // "before_plan", "after_plan", "before_apply" or "after_apply"
	// Refuses is set if the hook was called before a plan or an apply, and its answer denies that plan or
	// apply.
	Refuses bool `json:",omitempty"`
	// Messages are the messages of the hook, without secrets. More is the number of messages that are left out.
	Messages []string `json:",omitempty"`
	More     int      `json:",omitempty"`
	// Mistake is the reason why the hook has not given a valid answer; "" if it has.
	Mistake string `json:",omitempty"`
	// Again is the command that calls the hook once more. It is set if the hook's answer blocks the plan or the
	// apply.
	Again string `json:",omitempty"`
}

// Against reports whether the hook was called before a plan or an apply, and its answer blocks that plan or
// apply.
func (h Hooked) Against() bool {
	return h.Refuses || h.Mistake != "" && strings.HasPrefix(h.Event, "before_")
}

func (h Hooked) words() (text, remedy string) {
	verb := strings.TrimPrefix(h.Event, "before_")
	text = fmt.Sprintf("The hook %s denied this %s%s.", markdown.Code(h.Hook), verb, cmp.Or(h.said(), ", and gave no reason"))
	if h.Mistake != "" {
		text = fmt.Sprintf("The hook %s did not answer%s.", markdown.Code(h.Hook), h.said())
	}
	command := cmp.Or(h.Again, "lockstep "+verb)
	if strings.HasPrefix(command, "lockstep retry") {
		return text, fmt.Sprintf("To ask the hook again, comment %s for a new plan of what was merged. Read it, then apply it.", markdown.Code(command))
	}
	return text, fmt.Sprintf("To ask the hook again, comment %s.", markdown.Code(command))
}

// said returns ": " and the hook's messages, or what is wrong with its answer. It returns "" if there is
// neither.
func (h Hooked) said() string {
	if h.Mistake != "" {
		return ": " + markdown.Code(h.Mistake)
	}
	if len(h.Messages) == 0 {
		return ""
	}
	return ": " + markdown.Few(h.Messages, h.More)
}

// Hooks returns a paragraph of Markdown with the messages of hooks that block nothing; "" if there are no
// messages.
func Hooks(all []Hooked) string {
	var b strings.Builder
	for _, h := range all {
		switch said := h.said(); {
		case h.Mistake != "":
			fmt.Fprintf(&b, "- The hook %s (%s) did not answer%s.\n", markdown.Code(h.Hook), h.Event, said)
		case said != "":
			fmt.Fprintf(&b, "- The hook %s (%s)%s.\n", markdown.Code(h.Hook), h.Event, said)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "\n"
}
