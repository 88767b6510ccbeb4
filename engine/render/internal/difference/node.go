// Package difference finds how a value changes: it makes a tree of nodes from the value
// before, the value after and the schema. Each node has an action of its own; elements of
// lists and sets are paired as a reader would pair them.
//
// It refuses to know how a tree is written, as text, with colours or as a diff. Start at
// [Node] and [OfResource].
package difference

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A Node is the change of one value, ready to be written: which of its parts are new,
// gone, different or as before.
type Node struct {
	Kind Kind
	// action is one of NoOp, Create, Update and Delete.
	Action plans.Action
	// Replace is set if this change makes an update impossible.
	Replace bool

	// Of a leaf: the values.
	Before, After cty.Value
	// Of an object, a map and a block: the parts by name, sorted; of a list, and a
	// set: the elements in the order to show.
	Names []string
	Parts []*Node
	// Of a block: the blocks in it, by name.
	Groups []Group
	// Of an unknown value: the one before, or nil. Of a sensitive one: the hidden one.
	// Of a change of type: the two.
	Inner, Other *Node
	// Of a sensitive value: when it is.
	WasSensitive, IsSensitive bool
	// Of an object, a list, and a set: it comes from a nested attribute.
	Nested bool
}

type Kind byte

const (
	Leaf Kind = iota
	Object
	Map
	List
	Set
	Block
	Sensitive
	SensitiveBlock
	Unknown
	Type
	WriteOnly
)

// A Group is the nested blocks of one name.
type Group struct {
	Name    string
	Labels  []string // of blocks with labels, else nil
	Blocks  []*Node
	Replace bool // that one block is there or not forces replacement
	Unknown bool // there may be more
	Action  plans.Action
	// All of the blocks are sensitive together.
	WasSensitive, IsSensitive bool
}

// isNothing reports whether n is a value without parts that is there neither before
// nor after.
func (n *Node) isNothing() bool {
	return n.Kind == Leaf && n.Before == Nothing && n.After == Nothing
}

// Shown returns the block c of the group as it may be shown: without content, if all of
// the group is sensitive.
func (g *Group) Shown(c *Node) *Node {
	is, was := g.IsSensitive, g.WasSensitive
	switch c.Action {
	case plans.Create:
		was = false
	case plans.Delete:
		is = false
	}
	if !is && !was {
		return c
	}
	out := &Node{Kind: SensitiveBlock, Action: c.Action, Replace: c.Replace, Inner: c, WasSensitive: g.WasSensitive, IsSensitive: g.IsSensitive}
	if c.Action == plans.NoOp && g.WasSensitive != g.IsSensitive {
		out.Action = plans.Update
	}
	return out
}
