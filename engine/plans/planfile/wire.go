package planfile

import (
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The types below are the contents of the member "plan". Their code methods list the fields in the order of
// the file: increase format with every change of that order. Indices into tables count from 1; 0 means none.

type wirePlan struct {
	Language    language.Version
	Mode        plans.Mode
	Errored     bool
	Applyable   bool
	Complete    bool
	Changes     []wireChange
	Invocations []wireInvocation
	Drift       []wireChange
	Outputs     []wireOutput
	Checks      []states.CheckResult
	Relevant    []wireRelevant
	Variables   []wireNamed
	Ephemerals  []string
	Targets     []wireTarget
	Excludes    []wireTarget
	Waiting     []wireTarget
	Invoke      *wireInstance
	Replace     []wireInstance
	Calls       []wireCall
	Expanded    []wireExpanded
	Prev        wireState
	Prior       wireState
	Affected    *wireAffected
	Timestamp   []byte
	Backend     wireBackend
	Providers   []wireSelection

	// Tables of values that many changes share.
	Types      []string // as JSON
	Configs    []string // provider configurations
	Modules    []string // module instances
	Resources  []wireResource
	Blocks     []string   // static addresses of resources
	BlockLists [][]uint32 // of indices into Blocks
	PathLists  [][]wirePath
}

func (w *wirePlan) code(c *coder) {
	text(c, &w.Language)
	octet(c, &w.Mode)
	c.bool(&w.Errored)
	c.bool(&w.Applyable)
	c.bool(&w.Complete)
	list(c, &w.Changes, (*wireChange).code)
	list(c, &w.Invocations, (*wireInvocation).code)
	list(c, &w.Drift, (*wireChange).code)
	list(c, &w.Outputs, (*wireOutput).code)
	list(c, &w.Checks, codeCheck)
	list(c, &w.Relevant, (*wireRelevant).code)
	list(c, &w.Variables, (*wireNamed).code)
	list(c, &w.Ephemerals, textElement)
	list(c, &w.Targets, (*wireTarget).code)
	list(c, &w.Excludes, (*wireTarget).code)
	list(c, &w.Waiting, (*wireTarget).code)
	optional(c, &w.Invoke, (*wireInstance).code)
	list(c, &w.Replace, (*wireInstance).code)
	list(c, &w.Calls, (*wireCall).code)
	list(c, &w.Expanded, (*wireExpanded).code)
	w.Prev.code(c)
	w.Prior.code(c)
	optional(c, &w.Affected, (*wireAffected).code)
	c.bytes(&w.Timestamp)
	w.Backend.code(c)
	list(c, &w.Providers, (*wireSelection).code)
	list(c, &w.Types, textElement)
	list(c, &w.Configs, textElement)
	list(c, &w.Modules, textElement)
	list(c, &w.Resources, (*wireResource).code)
	list(c, &w.Blocks, textElement)
	list(c, &w.BlockLists, func(v *[]uint32, c *coder) { list(c, v, indexElement) })
	list(c, &w.PathLists, func(v *[]wirePath, c *coder) { list(c, v, (*wirePath).code) })
}

// wireAffected is a [plans.Affected]. Digests is an encoded [digests.Record].
type wireAffected struct {
	Unread, UnreadData int
	Data               bool
	Since              []byte
	Everything         string
	Digests            []byte
}

func (w *wireAffected) code(c *coder) {
	c.int(&w.Unread)
	c.int(&w.UnreadData)
	c.bool(&w.Data)
	c.bytes(&w.Since)
	text(c, &w.Everything)
	c.bytes(&w.Digests)
}

func codeCheck(v *states.CheckResult, c *coder) {
	text(c, &v.Kind)
	text(c, &v.ConfigAddr)
	text(c, &v.Status)
	list(c, &v.Objects, func(v *states.CheckObject, c *coder) {
		text(c, &v.Addr)
		text(c, &v.Status)
		list(c, &v.Failures, textElement)
	})
}

type wireResource struct {
	Module uint32
	Mode   byte
	Type   string
	Name   string
}

func (w *wireResource) code(c *coder) {
	c.index(&w.Module)
	octet(c, &w.Mode)
	text(c, &w.Type)
	text(c, &w.Name)
}

// wireKey is an instance key. Its kind is 0 for none, 1 for a number, 2 for a string.
type wireKey struct {
	Kind byte
	Num  int
	Str  string
}

func (w *wireKey) code(c *coder) {
	switch octet(c, &w.Kind); w.Kind {
	case 1:
		c.int(&w.Num)
	case 2:
		text(c, &w.Str)
	}
}

type wireInstance struct {
	Resource uint32
	Key      wireKey
}

func (w *wireInstance) code(c *coder) {
	c.index(&w.Resource)
	w.Key.code(c)
}

type wireTarget struct {
	Module uint32
	Mode   byte // 0 for a module
	Type   string
	Name   string
	Key    wireKey
}

func (w *wireTarget) code(c *coder) {
	c.index(&w.Module)
	octet(c, &w.Mode)
	text(c, &w.Type)
	text(c, &w.Name)
	w.Key.code(c)
}

// These constants say where the file has a value.
const (
	valueAbsent byte = iota // no value: cty.NilVal
	valueHere
	valueBefore // equal to the change's value before
	valuePrior  // equal to the attributes of the object in the prior state
)

type wireValue struct {
	Where     byte
	Type      uint32
	Data      []byte // the value in cty's msgpack format
	Sensitive uint32 // path list
}

func (w *wireValue) code(c *coder) {
	switch octet(c, &w.Where); w.Where {
	case valueHere:
		c.index(&w.Type)
		c.bytes(&w.Data)
		c.index(&w.Sensitive)
	case valuePrior:
		c.index(&w.Type)
		c.index(&w.Sensitive)
	}
}

// wirePath has the steps of a path. A step with a nil Key is an attribute; any other step is an index, which
// may have any type.
type wirePath []wireStep

type wireStep struct {
	Name string
	Key  []byte
}

func (w *wirePath) code(c *coder) {
	list(c, (*[]wireStep)(w), func(s *wireStep, c *coder) {
		text(c, &s.Name)
		c.bytes(&s.Key)
	})
}

// These constants say where the file has the stored dependencies of a change.
const (
	depsNone byte = iota
	depsPrior
	depsPrev
	depsListed
)

type wireChange struct {
	Addr           wireInstance
	Deposed        string
	PrevAddr       *wireInstance // previous address; nil if it equals Addr
	Provider       uint32
	Action         plans.Action
	Before         wireValue
	After          wireValue
	BeforeIdentity wireValue
	AfterIdentity  wireValue
	Importing      *wireImporting
	Generated      string
	Reason         plans.Reason
	Private        []byte
	Replace        uint32 // path list
	Cbd            bool
	KeepsOld       bool

	ConfigDeps  uint32 // block list
	StoredWhere byte
	StoredDeps  uint32 // block list
}

func (w *wireChange) code(c *coder) {
	w.Addr.code(c)
	text(c, &w.Deposed)
	optional(c, &w.PrevAddr, (*wireInstance).code)
	c.index(&w.Provider)
	octet(c, &w.Action)
	w.Before.code(c)
	w.After.code(c)
	w.BeforeIdentity.code(c)
	w.AfterIdentity.code(c)
	optional(c, &w.Importing, (*wireImporting).code)
	text(c, &w.Generated)
	text(c, &w.Reason)
	c.bytes(&w.Private)
	c.index(&w.Replace)
	c.bool(&w.Cbd)
	c.bool(&w.KeepsOld)
	c.index(&w.ConfigDeps)
	octet(c, &w.StoredWhere)
	c.index(&w.StoredDeps)
}

type wireInvocation struct {
	Addr      wireInstance
	Provider  uint32
	Config    wireValue
	Caller    *wireInstance
	Event     config.Event
	Trigger   int
	Index     int
	OnFailure config.OnFailure
	Pending   bool
}

func (w *wireInvocation) code(c *coder) {
	w.Addr.code(c)
	c.index(&w.Provider)
	w.Config.code(c)
	optional(c, &w.Caller, (*wireInstance).code)
	text(c, &w.Event)
	c.int(&w.Trigger)
	c.int(&w.Index)
	text(c, &w.OnFailure)
	c.bool(&w.Pending)
}

type wireImporting struct {
	ID       string
	Identity wireValue
	Unknown  bool
}

func (w *wireImporting) code(c *coder) {
	text(c, &w.ID)
	w.Identity.code(c)
	c.bool(&w.Unknown)
}

type wireOutput struct {
	Name      string
	Action    plans.Action
	Before    wireValue
	After     wireValue
	Importing *wireImporting
	Generated string
	Sensitive bool
}

func (w *wireOutput) code(c *coder) {
	text(c, &w.Name)
	octet(c, &w.Action)
	w.Before.code(c)
	w.After.code(c)
	optional(c, &w.Importing, (*wireImporting).code)
	text(c, &w.Generated)
	c.bool(&w.Sensitive)
}

type wireRelevant struct {
	Resource  wireInstance
	Attribute wirePath
}

func (w *wireRelevant) code(c *coder) {
	w.Resource.code(c)
	w.Attribute.code(c)
}

type wireNamed struct {
	Name  string
	Value wireValue
}

func (w *wireNamed) code(c *coder) {
	text(c, &w.Name)
	w.Value.code(c)
}

type wireCall struct {
	Module uint32
	Call   string
	Keys   []wireKey
}

func (w *wireCall) code(c *coder) {
	c.index(&w.Module)
	text(c, &w.Call)
	list(c, &w.Keys, (*wireKey).code)
}

type wireExpanded struct {
	Resource uint32
	Keys     []wireKey
}

func (w *wireExpanded) code(c *coder) {
	c.index(&w.Resource)
	list(c, &w.Keys, (*wireKey).code)
}

// wireState has the parts of a state that a state file cannot represent.
type wireState struct {
	Present bool
	// Version is the version of the tool that wrote the state that was read.
	Version string
	// Same is true if the prior state is the very state that was read.
	Same bool
	// Removed lists resources that are in the state that was read, but no longer in the prior state.
	Removed []uint32
}

func (w *wireState) code(c *coder) {
	c.bool(&w.Present)
	text(c, &w.Version)
	c.bool(&w.Same)
	list(c, &w.Removed, indexElement)
}

type wireBackend struct {
	Type      string
	Config    wireValue
	Workspace string
}

func (w *wireBackend) code(c *coder) {
	text(c, &w.Type)
	w.Config.code(c)
	text(c, &w.Workspace)
}

type wireSelection struct {
	Provider string
	Version  string
	Hashes   []string
}

func (w *wireSelection) code(c *coder) {
	text(c, &w.Provider)
	text(c, &w.Version)
	list(c, &w.Hashes, textElement)
}
