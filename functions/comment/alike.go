package comment

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxDiffering is the maximum number of values that may differ between plans that are shown as one.
const maxDiffering = 4

// values finds the values in a plan: quoted texts and numbers.
var values = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|\b\d+(?:\.\d+)?\b`)

// A shape is a plan's text without its values. Plans of equal shape have the same actions on the same objects
// and attributes.
type shape struct {
	text string // with \x00 in the place of each value
	all  []valueAt
}

// A valueAt is a value of a plan with its attribute. An element of a list has the attribute of the list. ID is set for
// the ID of an object that exists.
type valueAt struct {
	text, attribute string
	id              bool
}

// idLine is a line with the ID of an object, which does not change. Other unchanged lines count as content, because
// people need them: for example, the range of addresses for which a port is opened.
var idLine = regexp.MustCompile(`^ {8}id +=`)

// shapeOf returns the shape of a plan in Markdown. Only code blocks have values.
func shapeOf(body string) shape {
	var s shape
	var b strings.Builder
	fenced, list := false, ""
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		id := idLine.MatchString(line)
		at := 0
		if !fenced {
			b.WriteString(line)
			continue
		}
		for _, m := range values.FindAllStringIndex(line, -1) {
			attribute := cmp.Or(attributeIn(line[:m[0]]), list)
			s.all = append(s.all, valueAt{line[m[0]:m[1]], attribute, id})
			b.WriteString(line[at:m[0]] + "\x00")
			at = m[1]
		}
		b.WriteString(line[at:])
		if name, value, is := strings.Cut(line, "="); is && strings.HasSuffix(strings.TrimSpace(value), "[") {
			list = attributeIn(name)
		}
	}
	s.text = b.String()
	return s
}

// attributeIn returns the attribute of a line, of which text is the part before a value.
func attributeIn(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return strings.Trim(name, " \t+-!~/#[\"")
}

// A difference is a value that differs between the projects of a section.
type difference struct {
	attributes []string // with these values, each once; "" for a value without a name
	values     []string // in the order of the projects
}

// maxAttributes is the maximum number of attributes whose names a comment shows for one difference between projects.
const maxAttributes = 4

// names returns the attributes of a difference for people.
func (d difference) names() string {
	if len(d.attributes) == 1 {
		return d.attributes[0]
	}
	named := slices.DeleteFunc(slices.Clone(d.attributes), func(name string) bool { return name == "" })
	if len(named) > maxAttributes || len(named) < len(d.attributes) {
		named = append(named[:min(len(named), maxAttributes)], "…")
	}
	return strings.Join(named, ", ")
}

// differences returns the values in which the plans of projects differ. Each project has the shape at the same
// index; all shapes are equal. Values that only contain the project's own name are left out, and the IDs of objects that
// exist. Attributes with the same values share a difference.
func differences(projects []ProjectStatus, shapes []shape) []difference {
	var out []difference
	seen := map[string]int{} // indices in out
	for i, v := range shapes[0].all {
		d := difference{attributes: []string{v.attribute}}
		own, equal := true, true
		for j, s := range shapes {
			d.values = append(d.values, s.all[i].text)
			equal = equal && s.all[i].text == v.text
			own = own && anonymous(s.all[i].text, projects[j]) == anonymous(v.text, projects[0])
		}
		key := strings.Join(d.values, "\x00")
		if own || equal || v.id {
			continue
		}
		at, is := seen[key]
		switch {
		case !is:
			seen[key] = len(out)
			out = append(out, d)
		case !slices.Contains(out[at].attributes, v.attribute):
			out[at].attributes = append(out[at].attributes, v.attribute)
		}
	}
	return out
}

// telling matches names of projects that cannot be a part of an address, an account or a port.
var telling = regexp.MustCompile(`[g-zG-Z]`)

// anonymous returns a text value with a mark in the place of the project's name, or of its last part. Numbers and
// addresses stay as they are: a port must not disappear because a project has its name.
func anonymous(value string, p ProjectStatus) string {
	if !strings.HasPrefix(value, `"`) {
		return value
	}
	for _, name := range []string{p.Name, path.Base(p.Name)} {
		if len(name) > 1 && telling.MatchString(name) {
			value = strings.ReplaceAll(value, name, "\x01")
		}
	}
	return value
}

// alike joins sections whose plans differ in a few values only. A joined section takes the place of the first of
// its sections.
func alike(all []section) []section {
	if len(all) < 2 {
		return all
	}
	type kind struct {
		frame, text string
	}
	at := map[kind][]int{}
	var order []kind
	shapes := make([]shape, len(all))
	for i, x := range all {
		p := x.projects[0]
		shapes[i] = shapeOf(p.Body)
		k := kind{p.frameKey(), shapes[i].text}
		if p.Body == "" || p.Whole != "" || p.Means() == Wrong {
			k.text = fmt.Sprint(i) // it stays as it is
		}
		if at[k] == nil {
			order = append(order, k)
		}
		at[k] = append(at[k], i)
	}
	var out []section
	for _, k := range order {
		group := section{headed: all[at[k][0]].headed}
		var same []shape
		for _, i := range at[k] {
			group.projects = append(group.projects, all[i].projects...)
			same = append(same, slices.Repeat(shapes[i:i+1], len(all[i].projects))...)
		}
		if len(at[k]) > 1 {
			group.differing = differences(group.projects, same)
		}
		if len(group.differing) <= maxDiffering {
			out = append(out, group)
			continue
		}
		for _, i := range at[k] {
			out = append(out, all[i])
		}
	}
	return out
}

// frameKey returns a text for everything in a project's section except the plan. Sections with different texts
// are never joined.
func (p ProjectStatus) frameKey() string {
	return fmt.Sprint(p.Standing, p.Counts, p.made(), p.stepsKey(), requiredWords(p.Required), p.liftedWords())
}

// members returns the folded part of a section of many projects: the names of their plans, and the values in
// which the plans differ. It is "" for a section that needs none.
func (x section) members() string {
	if len(x.differing) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| project |")
	rule := "\n|---|"
	for _, d := range x.differing {
		b.WriteString(" " + cell(d.names()) + " |")
		rule += "---|"
	}
	b.WriteString(rule + "\n")
	for i, p := range x.projects {
		fmt.Fprintf(&b, "| %s |", cell(p.Label()))
		for _, d := range x.differing {
			b.WriteString(" " + cell(d.values[i]) + " |")
		}
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

// plain are the attribute names that can be shown as they are.
var plain = regexp.MustCompile(`^[\w.-]{1,60}$`)

// membersTitle returns the line that unfolds the projects of a section.
func (x section) membersTitle() string {
	title := fmt.Sprintf("All %d projects", len(x.projects))
	var names []string
	for _, d := range x.differing {
		for _, name := range d.attributes[:min(len(d.attributes), maxAttributes)] {
			if plain.MatchString(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	switch {
	case len(names) > 0:
		title += ", which differ in " + strings.Join(names, ", ")
	case len(x.differing) > 0:
		title += ", and what differs"
	}
	return title
}
