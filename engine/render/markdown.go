package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

// PlanMarkdown returns plan for a comment on GitHub, in at most limit bytes: the number of
// changes, the objects to destroy, and folded up the changes of objects and outputs as
// diffs. If they do not fit, the rest is left out with a note, creations before
// destructions, at the end of an object. All
// text that is not ours stands in code, so that it mentions and links nothing, in
// fences that it cannot end. There is no sensitive value in it.
func PlanMarkdown(plan *plans.Plan, _ *config.Config, schemas formats.Schemas, limit int) string {
	t := planText{p: &Printer{}, plan: plan, schemas: schemas, diff: true}
	changes := shown(plan.Changes)
	paragraphs := []string{headlineMarkdown(plan, len(changes)), lossMarkdown(changes)}
	sections := []section{{title: "Changes", what: "changes"}, {title: "Outputs", what: "outputs"}, {title: "Changed outside of Lockstep", what: "differences"}}
	for _, c := range changes {
		sections[0].texts = append(sections[0].texts, diffComments(t.change(c, false, nil)))
		sections[0].weights = append(sections[0].weights, weights[c.Action])
	}
	sections[1].texts = t.outputs()
	for _, text := range t.drifts(plan.Mode == plans.RefreshOnlyMode) {
		sections[2].texts = append(sections[2].texts, diffComments(text))
	}
	whole := markdown{limit: math.MaxInt}
	whole.write(paragraphs, sections)
	if whole.b.Len() <= limit {
		return whole.b.String()
	}
	sections[0].weightiestFirst()
	m := markdown{limit: limit, cut: true}
	m.write(paragraphs, sections)
	return m.b.String()
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
	case changes == 0 && outputs == 0 && plan.Mode == plans.RefreshOnlyMode && plan.Applyable:
		text = "**No changes** to objects; the state is brought up to date."
	case changes == 0 && outputs == 0:
		if text = "**No changes.** The infrastructure matches the configuration."; len(plan.Waiting) > 0 {
			text = "**No changes**, but for what is left out."
		}
	case changes == 0:
		text = "**No changes** to objects; outputs change."
	}
	return text
}

// mostNamed is how many bytes of the names of destroyed objects stand above the fold.
const mostNamed = 1500

// countsMarkdown is [countsText] with the objects to forget.
func countsMarkdown(n counting.Counts) string {
	text := countsText(n)
	if n.Forget > 0 {
		text = fmt.Sprintf("%s, %d to forget.", strings.TrimSuffix(text, "."), n.Forget)
	}
	return text
}

// lossMarkdown names the objects to destroy, for readers who do not unfold the rest.
func lossMarkdown(changes []*plans.ResourceChange) string {
	var names []string
	left, length := 0, 0
	for _, c := range changes {
		if c.Action != plans.Delete && !c.Action.IsReplace() {
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

// codeSpan returns s as inline code, whatever backticks it has.
func codeSpan(s string) string {
	s = strings.NewReplacer("\n", " ", "\t", " ").Replace(visible(s))
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// longestRun is the length of the longest run of backticks in s.
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

// diffComments moves the comments above an object to the first column, where a diff
// block knows them.
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

// weights tell which changes must be seen first where there is no room for all: 0 is
// the weightiest.
var weights = map[plans.Action]int{
	plans.Delete: 0, plans.DeleteThenCreate: 0, plans.CreateThenDelete: 0,
	plans.Update: 1, plans.Forget: 1, plans.Create: 2, plans.NoOp: 2, plans.Read: 3,
}

// A section is texts that are folded up together.
type section struct {
	title, what string
	texts       []string
	weights     []int // of the texts, or nil
}

// weightiestFirst sorts the texts by their weights.
func (s *section) weightiestFirst() {
	order := make([]int, len(s.texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.weights[a] - s.weights[b] })
	texts := make([]string, len(order))
	for i, n := range order {
		texts[i] = s.texts[n]
	}
	s.texts = texts
}

// fence returns a fence that none of the texts can end.
func (s section) fence() string {
	n := 3
	for _, t := range s.texts {
		n = max(n, longestRun(t)+1)
	}
	return strings.Repeat("`", n)
}

// size is how many bytes the texts take.
func (s section) size() int {
	n := 0
	for _, t := range s.texts {
		n += len(t) + 2
	}
	return n
}

// note is the line about the texts after the first n, which are left out.
func (s section) note(n int) string {
	return fmt.Sprintf("*%d of %d %s are left out, as they do not fit here. The saved plan has all of them.*\n\n", len(s.texts)-n, len(s.texts), s.what)
}

// markdown is a text that grows up to a limit.
type markdown struct {
	b     strings.Builder
	limit int  // in bytes
	cut   bool // not all of it will fit: keep room for saying so
}

// room is how much may still be written.
func (m *markdown) room() int { return m.limit - m.b.Len() }

func (m *markdown) write(paragraphs []string, sections []section) {
	for _, p := range paragraphs {
		m.paragraph(p)
	}
	for i, s := range sections {
		reserve := 0
		for _, later := range sections[i:] {
			if m.cut && len(later.texts) > 0 {
				reserve += len(later.note(0))
			}
		}
		if len(s.texts) > 0 {
			m.section(s, reserve)
		}
	}
}

// paragraph writes text if it fits.
func (m *markdown) paragraph(text string) {
	if text != "" && len(text)+2 <= m.room() {
		m.b.WriteString(text + "\n\n")
	}
}

// smallest is the room below which a section is not begun: there must be something
// to see in it.
const smallest = 400

// screenful is how many lines are shown without being asked for.
const screenful = 60

// unfolded is the attribute of a section that is short enough to be read at once.
func (s section) unfolded() string {
	lines := 0
	for _, t := range s.texts {
		lines += strings.Count(t, "\n") + 2
	}
	if lines > screenful {
		return ""
	}
	return " open"
}

// section writes texts in one diff block, folded up if there are many lines, as far as
// they fit, and leaves room for so many bytes of notes.
func (m *markdown) section(s section, reserve int) {
	fence := s.fence()
	head := fmt.Sprintf("<details%s><summary>%s</summary>\n\n%sdiff\n", s.unfolded(), s.title, fence)
	tail := fence + "\n\n</details>\n\n"
	room := m.room() - len(head) - len(tail) - reserve
	if room < 0 || room < smallest && s.size() > room {
		m.paragraph(strings.TrimSpace(s.note(0)))
		return
	}
	m.b.WriteString(head)
	done := 0
	for i, t := range s.texts {
		if i > 0 && strings.Contains(t, "\n") {
			t = "\n" + t
		}
		if len(t)+1 > room {
			if done == 0 {
				m.b.WriteString(firstLines(t, room))
			}
			break
		}
		m.b.WriteString(t + "\n")
		room -= len(t) + 1
		done++
	}
	m.b.WriteString(tail)
	if done < len(s.texts) {
		m.b.WriteString(s.note(done))
	}
}

// firstLines returns the lines of text that fit into n bytes, and a last one about the
// others.
func firstLines(text string, n int) string {
	const more = "# and so on\n"
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if b.Len()+len(line)+len(more) > n {
			break
		}
		b.WriteString(line)
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + more
}
