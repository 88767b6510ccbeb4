package reasons

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Hooked is the answer of a hook. If a hook before a plan or an apply refuses or fails, its answer is a reason
// against the plan or apply.
type Hooked struct {
	Hook  string // its name
	Event string // "before_plan", "after_plan", "before_apply" or "after_apply"
	// Refuses is set if the hook is called before a plan or an apply, and denies it.
	Refuses bool `json:",omitempty"`
	// Messages are the messages of the hook, without secrets. More is the number of messages that are left out.
	Messages []string `json:",omitempty"`
	More     int      `json:",omitempty"`
	// Mistake is the reason why there is no valid answer; "" if there is one.
	Mistake string `json:",omitempty"`
	// Again is the command that asks the hook again, if its answer blocks the plan or apply.
	Again string `json:",omitempty"`
}

// Against reports whether the answer blocks the plan or apply that the hook was called before.
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

// said returns the messages of the hook, or the mistake in its answer, after a colon; "" if there are none.
func (h Hooked) said() string {
	if h.Mistake != "" {
		return ": " + markdown.Code(h.Mistake)
	}
	if len(h.Messages) == 0 {
		return ""
	}
	return ": " + markdown.Few(h.Messages, h.More)
}

// Hooks returns a paragraph of Markdown with the answers of hooks that block nothing; "" if no hook has sent a
// message.
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
