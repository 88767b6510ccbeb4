package render

import (
	"strconv"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/internal/difference"
)

// important are the attributes that are written even if unchanged, because they identify an object.
var important = map[string]bool{"id": true, "name": true, "tags": true}

// empty writes a value that has no elements, such as {}.
func (w *nodeWriter) empty(text string, n *difference.Node, l look) {
	w.b.WriteString(text)
	w.toNull(n, l)
	w.forces(n, l)
}

// closing writes the closing bracket of a value with parts.
func (w *nodeWriter) closing(text string, n *difference.Node, indent int, l look) {
	w.end(n, indent, l)
	w.b.WriteString(text)
	w.toNull(n, l)
}

// opening writes the opening bracket of a value with parts.
func (w *nodeWriter) opening(text string, n *difference.Node, l look) {
	w.b.WriteString(text)
	w.forces(n, l)
	w.b.WriteByte('\n')
}

// object writes attributes, aligned.
func (w *nodeWriter) object(n *difference.Node, indent int, l look) {
	if len(n.Parts) == 0 {
		w.empty("{}", n, l)
		return
	}
	w.opening("{", n, l)
	in := l
	in.noNull = !n.Nested
	in.allForce = false
	w.attributes(n, indent, in)
	w.closing("}", n, indent, l)
}

// attributes writes the attributes of an object or a block, one per line.
func (w *nodeWriter) attributes(n *difference.Node, indent int, l look) {
	width := widest(n.Names, attributeName)
	skipped := 0
	for i, c := range n.Parts {
		in := l
		switch {
		case important[n.Names[i]]:
			in.all = true
		case c.Action == plans.NoOp && !l.all:
			skipped++
			continue
		}
		w.notes(c, indent+1, in)
		w.line(indent+1, c.Action, in)
		w.name(attributeName(n.Names[i]), width)
		w.node(c, indent+1, in)
		w.b.WriteByte('\n')
	}
	w.unchanged(skipped, "attribute", indent+1, l)
}

// mapping writes the elements of a map, aligned.
func (w *nodeWriter) mapping(n *difference.Node, indent int, l look) {
	if len(n.Parts) == 0 {
		w.empty("{}", n, l)
		return
	}
	w.opening("{", n, l)
	in := l
	in.noNull = l.noNull || n.Action == plans.Delete || n.Nested
	in.allForce = false
	width := 0
	if !n.Nested {
		width = widest(n.Names, quotedKey)
	}
	skipped := 0
	for i, c := range n.Parts {
		if c.Action == plans.NoOp && !l.all {
			skipped++
			continue
		}
		w.notes(c, indent+1, in)
		w.line(indent+1, c.Action, in)
		w.name(quotedKey(n.Names[i]), width)
		w.node(c, indent+1, in)
		if c.Kind == difference.Object {
			w.b.WriteByte(',')
		}
		w.b.WriteByte('\n')
	}
	w.unchanged(skipped, "element", indent+1, l)
	w.closing("}", n, indent, l)
}

// list writes the changed elements of a list. The unchanged element before and after each run of changed ones
// is written as context. The comment about hidden elements does not count these. As in Terraform, lists of
// nested objects have no context.
func (w *nodeWriter) list(n *difference.Node, indent int, l look) {
	if len(n.Parts) == 0 {
		w.empty("[]", n, l)
		return
	}
	w.opening("[", n, l)
	in := l
	in.noNull, in.allForce = true, false
	context := l
	context.all, context.allForce = true, false
	var skipped []*difference.Node
	next := false
	for _, c := range n.Parts {
		if c.Action == plans.NoOp && !next && !l.all {
			skipped = append(skipped, c)
			continue
		}
		next = false
		how := in
		if !n.Nested {
			if len(skipped) > 0 {
				w.unchanged(len(skipped)-1, "element", indent+1, l)
				w.element(skipped[len(skipped)-1], indent+1, context)
				skipped = nil
			}
			if c.Action == plans.NoOp {
				how = context
			} else {
				next = true
			}
		}
		w.element(c, indent+1, how)
	}
	w.unchanged(len(skipped), "element", indent+1, l)
	w.closing("]", n, indent, l)
}

func (w *nodeWriter) element(c *difference.Node, indent int, l look) {
	w.notes(c, indent, l)
	w.line(indent, c.Action, l)
	w.node(c, indent, l)
	w.b.WriteString(",\n")
}

// set writes the changed elements of a set. They have no order, so there is no context. An element with a
// changed part is written as one removed and one added element.
func (w *nodeWriter) set(n *difference.Node, indent int, l look) {
	if len(n.Parts) == 0 {
		w.empty("[]", n, l)
		return
	}
	in := l
	in.noNull, in.allForce = true, false
	if n.Nested && n.Replace { // The objects in the set then have the note about forcing the replacement.
		in.allForce = true
		w.b.WriteString("[\n")
	} else {
		w.opening("[", n, l)
	}
	skipped := 0
	for _, c := range n.Parts {
		if c.Action == plans.NoOp && !l.all {
			skipped++
			continue
		}
		w.element(c, indent+1, in)
	}
	w.unchanged(skipped, "element", indent+1, l)
	w.closing("]", n, indent, l)
}

// block writes attributes and nested blocks.
func (w *nodeWriter) block(n *difference.Node, indent int, l look) {
	if len(n.Parts) == 0 && len(n.Groups) == 0 {
		w.b.WriteString("{}")
		w.forces(n, l)
		return
	}
	w.opening("{", n, l)
	in := l
	in.allForce = false
	w.attributes(n, indent, in)
	skipped := 0
	for i := range n.Groups {
		skipped += w.group(&n.Groups[i], indent+1, in, len(n.Parts) > 0)
	}
	if skipped > 0 {
		w.b.WriteByte('\n')
		w.unchanged(skipped, "block", indent+1, in)
	}
	w.end(n, indent, l)
	w.b.WriteByte('}')
}

// group writes the nested blocks of one name, and returns how many unchanged blocks it left out. If separated
// is set, it writes an empty line before the first block.
func (w *nodeWriter) group(g *difference.Group, indent int, l look, separated bool) int {
	skipped := 0
	start := func() {
		if separated {
			w.b.WriteByte('\n')
			separated = false
		}
	}
	if g.Unknown {
		start()
		w.line(indent, g.Action, l)
		w.b.WriteString(attributeName(g.Name))
		w.b.WriteString(" (known after apply)\n")
	}
	for i, c := range g.Blocks {
		c = g.Shown(c)
		if c.Action == plans.NoOp && !l.all {
			skipped++
			continue
		}
		start()
		in := l
		in.allForce = g.Replace
		w.notes(c, indent, in)
		w.line(indent, c.Action, in)
		w.b.WriteString(attributeName(g.Name))
		if g.Labels != nil {
			w.b.WriteString(" " + strconv.Quote(g.Labels[i]))
		}
		w.b.WriteByte(' ')
		w.node(c, indent, in)
		w.b.WriteByte('\n')
	}
	return skipped
}

func (w *nodeWriter) sensitiveBlock(n *difference.Node, indent int, l look) {
	w.opening("{", n, l)
	w.line(indent, plans.NoOp, l)
	w.b.WriteString("  # At least one attribute in this block is (or was) sensitive,\n")
	w.line(indent, plans.NoOp, l)
	w.b.WriteString("  # so its contents will not be displayed.\n")
	w.end(n, indent, l)
	w.b.WriteByte('}')
}
