package comment

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Radius is what depends on the changes of a plan. Its names come from the pull request.
type Radius struct {
	// Objects is the number of objects that do not change, and depend on objects that do. Readers are the projects
	// that read the outputs of this one.
	Objects int
	Readers []string
	// Nodes are the resources for a picture, and Edges are pairs of their indices. The second resource of a
	// pair depends on the first.
	Nodes []RadiusNode
	Edges [][2]int
}

// A RadiusNode is a resource in the picture of a [Radius], which shows what depends on the changes of a plan. Objects is
// the number of its objects.
type RadiusNode struct {
	Name    string
	Objects int
	// Action is what the plan does with the resource, such as "replace"; "" if it stays as it is.
	Action string
}

// These are the limits of what is shown of a radius.
const (
	MaxRadiusNodes   = 30 // in a picture
	maxRadiusReaders = 5  // names
	maxRadiusLabel   = 80 // characters
)

// Markdown returns a sentence with the numbers, and a folded picture if it is small enough; "" if nothing depends on
// what changes.
func (r Radius) Markdown() string {
	var parts []string
	switch {
	case r.Objects == 1:
		parts = append(parts, "1 other object depends on what changes.")
	case r.Objects > 1:
		parts = append(parts, fmt.Sprintf("%d other objects depend on what changes.", r.Objects))
	}
	switch names := markdown.Names(r.Readers, maxRadiusReaders); len(r.Readers) {
	case 0:
	case 1:
		parts = append(parts, fmt.Sprintf("The project %s reads the outputs of this one.", names))
	default:
		parts = append(parts, fmt.Sprintf("%d projects read the outputs of this one: %s.", len(r.Readers), names))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, " ") + "\n\n"
	if r.Objects == 0 || len(r.Edges) == 0 || len(r.Nodes) > MaxRadiusNodes {
		return text
	}
	return text + "<details><summary>The dependents as a picture</summary>\n\n```mermaid\n" + r.mermaid() + "```\n\n</details>\n\n"
}

// mermaid returns the picture as a flowchart. Source: https://mermaid.js.org/syntax/flowchart.html
func (r Radius) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	var changed []string
	for i, n := range r.Nodes {
		label := mermaidText(n.Name)
		if n.Objects > 1 {
			label += fmt.Sprintf(" (%d)", n.Objects)
		}
		if verb := radiusVerbs[n.Action]; verb != "" {
			label += ": " + verb
			changed = append(changed, fmt.Sprintf("n%d", i))
		}
		fmt.Fprintf(&b, "n%d[\"%s\"]\n", i, label)
	}
	for _, e := range r.Edges {
		fmt.Fprintf(&b, "n%d --> n%d\n", e[0], e[1])
	}
	if len(changed) > 0 {
		fmt.Fprintf(&b, "classDef changed stroke-width:4px\nclass %s changed\n", strings.Join(changed, ","))
	}
	return b.String()
}

// radiusVerbs are the actions as people read them in a picture.
var radiusVerbs = map[string]string{"create": "created", "update": "updated", "replace": "replaced", "delete": "destroyed", "forget": "removed from the state"}

// mermaidText returns a name for a quoted label. All characters that could have a meaning there become codes. Source:
// https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
func mermaidText(text string) string {
	var b strings.Builder
	for i, r := range []rune(text) {
		switch {
		case i == maxRadiusLabel:
			b.WriteString("#8230;") // …
			return b.String()
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_.- ", r):
			b.WriteRune(r)
		case !unicode.IsPrint(r):
			b.WriteString("?")
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
