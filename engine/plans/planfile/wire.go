package planfile

import (
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The types below are what stands in the member "plan". Fields are told apart by
// their order; whoever changes them raises format. Indices into tables count
// from 1 where 0 can mean none.

type wirePlan struct {
	_msgpack struct{} `msgpack:",as_array"`

	Mode       plans.Mode
	Errored    bool
	Applyable  bool
	Complete   bool
	Changes    []wireChange
	Drift      []wireChange
	Outputs    []wireOutput
	Checks     []states.CheckResult
	Relevant   []wireRelevant
	Variables  []wireNamed
	Ephemerals []string
	Targets    []wireTarget
	Excludes   []wireTarget
	Replace    []wireInstance
	Calls      []wireCall
	Expanded   []wireExpanded
	Prev       wireState
	Prior      wireState
	Timestamp  []byte
	Backend    wireBackend
	Providers  []wireSelection

	// Tables of what is the same for many changes.
	Types      []string // as JSON
	Configs    []string // provider configurations
	Modules    []string // module instances
	Resources  []wireResource
	Blocks     []string   // static addresses of resources
	BlockLists [][]uint32 // of indices into Blocks
	PathLists  [][]wirePath
}

type wireResource struct {
	_msgpack struct{} `msgpack:",as_array"`

	Module uint32
	Mode   byte
	Type   string
	Name   string
}

// wireKey is an instance key: kind 0 is none, 1 a number, 2 a string.
type wireKey struct {
	_msgpack struct{} `msgpack:",as_array"`

	Kind byte
	Num  int
	Str  string
}

type wireInstance struct {
	_msgpack struct{} `msgpack:",as_array"`

	Resource uint32
	Key      wireKey
}

type wireTarget struct {
	_msgpack struct{} `msgpack:",as_array"`

	Module uint32
	Mode   byte // 0 if it is a module
	Type   string
	Name   string
	Key    wireKey
}

// Where a value is to be found.
const (
	valueAbsent byte = iota // cty.NilVal
	valueHere
	valueBefore // the same as the change's value before
	valuePrior  // attributes of the object in the prior state
)

type wireValue struct {
	_msgpack struct{} `msgpack:",as_array"`

	Where     byte
	Type      uint32
	Data      []byte // cty's msgpack
	Sensitive uint32 // path list
}

// A path's steps: an attribute if Key is nil, else an index, a value of any type.
type wirePath []wireStep

type wireStep struct {
	_msgpack struct{} `msgpack:",as_array"`

	Name string
	Key  []byte
}

// Where stored dependencies are to be found.
const (
	depsNone byte = iota
	depsPrior
	depsPrev
	depsListed
)

type wireChange struct {
	_msgpack struct{} `msgpack:",as_array"`

	Addr      wireInstance
	Deposed   string
	PrevAddr  *wireInstance // nil if it is Addr
	Provider  uint32
	Action    plans.Action
	Before    wireValue
	After     wireValue
	Importing *wireImporting
	Generated string
	Reason    plans.Reason
	Private   []byte
	Replace   uint32 // path list
	Cbd       bool

	ConfigDeps  uint32 // block list
	StoredWhere byte
	StoredDeps  uint32 // block list
}

type wireImporting struct {
	_msgpack struct{} `msgpack:",as_array"`

	ID      string
	Unknown bool
}

type wireOutput struct {
	_msgpack struct{} `msgpack:",as_array"`

	Name      string
	Action    plans.Action
	Before    wireValue
	After     wireValue
	Importing *wireImporting
	Generated string
	Sensitive bool
}

type wireRelevant struct {
	_msgpack struct{} `msgpack:",as_array"`

	Resource  wireInstance
	Attribute wirePath
}

type wireNamed struct {
	_msgpack struct{} `msgpack:",as_array"`

	Name  string
	Value wireValue
}

type wireCall struct {
	_msgpack struct{} `msgpack:",as_array"`

	Module uint32
	Call   string
	Keys   []wireKey
}

type wireExpanded struct {
	_msgpack struct{} `msgpack:",as_array"`

	Resource uint32
	Keys     []wireKey
}

// wireState is what the state files cannot say.
type wireState struct {
	_msgpack struct{} `msgpack:",as_array"`

	Present bool
	// Version is who wrote the state that was read.
	Version string
	// Same, for the prior state: it is the very state that was read.
	Same bool
	// Removed, for the prior state: resources that refreshing found gone.
	Removed []uint32
}

type wireBackend struct {
	_msgpack struct{} `msgpack:",as_array"`

	Type      string
	Config    wireValue
	Workspace string
}

type wireSelection struct {
	_msgpack struct{} `msgpack:",as_array"`

	Provider string
	Version  string
	Hashes   []string
}
