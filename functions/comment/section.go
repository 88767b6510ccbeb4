package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A section is the part of the comment with the body (the plan or the error) of a project. Projects with equal
// bodies share a section.
type section struct {
	projects []ProjectStatus
	// differing are the values in which the projects' plans differ. The section shows the plan of the first one.
	differing []difference
	// headed is set if the section begins with a heading that names the projects.
	headed bool
	// crowded is set if the section does not show the requirements: the comment then shows them once for all
	// projects.
	crowded bool
	// steps is the key of the steps, which all projects of the section have in common: see stepsKey. room
	// is the number of bytes that the steps may take; 0 means maxSectionSteps.
	steps string
	room  int
}

// maxSectionSteps is the maximum number of bytes of the steps in a section.
const maxSectionSteps = 8_000

// sections returns the sections of the status comment, in the order of the projects. Projects whose bodies are
// equal, or differ in a few values only, share one.
func (s Status) sections() []section {
	var out []section
	for _, p := range s.Projects {
		steps := p.stepsKey()
		i := slices.IndexFunc(out, func(x section) bool { return x.steps == steps && x.projects[0].same(p) })
		if i < 0 {
			out = append(out, section{headed: len(s.Projects) > 1, steps: steps})
			i = len(out) - 1
		}
		out[i].projects = append(out[i].projects, p)
	}
	return alike(out)
}

// same reports whether the two projects can share one section, because their bodies are equal. Their steps have to be
// equal, too.
func (p ProjectStatus) same(q ProjectStatus) bool {
	return p.Body != "" && p.Body == q.Body && p.Standing == q.Standing && p.Counts == q.Counts &&
		p.made() == q.made() && requiredWords(p.Required) == requiredWords(q.Required) && p.liftedWords() == q.liftedWords() && p.Whole == "" && q.Whole == ""
}

// maxHeading is the maximum number of projects in a heading.
const maxHeading = 5

// headed returns names for a heading: the first maxHeading names, and how many more there are.
func headed(names []string) string {
	if len(names) <= maxHeading+1 { // a cut would save nothing
		return markdown.List(names)
	}
	return fmt.Sprintf("%s and %d more", markdown.List(names[:maxHeading]), len(names)-maxHeading)
}

// markdown returns the section with the given body, in Markdown; "" if there are neither a body nor steps.
func (x section) markdown(body string) string {
	steps := StepsMarkdown(briefly(x.projects[0].Steps), cmp.Or(x.room, maxSectionSteps))
	if body == "" && steps == "" {
		return ""
	}
	var b strings.Builder
	if x.headed {
		var names []string
		for _, p := range x.projects {
			names = append(names, p.Label())
		}
		fmt.Fprintf(&b, "#### %s\n\n", headed(names))
	}
	if len(x.projects) > fewAlike || len(x.differing) > 0 {
		if text := x.plans() + x.members(); text != "" {
			fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n%s</details>\n\n", x.membersTitle(), text)
		}
		if len(x.differing) > 0 {
			fmt.Fprintf(&b, "The plan of %s:\n\n", markdown.Code(x.projects[0].Label()))
		}
	} else {
		b.WriteString(x.plans())
	}
	b.WriteString(x.projects[0].made())
	b.WriteString(x.notes())
	b.WriteString(steps)
	if body != "" {
		b.WriteString(strings.TrimSpace(body) + "\n")
	}
	if p := x.projects[0]; p.Whole != "" {
		b.WriteString("\n" + p.where() + "\n")
	}
	required := requiredWords(x.projects[0].Required)
	if x.crowded {
		required = ""
	}
	for _, text := range []string{required, x.projects[0].liftedWords()} {
		if text != "" {
			b.WriteString("\n" + text)
		}
	}
	return "\n" + b.String()
}

// notes returns the notes about the plans in the section. A note that is not about all projects of the section
// names its projects.
func (x section) notes() string {
	all := notesOn(x.projects)
	var b strings.Builder
	for i, n := range all {
		if i == maxHeading {
			fmt.Fprintf(&b, "*%d more notes do not fit here: see the checks of the projects.*\n\n", len(all)-i)
			break
		}
		text := n.text
		if len(n.of) < len(x.projects) {
			text = headed(n.of) + ": " + text
		}
		b.WriteString(text + "\n\n")
	}
	return b.String()
}

// A note is a note about the plans of some projects. of are the names of these projects.
type note struct {
	text string
	of   []string
}

// notesOn returns the notes about the plans of the given projects. Equal notes are returned once. Notes that
// differ only by the project's name in a command count as equal.
func notesOn(projects []ProjectStatus) []note {
	var all []note
	at := map[string]int{}
	for _, p := range projects {
		key := p.anyNote()
		i, known := at[key]
		switch {
		case p.Note == "":
		case known:
			all[i].text, all[i].of = key, append(all[i].of, p.Name)
		default:
			at[key] = len(all)
			all = append(all, note{p.Note, []string{p.Name}})
		}
	}
	return all
}

// anyNote returns the note about the project's plan. The commands in it contain [anyProject] instead of the
// project's name, so that equal notes can be found.
func (p ProjectStatus) anyNote() string {
	return strings.ReplaceAll(p.Note, planNow(p.Name), planNow(anyProject))
}

// noteOnce removes notes that many sections contain from these sections. It returns each such note once, with
// the names of its projects.
func noteOnce(all []section) []string {
	sections := map[string]int{}
	var shown []ProjectStatus
	for _, x := range all {
		for _, n := range notesOn(x.projects) {
			sections[strings.ReplaceAll(n.text, planNow(n.of[0]), planNow(anyProject))]++
		}
		shown = append(shown, x.projects...)
	}
	var out []string
	for _, n := range notesOn(shown) {
		if sections[n.text] > fewAlike {
			out = append(out, headed(n.of)+": "+n.text)
		}
	}
	for _, x := range all {
		for i, p := range x.projects {
			if sections[p.anyNote()] > fewAlike {
				x.projects[i].Note = ""
			}
		}
	}
	return out
}

// plans returns lines with the names (hashes) of the projects' plans. So a person who applies a plan has seen
// its name.
func (x section) plans() string {
	var b strings.Builder
	for _, p := range x.projects {
		switch {
		case !p.named():
		case len(x.projects) == 1:
			b.WriteString(markdown.PlanName(p.Hash) + "\n")
		default:
			fmt.Fprintf(&b, "- %s: %s\n", markdown.Code(p.Label()), markdown.PlanName(p.Hash))
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
