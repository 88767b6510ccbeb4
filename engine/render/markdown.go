package render

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

// PlanMarkdown returns a plan for a comment on GitHub: the number of changes, the objects to destroy, and the
// changes of objects and outputs as diffs. Many changes are folded up. All text that Lockstep has not written
// is code: it cannot mention or link anything, nor end its fence. The result has no sensitive values. Its
// length is not limited: the caller must cut it.
func PlanMarkdown(plan *plans.Plan, schemas formats.Schemas) string {
	t := planText{p: &Printer{}, plan: plan, schemas: schemas, diff: true, triggered: plan.Triggered()}
	changes := shown(plan.Changes)
	var texts, drifts []string
	for _, c := range changes {
		texts = append(texts, diffComments(t.change(c, false, nil)))
	}
	for _, text := range t.drifts(plan.Mode == plans.RefreshOnlyMode) {
		drifts = append(drifts, diffComments(text))
	}
	var b strings.Builder
	for _, text := range []string{headlineMarkdown(plan, len(changes)), lossMarkdown(changes), affectedMarkdown(plan.Affected)} {
		if text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	b.WriteString(section{"Changes", texts}.markdown())
	b.WriteString(section{"Actions", t.separate(changes)}.markdown())
	b.WriteString(section{"Outputs", t.outputs()}.markdown())
	b.WriteString(section{"Changed outside of Lockstep", drifts}.markdown())
	return b.String()
}

func headlineMarkdown(plan *plans.Plan, changes int) string {
	outputs := 0
	for _, o := range plan.Outputs {
		if o.Action != plans.NoOp {
			outputs++
		}
	}
	text := "**Plan:** " + countsMarkdown(plan.Counts())
	switch {
	case plan.Errored:
		text = "**Planning failed.** What was planned before: " + countsMarkdown(plan.Counts())
	case changes == 0 && len(plan.Invocations) > 0:
	// The plan changes no object, but invokes actions: the text with the counts says so already.
	case changes == 0 && outputs == 0 && plan.Mode == plans.RefreshOnlyMode && plan.Applyable && len(plan.Waiting) == 0:
		text = "**No changes** to objects; the state is brought up to date."
	case changes == 0 && outputs == 0:
		text = "**No changes.** The infrastructure matches the configuration."
		if len(plan.Waiting) > 0 {
			text = "**No changes**, but for what is left out."
		} else if !reads(plan) {
			text = "**No changes.** The configuration matches the state."
		}
	case changes == 0:
		text = "**No changes** to objects; outputs change."
	}
	return text
}

// mostNamed is the largest number of bytes of names of destroyed objects that are shown above the fold.
const mostNamed = 1500

// countsMarkdown returns the text of [countsText]. In addition, it has the number of objects to forget.
func countsMarkdown(n counting.Counts) string {
	text := objectsText(n)
	if n.Forget > 0 {
		text = fmt.Sprintf("%s, %d to forget.", strings.TrimSuffix(text, "."), n.Forget)
	}
	return text + actionsText(n)
}

// lossMarkdown returns the names of the objects to destroy, for readers who do not unfold the rest.
func lossMarkdown(changes []*plans.ResourceChange) string {
	var names []string
	left, length := 0, 0
	for _, c := range changes {
		if !c.Destroys() {
			continue
		}
		name := codeSpan(c.Addr.String())
		if left > 0 || length+len(name) > mostNamed {
			left++
			continue
		}
		names = append(names, name)
		length += len(name)
	}
	if len(names)+left == 0 {
		return ""
	}
	if len(names) == 0 {
		return fmt.Sprintf("Destroys or replaces %d objects.", left)
	}
	text := "Destroys or replaces " + strings.Join(names, ", ")
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text + "."
}

// codeSpan returns s as inline code, even if s has backticks.
func codeSpan(s string) string {
	s = strings.NewReplacer("\n", " ", "\t", " ").Replace(visible(s))
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// longestRun returns the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// diffComments moves the comments above an object to the first column, where diff blocks colour them.
func diffComments(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		rest, ok := strings.CutPrefix(l, "  # ")
		if !ok {
			break
		}
		lines[i] = "# " + rest
	}
	return strings.Join(lines, "")
}

// A section is a list of texts that are folded up together, under a title.
type section struct {
	title string
	texts []string
}

// screenful is the largest number of lines that are shown unfolded.
const screenful = 60

// markdown returns the texts of the section in one diff block. The fence of the block is longer than any
// backticks in the texts, so no text can end the block. If there are many lines, the block is folded up. The
// result is "" if there are no texts.
func (s section) markdown() string {
	if len(s.texts) == 0 {
		return ""
	}
	var b strings.Builder
	lines, fence := 0, 3
	for i, t := range s.texts {
		lines += strings.Count(t, "\n") + 2
		fence = max(fence, longestRun(t)+1)
		if i > 0 && strings.Contains(t, "\n") {
			b.WriteString("\n")
		}
		b.WriteString(t + "\n")
	}
	open, ticks := " open", strings.Repeat("`", fence)
	if lines > screenful {
		open = ""
	}
	return fmt.Sprintf("<details%s><summary>%s</summary>\n\n%sdiff\n%s%s\n\n</details>\n\n", open, s.title, ticks, b.String(), ticks)
}
