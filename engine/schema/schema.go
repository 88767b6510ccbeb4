// Package schema has what providers declare about their types, and the rules for values that result from
// these declarations: decoding configuration, the proposed new value of an object, and the checks of a
// provider's answers in the life of a resource.
//
// It does not know where schemas come from (package provider) and what the values are used for (packages
// planning and applying). Start at [Block]. Then see [Block.Bind] for configuration, [ProposedNew] and
// [AssertPlanValid] for the life of an object, and [jsonvalues.Codec] for storing it. Package schematest has
// a notation for schemas and values.
package schema

import (
	"sync"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// Provider is everything that a provider declares. It must not be changed once made.
type Provider struct {
	// Provider describes the provider block. Meta describes the provider_meta block; nil if there is none.
	Provider *Schema
	Meta     *Schema
	// Managed, Data, Ephemeral and List are resource types by name, Actions are types of actions, and Later has those that
	// are not decoded yet, or is nil: see [Provider.Resource].
	Managed   map[string]*Schema
	Data      map[string]*Schema
	Ephemeral map[string]*Schema
	List      map[string]*Schema // the config blocks of list blocks
	Actions   map[string]*Schema
	Later     *Later
	Functions map[string]*Function
	// GenerateConfig is set if the provider can turn an object into the configuration for it.
	GenerateConfig bool
	// PlanDestroy is set if the provider also wants to plan deletions.
	PlanDestroy bool
	// MoveResourceState is set if the provider can move objects between types.
	MoveResourceState bool
	// SchemaOptional is set if a process of the provider works without being asked for its schema, when
	// another process has returned the schema before.
	SchemaOptional bool
}

// A Schema is the structure of a body, and the version of this structure.
type Schema struct {
	Version int64
	Block   *Block
	// Identity describes the identities of a managed resource type; nil if the type has none.
	Identity *Identity
}

// A Block describes a body: attributes and nested blocks. It must not be changed after the first call of a
// method, and not be copied. Its methods are safe for concurrent use.
type Block struct {
	Attributes  map[string]*Attribute
	Blocks      map[string]*NestedBlock
	Description string
	Markdown    bool // Description is Markdown rather than plain text
	Deprecated  bool
	Instead     string // the provider's own words about the deprecation; "" if it has none

	once struct {
		layout, spec, codec sync.Once
	}
	layoutCache *layout
	spec        hcldec.Spec
	codec       *jsonvalues.Codec
}

// An Attribute describes one argument or exported value. Exactly one of Type and
// Nested is set.
type Attribute struct {
	Type        cty.Type // cty.NilType if Nested is set
	Nested      *Object
	Description string
	Markdown    bool
	Required    bool
	Optional    bool
	Computed    bool
	Sensitive   bool
	WriteOnly   bool
	Deprecated  bool
	Instead     string // as that of a [Block]
	// Echoes is the name of another attribute of the same object, whose values this attribute repeats. This
	// attribute is sensitive wherever the other one is. "" means that the attribute repeats nothing. Only the
	// built-in provider declares it.
	Echoes string
}

// An Object describes the values of an attribute with a structure of its own
// (protocol 6 only).
type Object struct {
	Attributes map[string]*Attribute
	Nesting    Nesting
}

// A NestedBlock describes one kind of block inside another.
type NestedBlock struct {
	Block    *Block
	Nesting  Nesting
	MinItems int
	MaxItems int // 0 means no limit
}

// Nesting is how the blocks or objects of one name form one value.
type Nesting byte

const (
	NestingInvalid Nesting = iota
	NestingSingle          // an object, or null if absent
	NestingGroup           // an object, never null
	NestingList
	NestingSet
	NestingMap
)

// A Function describes a function of a provider.
type Function struct {
	Parameters  []Parameter
	Variadic    *Parameter
	Return      cty.Type
	Summary     string
	Description string
	Markdown    bool
	Deprecation string
}

// A Parameter describes one parameter of a [Function].
type Parameter struct {
	Name         string
	Type         cty.Type
	AllowNull    bool
	AllowUnknown bool
	Description  string
	Markdown     bool
}

// JSON returns the codec for values of b's implied type.
func (b *Block) JSON() *jsonvalues.Codec {
	b.once.codec.Do(func() { b.codec = jsonvalues.NewCodec(b.ImpliedType()) })
	return b.codec
}
