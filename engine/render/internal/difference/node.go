// Package difference finds how a value changes. It makes a tree of nodes from the value before, the value
// after and the schema. Each node has an action of its own. Elements of lists and sets are paired as a reader
// would pair them.
//
// It refuses to know how a tree is written: as text, with colours or as a diff. Start at [Node] and
// [OfResource].
package difference

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A Node is the change of one value, ready to be written: it says which parts are created, deleted, changed
// or unchanged.
type Node struct {
	Kind Kind
	// Action is one of NoOp, Create, Update and Delete.
	Action plans.Action
	// Replace is set if this change forces a replacement.
	Replace bool

	// Before and After are the values of a leaf.
	Before, After cty.Value
	// Names are the sorted names of the Parts of an object, a map or a block. Parts of a list or a set are
	// its elements, in the order to show them.
	Names []string
	Parts []*Node
	// Groups are the nested blocks of a block, by name.
	Groups []Group
	// Inner is the value that a node of another kind stands for:
	//
	//   - for an Unknown value, the previous value; nil if there was none
	//   - for a Sensitive value, the hidden value
	//   - for a change of type, the value before; Other is then the value after
	Inner, Other *Node
	// WasSensitive and IsSensitive say when a sensitive value is sensitive: before, and after.
	WasSensitive, IsSensitive bool
	// Nested is set for an object, a list or a set that is the value of a nested attribute.
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
	Labels  []string // labels of the blocks; nil if blocks have no label
	Blocks  []*Node
	Replace bool // adding or removing a block forces replacement
	Unknown bool // there may be more blocks, not known yet
	Action  plans.Action
	// WasSensitive and IsSensitive are set if the blocks are sensitive as a whole, before or after.
	WasSensitive, IsSensitive bool
}

// isNothing reports whether n is a value without parts that exists neither before nor after.
func (n *Node) isNothing() bool {
	return n.Kind == Leaf && n.Before == Nothing && n.After == Nothing
}

// Shown returns the block c of the group as it may be shown: without its content if the group is sensitive as a
// whole.
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
