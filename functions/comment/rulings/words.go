package rulings

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Markdown lists the parts of a ruling, each with its parts below it. depth is that of the list, 0 at the
// margin.
func (r Ruling) Markdown(depth int) string {
	var b strings.Builder
	for _, x := range r.Of {
		fmt.Fprintf(&b, "%s- %s\n", strings.Repeat("  ", depth), ruled(x))
		b.WriteString(x.Markdown(depth + 1))
	}
	return b.String()
}

// ruled is one rule in a line: its outcome, the condition, and the facts.
func ruled(r Ruling) string {
	var more []string
	if has := found(r); has != "" {
		more = append(more, has)
	}
	if r.Outcome != Holds || r.Rule == Approvals {
		more = append(more, against(r)...)
	}
	if r.Problem != "" {
		more = append(more, markdown.Code(r.Problem))
	}
	text := fmt.Sprintf("%s: %s", outcomeWords(r), condition(r))
	if later := r.Rule == AskedBy || r.Rule == Permitted; later && r.Outcome == NotApplicable {
		text = "to be " + condition(r)
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text
}

func outcomeWords(r Ruling) string {
	lifted := fmt.Sprintf("**lifted** by %s, %s", markdown.Code(r.By), markdown.Code(r.Because))
	if r.Outcome == Lifted {
		return lifted
	}
	if r.Rule == Requirement && r.By != "" && r.Outcome.Allows() {
		return outcome(r.Outcome) + ", and " + lifted
	}
	return outcome(r.Outcome)
}

func outcome(o Outcome) string {
	switch o {
	case Holds:
		return "fulfilled"
	case Unknown:
		return "**unknown**"
	case NotApplicable:
		return "does not apply"
	}
	return "**missing**"
}
