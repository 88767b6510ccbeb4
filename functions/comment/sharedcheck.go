package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A SharedRow is what a shared check run shows about one of its projects in a line. It is part of a record.
type SharedRow struct {
	Label    string   // the project, and its workspace if it has a twin
	Standing Standing // may be one of those that exist only for display
	Counts   counting.Counts
	Done     counting.Counts `json:",omitzero"`
	// Applyable is as in [PlanSummary].
	Applyable bool `json:",omitempty"`
	// Cell and Plan are the texts of the columns about the status and the plan, in Markdown.
	Cell, Plan string
	// Where is the address of the plan's text, or a command that prints it; "" for none.
	Where string `json:",omitempty"`
}

// maxRowText is the maximum length of a text in a row, in bytes.
const maxRowText = 300

// SharedRow returns the row of the project in a shared check run.
func (p ProjectStatus) SharedRow() SharedRow {
	return SharedRow{
		Label: p.Label(), Standing: p.ranked(), Counts: p.Counts, Done: p.Done, Applyable: p.Applyable,
		Cell: cutTitle(p.cell(), maxRowText), Plan: cutTitle(p.plan(), maxRowText), Where: p.Whole,
	}
}

// standing returns the standing of the row for its order and for the title. One that this version does not know is that of a
// plan to come.
func (r SharedRow) standing() Standing {
	switch {
	case r.Standing == inLine: // the title does not say behind whom
		return ApplyQueued
	case !slices.ContainsFunc(states, func(g state) bool { return slices.Contains(g.standings(), r.Standing) }):
		return Queued
	}
	return r.Standing
}

// A SharedCheck is the content of a check run that several projects share.
type SharedCheck struct {
	Rows []SharedRow
	// Waiting is the number of projects that are not planned yet.
	Waiting int
	// Body returns the plan or the error of a row, in Markdown; "" if there is none. It is called for as many rows as fit.
	Body func(i int) (string, error)
}

// Title returns the title of the check run, of at most limit bytes: "2 projects failed to plan, 98 ready to apply".
func (c SharedCheck) Title(limit int) string {
	var s Status
	for _, r := range c.Rows {
		s.Projects = append(s.Projects, ProjectStatus{Standing: r.standing(), PlanSummary: PlanSummary{Counts: r.Counts, Applyable: r.Applyable}, ApplySummary: ApplySummary{Done: r.Done}})
	}
	for range c.Waiting {
		s.Projects = append(s.Projects, ProjectStatus{Standing: Queued})
	}
	return cutTitle(strings.ReplaceAll(plainly(s.verdict()), "\n", " "), limit)
}

// order returns the indexes of the rows: failures come first, and then plans that wait for a person.
func (c SharedCheck) order() []int {
	var out []int
	for i := range c.Rows {
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(a, b int) int {
		x, y := c.Rows[a], c.Rows[b]
		return cmp.Or(cmp.Compare(x.standing().calm(), y.standing().calm()), cmp.Compare(x.Label, y.Label))
	})
	return out
}

// Summary returns the first part of the page, in Markdown, of at most limit bytes: a table of all projects. If it does not
// fit, the addresses of the plans are left out, and then the plans.
func (c SharedCheck) Summary(limit int) string {
	text := c.summary(func(r SharedRow) string { return r.Plan + place(r.Where) })
	if len(text) > limit {
		text = c.summary(func(r SharedRow) string { return r.Plan })
	}
	if len(text) > limit {
		text = c.summary(func(SharedRow) string { return "…" })
	}
	return markdown.Cut(text, limit)
}

func (c SharedCheck) summary(plan func(SharedRow) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "GitHub limits the number of checks, so these projects of the pull request share one.\n\n%s", tableHead)
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	for _, i := range c.order() {
		r := c.Rows[i]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.Cell), cell(markdown.Code(r.Label)), cell(plan(r)))
	}
	if c.Waiting > 0 {
		fmt.Fprintf(&b, "\n%s not planned yet.\n", counted(c.Waiting, "project is", "projects are"))
	}
	fmt.Fprintf(&b, "\nTo apply the plan of one project, comment %s on the pull request. To plan all projects of this check again, press **Re-run**.\n", markdown.Code("lockstep apply -p NAME"))
	return b.String()
}

// place returns a link to an address, or a command as code; "" for neither.
func place(where string) string {
	switch {
	case where == "":
		return ""
	case strings.HasPrefix(where, "http") && !strings.ContainsAny(where, "<>()\"` \n|"):
		return " ([plan](" + where + "))"
	}
	return " (" + markdown.Code(where) + ")"
}

// Text returns the second part of the page after the hashes of the plans, in Markdown, of at most limit bytes: the texts of
// as many plans as fit.
func (c SharedCheck) Text(limit int) (string, error) {
	const end = "\n%s of this check. To read one, open its plan in the table, or comment `lockstep plan -p NAME`.\n"
	room := limit - len(end) - len("The texts of 1000 plans do not fit into the page")
	var b strings.Builder
	left := 0
	for _, i := range c.order() {
		r := c.Rows[i]
		head := fmt.Sprintf("\n#### %s\n\n", markdown.Code(r.Label))
		if room < len(head)+markdown.Useful {
			left++
			continue
		}
		body, err := c.Body(i)
		if err != nil {
			return "", err
		}
		if body = strings.TrimSpace(body); body == "" {
			continue
		}
		if len(head)+len(body)+1 > room {
			left++
			continue
		}
		room -= len(head) + len(body) + 1
		b.WriteString(head + body + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, end, plural(left == 1, "The text of 1 plan does not fit into the page", fmt.Sprintf("The texts of %d plans do not fit into the page", left)))
	}
	return b.String(), nil
}

// SharedButtons are the buttons of a shared check run.
func SharedButtons() []Button {
	return []Button{{"Plan again", "Make new plans of these projects", string(Plan)}}
}
