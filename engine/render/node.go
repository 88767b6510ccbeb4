package render

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A node says how one value changes, ready to be written: which of its parts are
// new, gone, different or as before. Trees of nodes are made from values and schema
// (change*.go) and written as text (write*.go).
type node struct {
	kind kind
	// action is one of NoOp, Create, Update and Delete.
	action plans.Action
	// replace says that this makes an update impossible.
	replace bool

	// Of a leaf: the values.
	before, after cty.Value
	// Of an object, a map and a block: the parts by name, sorted; of a list, and a
	// set: the elements in the order to show.
	names []string
	parts []*node
	// Of a block: the blocks in it, by name.
	groups []group
	// Of an unknown value: what was before, or nil. Of a sensitive one: what it hides.
	// Of a change of type: the two.
	inner, other *node
	// Of a sensitive value: when it is.
	wasSensitive, isSensitive bool
	// Of an object, a list, and a set: it comes from a nested attribute.
	nested bool
}

type kind byte

const (
	leafNode kind = iota
	objectNode
	mapNode
	listNode
	setNode
	blockNode
	sensitiveNode
	sensitiveBlockNode
	unknownNode
	typeNode
	writeOnlyNode
)

// A group is the nested blocks of one name.
type group struct {
	name    string
	labels  []string // of blocks with labels, else nil
	blocks  []*node
	replace bool // that one block is there or not forces replacement
	unknown bool // there may be more
	action  plans.Action
	// All of the blocks are sensitive together.
	wasSensitive, isSensitive bool
}

// isNothing reports whether n is a value without parts that is there neither before
// nor after.
func (n *node) isNothing() bool {
	return n.kind == leafNode && n.before == nothing && n.after == nothing
}
