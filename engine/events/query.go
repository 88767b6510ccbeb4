package events

import "github.com/zclconf/go-cty/cty"

// A QueryKind is a step of a query.
type QueryKind byte

const (
	QueryStart    QueryKind = 's' // a list block is evaluated, and its provider is asked
	QueryFound    QueryKind = 'f' // one object
	QueryComplete QueryKind = 'c' // the provider has sent all objects, or the limit is reached
)

// A Query is a step in the query of one instance of a list block.
type Query struct {
	Kind    QueryKind
	Address string // list.TYPE.NAME, with the key of the instance
	Type    string // of the resources
	// Config is the value of the config block; only QueryStart has it. It is cty.NilVal if there is no config
	// block, or if the block has a sensitive value.
	Config cty.Value
	Found  Found // for QueryFound
	Total  int   // number of objects, for QueryComplete
}

// Found is one object that a query found.
type Found struct {
	DisplayName     string
	Identity        cty.Value
	IdentityVersion int64
	Object          cty.Value // cty.NilVal if the provider was not asked for it
	// Secrets are the places of sensitive values in Object.
	Secrets []cty.Path
	// Resource and Import are the generated blocks; "" if they were not asked for.
	Resource, Import string
}
