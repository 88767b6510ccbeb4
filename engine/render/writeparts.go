package render

import (
	"strconv"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// important are the attributes that are written even if they do not change: they
// tell what an object is.
var important = map[string]bool{"id": true, "name": true, "tags": true}

// empty writes what has no parts.
func (w *nodeWriter) empty(text string, n *node, l look) {
	w.b.WriteString(text)
	w.toNull(n, l)
	w.forces(n, l)
}

// closing writes the end of what has parts.
func (w *nodeWriter) closing(text string, n *node, indent int, l look) {
	w.end(n, indent, l)
	w.b.WriteString(text)
	w.toNull(n, l)
}

// opening writes the begin of what has parts.
func (w *nodeWriter) opening(text string, n *node, l look) {
	w.b.WriteString(text)
	w.forces(n, l)
	w.b.WriteByte('\n')
}

// object writes attributes, aligned.
func (w *nodeWriter) object(n *node, indent int, l look) {
	if len(n.parts) == 0 {
		w.empty("{}", n, l)
		return
	}
	w.opening("{", n, l)
	in := l
	in.noNull = !n.nested
	in.allForce = false
	w.attributes(n, indent, in)
	w.closing("}", n, indent, l)
}

// attributes writes the attributes of an object or a block, each on its line.
func (w *nodeWriter) attributes(n *node, indent int, l look) {
	width := widest(n.names, attributeName)
	skipped := 0
	for i, c := range n.parts {
		in := l
		switch {
		case important[n.names[i]]:
			in.all = true
		case c.action == plans.NoOp && !l.all:
			skipped++
			continue
		}
		w.notes(c, indent+1, in)
		w.line(indent+1, c.action, in)
		w.name(attributeName(n.names[i]), width)
		w.node(c, indent+1, in)
		w.b.WriteByte('\n')
	}
	w.unchanged(skipped, "attribute", indent+1, l)
}

// mapping writes the elements of a map, aligned.
func (w *nodeWriter) mapping(n *node, indent int, l look) {
	if len(n.parts) == 0 {
		w.empty("{}", n, l)
		return
	}
	w.opening("{", n, l)
	in := l
	in.noNull = l.noNull || n.action == plans.Delete || n.nested
	in.allForce = false
	width := 0
	if !n.nested {
		width = widest(n.names, quotedKey)
	}
	skipped := 0
	for i, c := range n.parts {
		if c.action == plans.NoOp && !l.all {
			skipped++
			continue
		}
		w.notes(c, indent+1, in)
		w.line(indent+1, c.action, in)
		w.name(quotedKey(n.names[i]), width)
		w.node(c, indent+1, in)
		if c.kind == objectNode {
			w.b.WriteByte(',')
		}
		w.b.WriteByte('\n')
	}
	w.unchanged(skipped, "element", indent+1, l)
	w.closing("}", n, indent, l)
}

// list writes the elements of a list that change, with the one before and the one
// after each run of them.
func (w *nodeWriter) list(n *node, indent int, l look) {
	if len(n.parts) == 0 {
		w.empty("[]", n, l)
		return
	}
	w.opening("[", n, l)
	in := l
	in.noNull, in.allForce = true, false
	context := l
	context.all, context.allForce = true, false
	var skipped []*node
	next := false
	for _, c := range n.parts {
		if c.action == plans.NoOp && !next && !l.all {
			skipped = append(skipped, c)
			continue
		}
		next = false
		how := in
		if !n.nested {
			if len(skipped) > 0 {
				w.unchanged(len(skipped)-1, "element", indent+1, l)
				w.element(skipped[len(skipped)-1], indent+1, context)
				skipped = nil
			}
			if c.action == plans.NoOp {
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

func (w *nodeWriter) element(c *node, indent int, l look) {
	w.notes(c, indent, l)
	w.line(indent, c.action, l)
	w.node(c, indent, l)
	w.b.WriteString(",\n")
}

// set writes the elements of a set that change.
func (w *nodeWriter) set(n *node, indent int, l look) {
	if len(n.parts) == 0 {
		w.empty("[]", n, l)
		return
	}
	in := l
	in.noNull, in.allForce = true, false
	if n.nested && n.replace { // then it is the objects that force it
		in.allForce = true
		w.b.WriteString("[\n")
	} else {
		w.opening("[", n, l)
	}
	skipped := 0
	for _, c := range n.parts {
		if c.action == plans.NoOp && !l.all {
			skipped++
			continue
		}
		w.element(c, indent+1, in)
	}
	w.unchanged(skipped, "element", indent+1, l)
	w.closing("]", n, indent, l)
}

// block writes attributes and nested blocks.
func (w *nodeWriter) block(n *node, indent int, l look) {
	if len(n.parts) == 0 && len(n.groups) == 0 {
		w.b.WriteString("{}")
		w.forces(n, l)
		return
	}
	w.opening("{", n, l)
	in := l
	in.allForce = false
	w.attributes(n, indent, in)
	skipped := 0
	for i := range n.groups {
		skipped += w.group(&n.groups[i], indent+1, in, len(n.parts) > 0)
	}
	if skipped > 0 {
		w.b.WriteByte('\n')
		w.unchanged(skipped, "block", indent+1, in)
	}
	w.end(n, indent, l)
	w.b.WriteByte('}')
}

// group writes the nested blocks of one name, and returns how many it left out.
func (w *nodeWriter) group(g *group, indent int, l look, apart bool) int {
	skipped := 0
	start := func() {
		if apart {
			w.b.WriteByte('\n')
			apart = false
		}
	}
	if g.unknown {
		start()
		w.line(indent, g.action, l)
		w.b.WriteString(attributeName(g.name))
		w.b.WriteString(" (known after apply)\n")
	}
	for i, c := range g.blocks {
		c = g.covered(c)
		if c.action == plans.NoOp && !l.all {
			skipped++
			continue
		}
		start()
		in := l
		in.allForce = g.replace
		w.notes(c, indent, in)
		w.line(indent, c.action, in)
		w.b.WriteString(attributeName(g.name))
		if g.labels != nil {
			w.b.WriteString(" " + strconv.Quote(g.labels[i]))
		}
		w.b.WriteByte(' ')
		w.node(c, indent, in)
		w.b.WriteByte('\n')
	}
	return skipped
}

// covered returns a block as it is to be shown, if all of its group are sensitive.
func (g *group) covered(c *node) *node {
	is, was := g.isSensitive, g.wasSensitive
	switch c.action {
	case plans.Create:
		was = false
	case plans.Delete:
		is = false
	}
	if !is && !was {
		return c
	}
	out := &node{kind: sensitiveBlockNode, action: c.action, replace: c.replace, inner: c, wasSensitive: g.wasSensitive, isSensitive: g.isSensitive}
	if c.action == plans.NoOp && g.wasSensitive != g.isSensitive {
		out.action = plans.Update
	}
	return out
}

func (w *nodeWriter) sensitiveBlock(n *node, indent int, l look) {
	w.opening("{", n, l)
	w.line(indent, plans.NoOp, l)
	w.b.WriteString("  # At least one attribute in this block is (or was) sensitive,\n")
	w.line(indent, plans.NoOp, l)
	w.b.WriteString("  # so its contents will not be displayed.\n")
	w.end(n, indent, l)
	w.b.WriteByte('}')
}
