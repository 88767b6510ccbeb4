package rulings

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Markdown returns the parts of a ruling as a list, each with its own parts below it. depth is the depth of the
// list; 0 means not indented. Steps that have succeeded share one line, after the other parts, if there are several.
func (r Ruling) Markdown(depth int) string {
	var b strings.Builder
	indent := strings.Repeat("  ", depth)
	rest, steps := r.succeeded()
	for _, x := range rest {
		text, facts := line(x)
		fmt.Fprintf(&b, "%s- %s\n", indent, text)
		for _, fact := range facts {
			fmt.Fprintf(&b, "%s  - %s\n", indent, fact)
		}
		b.WriteString(x.Markdown(depth + 1))
		if len(x.Overriders) > 0 {
			fmt.Fprintf(&b, "%s  - %s can override this: `lockstep override --reason \"...\"`\n", indent, either(x.Overriders))
		}
	}
	if len(steps) > 0 {
		fmt.Fprintf(&b, "%s- met: success of %d steps: %s\n", indent, len(steps), few(steps))
	}
	return b.String()
}

// succeeded returns in steps the names of the steps that have succeeded, if there are several and nothing else is to be
// said about them. rest has the other parts of the ruling.
func (r Ruling) succeeded() (rest []Ruling, steps []string) {
	for _, x := range r.Of {
		if x.Rule == Requirement && x.Outcome == Holds && x.By == "" && len(x.Of) == 1 && x.Of[0].Rule == Step && len(x.Of[0].Found) == 0 {
			steps = append(steps, x.Of[0].Wanted...)
		} else {
			rest = append(rest, x)
		}
	}
	if len(steps) < 2 {
		return r.Of, nil
	}
	return rest, steps
}

// line returns the text about one rule: its outcome, its condition, and the facts. Facts that speak against the
// rule are returned in below, for a list below the line, if there are several.
func line(r Ruling) (text string, below []string) {
	var more []string
	has, judged := found(r), r.Rule.judges()
	if has != "" && !judged {
		more = append(more, has)
	}
	if r.Outcome != Holds || r.Rule == Approvals {
		more = append(more, against(r)...)
	}
	if has != "" && judged { // warnings come after denials
		more = append(more, has)
	}
	if r.Problem != "" {
		more = append(more, markdown.Code(r.Problem))
	}
	text = outcomeWords(r) + ": " + condition(r)
	if later := r.Rule == AskedBy || r.Rule == Permitted; later && r.Outcome == NotApplicable {
		text = "checked at the apply: " + condition(r)
	}
	denied := r.Denied() && len(r.Of) == 0
	if denied {
		text = "**denied** by " + wordings[r.Rule].brief(r)
	}
	switch {
	case len(more) > 1 && !r.Outcome.Allows():
		return text, more
	case len(more) > 0 && denied:
		return text + ": " + more[0], nil
	case len(more) > 0:
		return text + " (" + strings.Join(more, "; ") + ")", nil
	}
	return text, nil
}

func outcomeWords(r Ruling) string {
	overridden := fmt.Sprintf("**overridden** by %s, %s", markdown.Code(r.By), markdown.Code(r.Because))
	if r.Outcome == Lifted {
		return overridden
	}
	if r.Rule == Requirement && r.By != "" && r.Outcome.Allows() {
		return outcome(r.Outcome) + ", and " + overridden
	}
	return outcome(r.Outcome)
}

func outcome(o Outcome) string {
	switch o {
	case Holds:
		return "met"
	case Unknown:
		return "**unknown**"
	case NotApplicable:
		return "not applicable"
	}
	return "**not met**"
}
