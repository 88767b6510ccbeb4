package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
)

// details returns the tables and the text of a step, each with at most rows rows or lines, in folds.
func (s Step) details(rows int) string {
	var b strings.Builder
	fold := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", title, text)
		}
	}
	fold("Files", s.files(rows))
	fold("Differences of generated configuration", s.Changes.markdown(rows*rows, s.Whole))
	if s.Changes != nil && s.Changes.elsewhere {
		b.WriteString("\nThe check of the project shows how the files differ.\n")
	}
	fold("Findings", s.findingTable(rows))
	if x := s.Result.Tests; x != nil {
		fold("Tests that failed", failedTable(*x, rows))
		fold("Test suites", suiteTable(*x, rows))
	}
	if c := s.Result.Cost; c != nil {
		fold("Costs", costTable(*c, rows))
	}
	if s.Result == (toolresults.Result{}) || !s.Passed() {
		fold("Output", s.output(2*rows))
	}
	return b.String()
}

// files returns the files that the step wrote as a list; "" if there are none.
func (s Step) files(rows int) string {
	var b strings.Builder
	n := shownOf(len(s.Wrote), rows)
	for _, f := range s.Wrote[:n] {
		fmt.Fprintf(&b, "- %s\n", markdown.Code(cutTitle(f, maxStepText)))
	}
	if more := s.wrote() - n; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// wrote returns the number of files that the step wrote.
func (s Step) wrote() int { return len(s.Wrote) + s.MoreWrote }

// shownOf returns how many of n rows are shown. A table with up to a quarter more rows than that is not
// cut.
func shownOf(n, rows int) int {
	if n <= rows+rows/4 {
		return n
	}
	return rows
}

// findingTable returns the findings as a table, new ones first; "" if there are none.
func (s Step) findingTable(rows int) string {
	f := s.Result.Findings
	if f == nil || f.Total() == 0 {
		return ""
	}
	news, known := s.news(), toolresults.Group{}
	if s.Compared != nil {
		known = s.Compared.Known
	}
	n := shownOf(len(news.List)+len(known.List), rows)
	listed := news.List[:min(n, len(news.List))]
	old := known.List[:min(n-len(listed), len(known.List))]
	var b strings.Builder
	row := func(mark string, x toolresults.Finding) {
		text := x.Message
		if first, _, more := strings.Cut(text, "\n"); more { // trivy's messages are lists
			text = cmp.Or(x.Title, first)
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s |\n", mark, severityCell(x.Severity), ruleCell(x), longCell(text), placeCell(x.File, x.Line))
	}
	if len(listed)+len(old) > 0 {
		b.WriteString("| severity | rule | finding | place |\n|---|---|---|---|\n")
	}
	for _, x := range listed {
		mark := ""
		if s.Compared != nil {
			mark = "**new** "
		}
		row(mark, x)
	}
	for _, x := range old {
		row("", x)
	}
	var left []string
	for _, g := range []struct {
		group toolresults.Group
		shown []toolresults.Finding
		word  string
	}{{news, listed, map[bool]string{true: "new", false: ""}[s.Compared != nil]}, {known, old, "from before"}} {
		counts := map[toolresults.Severity]int{}
		for severity, n := range g.group.Counts {
			counts[severity] = n
		}
		for _, x := range g.shown {
			counts[x.Severity]--
		}
		if n := g.group.Total() - len(g.shown); n > 0 {
			left = append(left, strings.Join(strings.Fields(fmt.Sprintf("%d %s (%s)", n, g.word, severities(counts))), " "))
		}
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "\nNot listed: %s.\n", strings.Join(left, ", "))
	}
	if s.Compared != nil && s.Compared.Inexact {
		fmt.Fprintf(&b, "\nLockstep compares the %d worst findings only. Others count as known.\n", toolresults.MaxFindings)
	}
	if f.Outside > 0 {
		fmt.Fprintf(&b, "\n%s outside of the repository, and has no place here.\n", plural(f.Outside == 1, "1 finding is", fmt.Sprintf("%d findings are", f.Outside)))
	}
	return b.String()
}

// severityCell returns a severity in Markdown. A result from a record could have any text.
func severityCell(s toolresults.Severity) string {
	if !slices.Contains(toolresults.Severities, s) {
		return cell(string(s))
	}
	return string(s)
}

// ruleCell returns the rule of a finding, with a link to its description.
func ruleCell(x toolresults.Finding) string {
	name := cell(x.Rule)
	if x.Help != "" && !strings.ContainsAny(x.Help, "()<>[]|\"'` \n") && strings.HasPrefix(x.Help, "https://") {
		return "[" + name + "](" + x.Help + ")"
	}
	return name
}

// longCell shortens and escapes a message for a cell of a table.
func longCell(text string) string {
	return strings.ReplaceAll(markdown.Code(cutTitle(text, maxStepText)), "|", `\|`)
}

// placeCell returns a place for a cell of a table.
func placeCell(file string, line int) string {
	switch {
	case file == "":
		return ""
	case line == 0:
		return cell(lastOf(file))
	}
	return cell(fmt.Sprintf("%s:%d", lastOf(file), line))
}

// lastOf shortens a path at its beginning.
func lastOf(file string) string {
	const limit = maxTestName - len("…:2147483647")
	if len(file) > limit {
		file = "…" + strings.ToValidUTF8(file[len(file)-limit:], "")
	}
	return file
}

// failedTable returns the test cases that failed; "" if there are none.
func failedTable(x toolresults.Tests, rows int) string {
	if len(x.Failed) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| test | message | place |\n|---|---|---|\n")
	n := shownOf(len(x.Failed), rows)
	for _, c := range x.Failed[:n] {
		name := strings.Join(slices.DeleteFunc([]string{cmp.Or(c.Class, c.Suite), c.Name}, func(s string) bool { return s == "" }), " / ")
		mark := ""
		if c.Error {
			mark = "error: "
		}
		first, _, _ := strings.Cut(c.Message, "\n")
		fmt.Fprintf(&b, "| %s | %s%s | %s |\n", cell(name), mark, longCell(first), placeCell(c.File, c.Line))
	}
	if more := x.Failures + x.Errors - n; more > 0 {
		fmt.Fprintf(&b, "\n%s not listed.\n", plural(more == 1, "1 more is", fmt.Sprintf("%d more are", more)))
	}
	return b.String()
}

// suiteTable returns the suites, with those that failed first; "" if there are none.
func suiteTable(x toolresults.Tests, rows int) string {
	if len(x.Suites) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| suite | tests | failed | errors | skipped | time |\n|---|---|---|---|---|---|\n")
	passed := func(s toolresults.Suite) int { return min(s.Failures+s.Errors, 1) }
	all := slices.SortedStableFunc(slices.Values(x.Suites), func(a, b toolresults.Suite) int { return cmp.Compare(passed(b), passed(a)) })
	n := shownOf(len(all), rows)
	for _, s := range all[:n] {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", cell(s.Name), s.Tests, s.Failures, s.Errors, s.Skipped, took(s.Time))
	}
	if more := len(all) - n + x.MoreSuites; more > 0 {
		fmt.Fprintf(&b, "\n%s not listed.\n", plural(more == 1, "1 more suite is", fmt.Sprintf("%d more suites are", more)))
	}
	return b.String()
}

// costTable returns the projects and resources with the largest differences; "" if nothing differs.
func costTable(c toolresults.Cost, rows int) string {
	var b strings.Builder
	more := c.MoreProjects
	if len(c.Projects) > 1 {
		b.WriteString("| project | before | after | difference |\n|---|---|---|---|\n")
		n := shownOf(len(c.Projects), rows)
		for _, p := range c.Projects[:n] {
			before, difference := "unknown", "unknown"
			if increase, known := p.Increase(); known {
				before, difference = p.Before.Rounded(), signed(increase)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(p.Name), before, p.After.Rounded(), difference)
		}
		if more += len(c.Projects) - n; more > 0 {
			fmt.Fprintf(&b, "\n%s not listed.\n", plural(more == 1, "1 more project is", fmt.Sprintf("%d more projects are", more)))
		}
		b.WriteString("\n")
	}
	var all []toolresults.ResourceCost
	left := 0
	for _, p := range c.Projects {
		all = append(all, p.Resources...)
		left += p.MoreResources
	}
	if len(all) == 0 {
		return b.String()
	}
	slices.SortStableFunc(all, func(a, b toolresults.ResourceCost) int { return b.Increase.Abs().Cmp(a.Increase.Abs()) })
	b.WriteString("| resource | difference |\n|---|---|\n")
	n := shownOf(len(all), rows)
	for _, r := range all[:n] {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(r.Name), signed(r.Increase))
	}
	if left += len(all) - n; left > 0 {
		fmt.Fprintf(&b, "\n%s not listed.\n", plural(left == 1, "1 more resource is", fmt.Sprintf("%d more resources are", left)))
	}
	return b.String()
}

// signed returns an amount with its sign, such as +2.40.
func signed(a toolresults.Amount) string {
	if a.Sign() > 0 {
		return "+" + a.Rounded()
	}
	return a.Rounded()
}

// output returns the last lines of the output, at most n, and the place of all lines; "" if there are none.
func (s Step) output(n int) string {
	if s.Text == "" {
		if s.More && s.Whole != "" {
			return markdown.Whole(s.Whole) + "\n"
		}
		return ""
	}
	lines := strings.Split(s.Text, "\n")
	before := s.Before
	if more := len(lines) - n; more > 0 {
		lines = lines[more:]
		if before >= 0 {
			before += more
		}
	}
	text := markdown.Fence("", strings.Join(lines, "\n")) + "\n"
	switch {
	case before < 0:
		text = "Many lines before these are left out.\n\n" + text
	case before > 0:
		text = fmt.Sprintf("%s before these %s left out.\n\n", counted(before, "line", "lines"), plural(before == 1, "is", "are")) + text
	}
	if s.More && s.Whole != "" {
		text += "\n" + markdown.Whole(s.Whole) + "\n"
	}
	return text
}

// MaxStepNotes is the maximum number of notes about the steps of a project.
const MaxStepNotes = 100

// StepNotes returns a note for each new finding and each failed test of which the place is known, the worst first, and
// at most [MaxStepNotes]. If the base branch has no result, all findings count as new. more is how many are left out.
func StepNotes(steps []Step) (out []LineNote, more int) {
	levels := map[toolresults.Severity]string{toolresults.Medium: "warning", toolresults.Warning: "warning", toolresults.Low: "notice", toolresults.Note: "notice"}
	for _, s := range ordered(steps) {
		for _, x := range s.news().List {
			if x.File == "" || x.Line == 0 {
				continue
			}
			n := LineNote{Path: x.File, Line: x.Line, Last: x.Last, Level: levels[x.Severity], Title: strings.TrimSpace(cmp.Or(x.Tool, s.Name) + ": " + x.Rule), Message: x.Message}
			if x.Help != "" {
				n.Message += "\n" + x.Help
			}
			out = append(out, n)
		}
		if x := s.Result.Tests; x != nil {
			for _, c := range x.Failed {
				if c.File != "" && c.Line > 0 {
					out = append(out, LineNote{Path: c.File, Line: c.Line, Title: s.Name + ": " + c.Name, Message: cmp.Or(c.Message, "The test failed.")})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b LineNote) int { return cmp.Compare(noteLevel(a), noteLevel(b)) })
	more = max(len(out)-MaxStepNotes, 0)
	out = out[:len(out)-more]
	for i, n := range out {
		n.Title, n.Message = strings.ReplaceAll(visibleOnly(n.Title), "\n", " "), visibleOnly(n.Message)
		out[i] = n.within(maxNoteText)
	}
	return out, more
}

// visibleOnly replaces characters that people cannot see, but for line breaks. GitHub shows a note as text, not as
// Markdown.
func visibleOnly(text string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && (unicode.Is(unicode.Cc, c) || unicode.Is(unicode.Cf, c)) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
}

// noteLevel returns the place of a note's level in their order.
func noteLevel(n LineNote) int { return slices.Index([]string{"", "warning", "notice"}, n.Level) }
