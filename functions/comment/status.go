package comment

import (
	"fmt"
	"slices"
	"strings"
)

// StatusMarker is in the one comment of a pull request that [Status] makes, where
// nobody sees it.
const StatusMarker = "<!-- lockstep:status -->"

// A Standing is how far a project of a pull request has come.
type Standing string

const (
	Planning    Standing = "planning"
	Ready       Standing = "ready" // planned, with something to do
	NoChanges   Standing = "no changes"
	PlanFailed  Standing = "plan failed"
	Applying    Standing = "applying"
	Applied     Standing = "applied"
	ApplyFailed Standing = "apply failed"
	OutOfDate   Standing = "out of date" // something moved since it was planned
)

// Counts are how many objects there are to do, or were done, of each kind.
type Counts struct{ Import, Add, Change, Destroy, Forget int }

// Plus returns the sum.
func (c Counts) Plus(d Counts) Counts {
	return Counts{c.Import + d.Import, c.Add + d.Add, c.Change + d.Change, c.Destroy + d.Destroy, c.Forget + d.Forget}
}

// planned says what is to be done: "1 to add, 0 to change, 2 to destroy".
func (c Counts) planned() string {
	if c == (Counts{}) {
		return "no changes"
	}
	return c.text("%d to import", "%d to add", "%d to change", "%d to destroy", "%d to forget")
}

// done says what was done: "1 added, 0 changed, 2 destroyed".
func (c Counts) done() string {
	return c.text("%d imported", "%d added", "%d changed", "%d destroyed", "%d forgotten")
}

func (c Counts) text(imported, add, change, destroy, forget string) string {
	var parts []string
	part := func(format string, n int, always bool) {
		if always || n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	part(imported, c.Import, false)
	part(add, c.Add, true)
	part(change, c.Change, true)
	part(destroy, c.Destroy, true)
	part(forget, c.Forget, false)
	return strings.Join(parts, ", ")
}

// A Status is how a pull request stands: the comment that is edited with each step.
type Status struct {
	Head     string // SHA that was planned
	Projects []ProjectStatus
	// Notes are sentences of ours, in Markdown, for all projects.
	Notes []string
}

// A ProjectStatus is how one project stands.
type ProjectStatus struct {
	Name     string
	Standing Standing
	Counts   Counts
	// By is the login of who applied.
	By string
	// Body is the plan, or what went wrong, in Markdown.
	Body string
}

// Markdown returns the comment, of at most limit bytes: plans that do not fit are
// shortened.
func (s Status) Markdown(limit int) string {
	bodies := make([]string, len(s.Projects))
	whole := s.render(bodies)
	room := limit - len(whole)
	// The short ones whole, the long ones share what is left.
	order := make([]int, len(bodies))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(s.Projects[a].Body) - len(s.Projects[b].Body) })
	for n, i := range order {
		share := room / (len(order) - n)
		body := Cut(s.Projects[i].Body, max(share-len(s.section(i, "x")), 0))
		bodies[i] = body
		if body != "" {
			room -= len(s.section(i, body))
		}
	}
	return s.render(bodies)
}

// render puts the comment together. Empty bodies have no section.
func (s Status) render(bodies []string) string {
	var b strings.Builder
	b.WriteString(StatusMarker + "\n")
	fmt.Fprintf(&b, "### %s\n\n", s.headline())
	b.WriteString("| project | plan | |\n|---|---|---|\n")
	for _, p := range s.Projects {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(p.Name), p.plan(), p.standing())
	}
	for i, body := range bodies {
		if body != "" {
			b.WriteString(s.section(i, body))
		}
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	b.WriteString("\n" + s.remedy() + "\n")
	return b.String()
}

// section is one project's body, which folds up what is long by itself.
func (s Status) section(i int, body string) string {
	heading := ""
	if len(s.Projects) > 1 {
		heading = "#### " + Code(s.Projects[i].Name) + "\n\n"
	}
	return "\n" + heading + strings.TrimSpace(body) + "\n"
}

func (s Status) headline() string {
	sum := Counts{}
	words := map[Standing]int{}
	for _, p := range s.Projects {
		sum = sum.Plus(p.Counts)
		words[p.Standing]++
	}
	at := Code(fmt.Sprintf("%.7s", s.Head))
	switch n := len(s.Projects); {
	case words[PlanFailed] > 0:
		return fmt.Sprintf("Lockstep could not plan %s", at)
	case words[ApplyFailed] > 0:
		return fmt.Sprintf("Lockstep could not apply %s", at)
	case words[OutOfDate] > 0:
		return fmt.Sprintf("The plan for %s is out of date", at)
	case words[Planning] > 0:
		return fmt.Sprintf("Lockstep is planning %s", at)
	case words[Applying] > 0:
		return fmt.Sprintf("Lockstep is applying %s", at)
	case words[Applied] > 0 && words[Applied]+words[NoChanges] == n:
		return fmt.Sprintf("Lockstep has applied %s: %s", at, sum.done())
	}
	return fmt.Sprintf("Plan for %s: %s", at, sum.planned())
}

func (p ProjectStatus) plan() string {
	switch p.Standing {
	case PlanFailed:
		return "no plan"
	case Planning:
		return "..."
	}
	return p.Counts.planned()
}

func (p ProjectStatus) standing() string {
	by := ""
	if p.By != "" {
		by = " by " + Code(p.By)
	}
	switch p.Standing {
	case Ready:
		return "waits for " + Code("lockstep apply")
	case NoChanges:
		return "nothing to do"
	case PlanFailed:
		return "**failed**"
	case ApplyFailed:
		return "**failed**, applied" + by
	case Applied:
		return "applied" + by
	case OutOfDate:
		return "**out of date**"
	}
	return "being " + map[Standing]string{Planning: "planned", Applying: "applied" + by}[p.Standing]
}

// remedy says what can be done next.
func (s Status) remedy() string {
	has := func(list ...Standing) bool {
		return slices.ContainsFunc(s.Projects, func(p ProjectStatus) bool { return slices.Contains(list, p.Standing) })
	}
	var say []string
	if has(Ready) {
		one := ""
		if len(s.Projects) > 1 {
			one = fmt.Sprintf(", or %s for one project", Code("lockstep apply -p NAME"))
		}
		say = append(say, fmt.Sprintf("To apply this plan, comment %s%s.", Code("lockstep apply"), one))
	}
	if has(PlanFailed, OutOfDate, ApplyFailed) {
		say = append(say, fmt.Sprintf("A push plans anew, and so does the comment %s.", Code("lockstep plan")))
	} else if has(Applied) && !has(Ready, Planning, Applying) {
		say = append(say, "Merge this pull request, so that nothing reverts what was applied.")
	}
	return strings.Join(append(say, Code("lockstep help")+" lists all commands."), " ")
}

// cell is code in a table's cell, where a bar would end it.
func cell(text string) string { return strings.ReplaceAll(Code(text), "|", `\|`) }
