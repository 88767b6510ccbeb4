// Package plans holds planned changes as data: the [Plan] that planning makes, that people read, that is
// saved, and that an apply carries out.
//
// It refuses to know how a plan is made and how it is carried out. Package planfile encodes saved plans,
// package order turns the changes into steps, and package render shows them.
package plans

import (
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Mode is the purpose of a plan.
type Mode byte

const (
	NormalMode      Mode = 'N'
	DestroyMode     Mode = 'D'
	RefreshOnlyMode Mode = 'R'
)

// Action is what an apply does with one object, such as creating, updating or deleting it.
type Action byte

const (
	NoOp             Action = '0'
	Create           Action = '+'
	Read             Action = 'r' // a data source is read during apply
	Update           Action = '~'
	DeleteThenCreate Action = '-'
	CreateThenDelete Action = 'c'
	Delete           Action = 'd'
	Forget           Action = 'f' // removed from the state without destroying the object
	Open             Action = 'o' // an ephemeral resource is opened; never in [Plan.Changes]
)

// IsReplace reports whether a is a replacement, in either order.
func (a Action) IsReplace() bool { return a == DeleteThenCreate || a == CreateThenDelete }

// String returns a word for messages: "create", "update", "replace", ...
func (a Action) String() string {
	switch a {
	case NoOp:
		return "no-op"
	case Create:
		return "create"
	case Read:
		return "read"
	case Update:
		return "update"
	case DeleteThenCreate, CreateThenDelete:
		return "replace"
	case Delete:
		return "delete"
	case Forget:
		return "forget"
	case Open:
		return "open"
	}
	return "invalid"
}

// Reason is the reason for an action, if the reason is not obvious; "" means none. The values are those of
// action_reason in Terraform's JSON plan format, and two values of Lockstep: ReasonDeleteBecauseEnabledFalse,
// and ReasonForgetBecauseCurrent for a deposed object that is really the current one.
type Reason string

const (
	ReasonNone                      Reason = ""
	ReasonReplaceBecauseTainted     Reason = "replace_because_tainted"
	ReasonReplaceBecauseCannot      Reason = "replace_because_cannot_update"
	ReasonReplaceByRequest          Reason = "replace_by_request"
	ReasonReplaceByTriggers         Reason = "replace_by_triggers"
	ReasonDeleteBecauseNoConfig     Reason = "delete_because_no_resource_config"
	ReasonDeleteBecauseNoModule     Reason = "delete_because_no_module"
	ReasonDeleteBecauseWrongRep     Reason = "delete_because_wrong_repetition"
	ReasonDeleteBecauseCountIndex   Reason = "delete_because_count_index"
	ReasonDeleteBecauseEachKey      Reason = "delete_because_each_key"
	ReasonDeleteBecauseEnabledFalse Reason = "delete_because_enabled_false"
	ReasonDeleteBecauseNoMoveTarget Reason = "delete_because_no_move_target"
	ReasonForgetBecauseCurrent      Reason = "forget_because_current_object"
	ReasonForgetByConfig            Reason = "forgot_because_lifecycle_destroy_in_config" // OpenTofu 1.12
	ReasonForgetByState             Reason = "forgot_because_lifecycle_destroy_in_state"
	ReasonReadBecauseConfigUnknown  Reason = "read_because_config_unknown"
	ReasonReadBecauseDependency     Reason = "read_because_dependency_pending"
	ReasonReadBecauseCheckNested    Reason = "read_because_check_nested"
)

// A Plan is everything that an apply needs to know besides the configuration.
type Plan struct {
	Mode Mode
	// Errored is set if planning ended early: the plan is not complete, and can be read but not
	// applied.
	Errored bool
	// Applyable is set if applying the plan would change something.
	Applyable bool
	// Complete is false if the plan leaves out part of the configuration.
	Complete bool

	// Changes are the planned changes of resource instances, no-ops included, sorted by address.
	Changes []*ResourceChange
	// Invocations are the actions to invoke, sorted: see [Invocation.Compare].
	Invocations []*Invocation
	// Drift are the differences between the objects and the state, sorted by address. No action
	// follows from it.
	Drift []*ResourceChange
	// Outputs are the changes of all root outputs, no-ops included, sorted by name.
	Outputs []*OutputChange
	// Checks are the results of all conditions, as far as they are known at planning.
	Checks []states.CheckResult
	// Relevant are the attributes that influenced the changes.
	Relevant []RelevantAttribute

	// Variables are the values of the root module's variables as given, without marks. Ephemeral variables
	// are not saved: EphemeralVariables has their names, and an apply needs their values again.
	Variables          map[string]cty.Value
	EphemeralVariables []string

	// Targets limit the plan to these targets and their dependencies. Excludes remove these targets and their
	// dependents from the plan.
	Targets, Excludes []addrs.Target
	ForceReplace      []addrs.AbsResourceInstance
	// Invoke is the action, or the instance of one, to which the option -invoke limits the plan. The zero value
	// means that the option was not used.
	Invoke addrs.AbsResourceInstance
	// Waiting are the Excludes that Lockstep has added, because nobody knows whether an earlier apply has
	// created these objects. No option names them.
	Waiting []addrs.Target

	// Instances are the instance keys of every module call and resource block in the configuration, including
	// those without instances. So an apply need not evaluate count and for_each.
	Instances Instances

	// PrevRunState is the state as it was read. PriorState is the same state after refresh, from which the
	// changes start. Both have the lineage and serial that were read.
	PrevRunState *states.State
	PriorState   *states.State

	// Affected is set if the plan was asked to read only the objects that its changes can affect.
	Affected *Affected

	// Timestamp is the result of plantimestamp().
	Timestamp time.Time
	// Backend is where the state is stored.
	Backend Backend
}

// Partial reports whether the plan has targets or excludes.
func (p *Plan) Partial() bool { return len(p.Targets)+len(p.Excludes) > 0 }

// Chosen reports whether a person's option made the plan partial.
func (p *Plan) Chosen() bool { return len(p.Targets) > 0 || len(p.Excludes) > len(p.Waiting) }

// ForgottenData returns the data sources that an apply of the plan removes from the state, in no particular
// order. Only a destroy removes data sources: all of them, or with Targets only those that the targets name. A
// data source stays if Excludes name it, or if an object that stays in the state depends on it.
func (p *Plan) ForgottenData(st *states.State) []addrs.AbsResourceInstance {
	if p.Mode != DestroyMode {
		return nil
	}
	kept := p.keptDependencies(st)
	var out []addrs.AbsResourceInstance
	for abs, r := range st.Resources() {
		if abs.Resource.Mode != addrs.Data {
			continue
		}
		for k := range r.Instances {
			x := abs.Instance(k)
			means := func(t addrs.Target) bool { return t.Contains(x) }
			if kept[abs.Config()] || len(p.Targets) > 0 && !slices.ContainsFunc(p.Targets, means) || slices.ContainsFunc(p.Excludes, means) {
				continue
			}
			out = append(out, x)
		}
	}
	return out
}

// keptDependencies returns the dependencies of the objects that stay in the state because of excludes.
func (p *Plan) keptDependencies(st *states.State) map[addrs.ConfigResource]bool {
	if len(p.Excludes) == 0 {
		return nil
	}
	gone := map[addrs.AbsResourceInstance]bool{}
	for _, c := range p.Changes {
		if c.Addr.Deposed == addrs.NotDeposed {
			gone[c.Addr.Instance] = c.Action == Delete || c.Action == Forget
		}
	}
	out, seen := map[addrs.ConfigResource]bool{}, map[*states.Dependencies]bool{}
	for abs, r := range st.Resources() {
		for k, in := range r.Instances {
			if abs.Resource.Mode != addrs.Managed || in.Current == nil || gone[abs.Instance(k)] || seen[in.Current.Dependencies] {
				continue
			}
			seen[in.Current.Dependencies] = true
			for _, cr := range in.Current.Dependencies.All() {
				out[cr] = true
			}
		}
	}
	return out
}

// Instances are the instances of all module calls and resources of a configuration.
type Instances struct {
	Calls     map[CallInstance][]addrs.InstanceKey
	Resources map[addrs.AbsResource][]addrs.InstanceKey
}

// A CallInstance is a module call in one instance of its parent module.
type CallInstance struct {
	Module addrs.ModuleInstance
	Call   string
}

// Affected says which objects a plan with -refresh=affected did not read from their providers. These objects
// count as the state has them.
type Affected struct {
	// Unread is the number of objects that were not read; UnreadData is the number of data sources.
	Unread, UnreadData int
	// Data is set if data sources were to be read only if they are affected, too.
	Data bool
	// Since is the time of the last plan that read everything. It is zero if this plan did.
	Since time.Time
	// Everything is the reason why everything was read; "" if not.
	Everything string
	// Digests are those of the instances that have no change. An apply adds its own, and stores them beside
	// the state. Their origin is not set yet.
	Digests *digests.Record
}

// A Backend describes where the state of a plan is stored.
type Backend struct {
	Type      string
	Config    cty.Value
	Workspace string
}

// A Change is the value of an object before and after an action. Both values have sensitive marks. Before is
// null for a creation, After for a deletion.
type Change struct {
	Action        Action
	Before, After cty.Value
	// BeforeIdentity and AfterIdentity are the object's identities; cty.NilVal means none. AfterIdentity may
	// be unknown. They are never sensitive.
	BeforeIdentity, AfterIdentity cty.Value
	// Importing is set if the plan imports the object.
	Importing *Importing
	// GeneratedConfig is the configuration that Lockstep generated for an imported object; "" if there is
	// none.
	GeneratedConfig string
}

// Importing is the ID or the identity by which an object is imported.
type Importing struct {
	ID       string
	Identity cty.Value // cty.NilVal if the object is imported by ID
	Unknown  bool
}

// A ResourceChange is the planned change of one resource instance object.
type ResourceChange struct {
	Addr addrs.ResourceInstanceObject
	// PrevAddr is the address of the object in the previous run. It equals Addr's instance unless the object
	// is moved.
	PrevAddr addrs.AbsResourceInstance
	Provider addrs.AbsProviderConfig
	Change
	// Unchanged is the object in the prior state that a no-op leaves as it is. If it is set, Before and After
	// are not: [ResourceChange.Decoded] returns the change with both.
	Unchanged *states.Object
	Reason    Reason
	// Private is the private data that the provider returned with its plan.
	Private []byte
	// RequiredReplace are the paths of the attributes that force a replacement.
	RequiredReplace []cty.Path
	// CreateBeforeDestroy is the setting in effect: set in the block, or forced by a resource that depends on
	// the object.
	CreateBeforeDestroy bool
	// KeepsOld is set for a replacement that removes its old object from the state without destroying it.
	KeepsOld bool
	// Schema describes the values. It is nil only if the provider no longer has the type.
	Schema *schema.Schema
	// ConfigDeps are the resources on which the object depends by its configuration; none if it has no
	// configuration. They include dependencies through providers, ephemeral resources and data sources.
	// StoredDeps are the dependencies that the state has stored with the object. See package order.
	ConfigDeps []addrs.ConfigResource
	StoredDeps *states.Dependencies
}

// Destroys reports whether the change destroys an object.
func (c *ResourceChange) Destroys() bool {
	return c.Action == Delete || c.Action.IsReplace() && !c.KeepsOld
}

// An OutputChange is the planned change of a root output.
type OutputChange struct {
	Name string
	Change
	Sensitive bool
}

// A RelevantAttribute is an attribute of another object that influenced a change.
type RelevantAttribute struct {
	Resource  addrs.AbsResourceInstance
	Attribute cty.Path
}
