// Package states holds the objects that exist: each resource instance with its objects, as the provider last
// described them, and the root module's outputs.
//
// A [State] is an immutable snapshot. Objects keep their attributes encoded as in the state file, so that
// unchanged objects are never decoded and are written back byte for byte. [Editor] makes the next snapshot,
// which shares everything unchanged. [State.SameContent] reports whether a write would change anything. The
// package refuses to know schemas, files and backends: package statefile encodes the v4 format, and package
// statebackend stores the bytes.
package states

import (
	"encoding/json"
	"iter"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// LanguageVersion is the version of Terraform whose language, file formats and command line the engine
// follows. State files name it as the version that wrote them, and required_version is checked against it.
const LanguageVersion = language.NewestRelease

// A State is one snapshot. The zero value is not useful; start with [Empty].
type State struct {
	// Lineage identifies the state for its whole life; "" before the first write (see [NewLineage]).
	Lineage string
	// Serial increases with every write that changes something.
	Serial uint64
	// TerraformVersion is the version that last wrote the state, from the file.
	TerraformVersion string
	// Language is the version of the language that statefile.Write names as the writer.
	Language language.Version
	// Checks are the results of conditions and checks; nil if none are recorded.
	Checks []CheckResult
	// Extra keeps members of the file that this package does not know.
	Extra map[string]json.RawMessage

	outputs   map[string]Output
	resources map[addrs.AbsResource]*Resource
}

// Empty returns a state without outputs and resources.
func Empty() *State {
	return &State{outputs: map[string]Output{}, resources: map[addrs.AbsResource]*Resource{}}
}

// Of returns a state with the given outputs and resources. The state takes over the maps: the caller must not
// change them or their contents any more.
func Of(outputs map[string]Output, resources map[addrs.AbsResource]*Resource) *State {
	return &State{outputs: outputs, resources: resources}
}

// With returns the same content with another lineage and serial.
func (s *State) With(lineage string, serial uint64) *State {
	c := *s
	c.Lineage, c.Serial = lineage, serial
	return &c
}

// NewLineage returns a lineage that no other state has.
func NewLineage() string { return uuid.NewString() }

// An Output is the value of a root output in the state.
type Output struct {
	Value     cty.Value // without marks
	Sensitive bool
}

// A Resource is one resource in one module instance: its instances, and its provider configuration.
type Resource struct {
	Provider  addrs.AbsProviderConfig
	Instances map[addrs.InstanceKey]*Instance
	// Extra keeps members of the file's resource that this package does not know.
	Extra map[string]json.RawMessage
}

// An Instance is one resource instance with its objects. Current is nil if only deposed objects are left.
type Instance struct {
	Current *Object
	Deposed map[addrs.DeposedKey]*Object
	// Provider is the provider configuration that OpenTofu recorded for this instance, as spelt in the file; ""
	// if the resource's provider configuration applies. If every instance has its own provider configuration,
	// the file has none for the resource. In memory, the resource then has the provider configuration of the
	// first instance, without the instance key.
	Provider string
}

// Status says whether an object is complete or must be replaced.
type Status byte

const (
	Ready   Status = 'R'
	Tainted Status = 'T' // the next plan replaces the object
)

// An Object is a real object as the state records it. Immutable; change a copy.
type Object struct {
	Status        Status
	SchemaVersion int64
	// Exactly one of AttrsJSON and AttrsFlat is set. AttrsJSON is the attributes as JSON, in the schema's
	// implied type.
	AttrsJSON json.RawMessage
	AttrsFlat map[string]string
	// Sensitive are the paths of sensitive values: marked in the configuration, or declared by the schema.
	Sensitive []cty.Path
	// Identity is the resource identity that the provider returned.
	Identity Identity
	// Private is opaque data of the provider, passed to it at the next call.
	Private []byte
	// Dependencies are the resources that the object depends on.
	Dependencies        *Dependencies
	CreateBeforeDestroy bool
	// SkipDestroy means: if the block of the resource is removed, the object is removed from the state and
	// not destroyed.
	// Source: OpenTofu 1.12.
	SkipDestroy bool
	// Value is AttrsJSON decoded, with sensitive marks; cty.NilVal if nothing has needed it yet. It always
	// agrees with AttrsJSON.
	Value cty.Value
	// Extra keeps members of the file's instance object that this package does not know.
	Extra map[string]json.RawMessage
}

// An Identity is what a provider identifies an object by, such as a region and a name. It is JSON in the type
// of the resource type's identity schema.
type Identity struct {
	// Version is the version of the identity schema; 0 for types without one.
	Version int64
	// JSON is nil if the object has no identity.
	JSON json.RawMessage
}

// A CheckResult is the result of the conditions of one block in the configuration.
type CheckResult struct {
	Kind       string // "resource", "output_value", "check", "var"
	ConfigAddr string
	Status     string // "pass", "fail", "error", "unknown"
	Objects    []CheckObject
}

// A CheckObject is the part of a [CheckResult] for one instance.
type CheckObject struct {
	Addr     string
	Status   string
	Failures []string
}

// Outputs iterates over the root outputs in no particular order.
func (s *State) Outputs() iter.Seq2[string, Output] {
	return func(yield func(string, Output) bool) {
		for n, o := range s.outputs {
			if !yield(n, o) {
				return
			}
		}
	}
}

// Output returns a root output. The result is false if the state has none of this name.
func (s *State) Output(name string) (Output, bool) { o, ok := s.outputs[name]; return o, ok }

// Resource returns a resource; nil if the state has none at this address.
func (s *State) Resource(a addrs.AbsResource) *Resource { return s.resources[a] }

// Resources iterates over all resources in no particular order.
func (s *State) Resources() iter.Seq2[addrs.AbsResource, *Resource] {
	return func(yield func(addrs.AbsResource, *Resource) bool) {
		for a, r := range s.resources {
			if !yield(a, r) {
				return
			}
		}
	}
}

// Instance returns an instance; nil if the state has none at this address.
func (s *State) Instance(a addrs.AbsResourceInstance) *Instance {
	if r := s.resources[a.AbsResource()]; r != nil {
		return r.Instances[a.Resource.Key]
	}
	return nil
}

// Object returns an object, current or deposed; nil if the state has none at this address.
func (s *State) Object(a addrs.ResourceInstanceObject) *Object {
	in := s.Instance(a.Instance)
	switch {
	case in == nil:
		return nil
	case a.Deposed == addrs.NotDeposed:
		return in.Current
	}
	return in.Deposed[a.Deposed]
}

// Objects iterates over all objects, current and deposed, in no particular order.
func (s *State) Objects() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for _, r := range s.resources {
			for _, in := range r.Instances {
				if in.Current != nil && !yield(in.Current) {
					return
				}
				for _, o := range in.Deposed {
					if !yield(o) {
						return
					}
				}
			}
		}
	}
}

// IsEmpty reports whether the state has no resource and no output.
func (s *State) IsEmpty() bool { return len(s.resources) == 0 && len(s.outputs) == 0 }

// HasManaged reports whether the state has an instance of a managed resource.
func (s *State) HasManaged() bool {
	for a, r := range s.resources {
		if a.Resource.Mode == addrs.Managed && len(r.Instances) > 0 {
			return true
		}
	}
	return false
}

// HasOutputs reports whether the state has a root output.
func (s *State) HasOutputs() bool { return len(s.outputs) > 0 }
