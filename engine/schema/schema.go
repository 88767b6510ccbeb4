// Package schema holds the declarations of providers about their types, and the rules for
// values that follow: the decoding of configuration, the proposed new value of an object,
// and the contract that the answers of a provider must keep to in the life of a resource.
//
// It refuses to know where schemas come from (package provider) and the use of the values
// (packages planning and applying). Start at [Block]; then
// [Block.Bind] for configuration, [ProposedNew] and [AssertPlanValid] for the life of
// an object, [jsonvalues.Codec] for how it is stored. Package schematest has a notation for
// schemas and values.
package schema

import (
	"sync"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// Provider is everything that a provider declares. It is immutable once made.
type Provider struct {
	// Provider describes the provider block, Meta the provider_meta block (or nil).
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
	// PlanDestroy is set if the provider wants to plan deletions, too.
	PlanDestroy bool
	// MoveResourceState is set if the provider can move objects between types.
	MoveResourceState bool
	// SchemaOptional is set if a process of the provider works without a request for its
	// schema, after another process has told it.
	SchemaOptional bool
}

// A Schema is a body's structure and the version of that structure.
type Schema struct {
	Version int64
	Block   *Block
	// Identity describes the identities of a managed resource type; nil if the type has none.
	Identity *Identity
}

// A Block describes a body: attributes and nested blocks. It is immutable once
// its first method was called; copies must not be made. Its methods may be called
// by many goroutines at once.
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
	// Echoes is the name of the attribute beside it whose values this one repeats, "" if it is none: wherever that one is
	// sensitive, this one is. Only the built-in provider declares it.
	Echoes string
}

// An Object describes the values of an attribute with a structure of its own
// (protocol 6 only).
type Object struct {
	Attributes map[string]*Attribute
	Nesting    Nesting
}

// A NestedBlock describes a kind of block inside another.
type NestedBlock struct {
	Block    *Block
	Nesting  Nesting
	MinItems int
	MaxItems int // 0: no limit
}

// Nesting is how several blocks or objects of one name make one value.
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
