// Package states holds the existing objects: for each resource instance those that were made, as
// the provider last described them, and the root module's outputs.
//
// A [State] is an immutable snapshot. Objects keep their attributes encoded as they came from the
// state file, so that untouched ones are never decoded and are written back byte for byte. [Editor]
// makes the next snapshot, which shares all that did not change. [State.SameContent] reports
// whether a write would change anything. The package refuses to know schemas, files and backends:
// the codec of the v4 format is in statefile, bytes are stored by statebackend.
package states

import (
	"encoding/json"
	"iter"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// LanguageVersion is the version of Terraform whose language, file formats and
// command line the engine follows. State files name it as the version that wrote
// them, and required_version is held against it.
const LanguageVersion = "1.15.9"

// A State is one snapshot. The zero value is not useful; start with [Empty].
type State struct {
	// Lineage identifies the state through its life, "" before the first write
	// (see [NewLineage]).
	Lineage string
	// Serial grows with every write that changed something.
	Serial uint64
	// TerraformVersion is the version that wrote it last, from the file.
	TerraformVersion string
	// Checks are the results of conditions and checks; nil if none are recorded.
	Checks []CheckResult
	// Extra keeps members of the file that this package does not know.
	Extra map[string]json.RawMessage

	outputs   map[string]Output
	resources map[addrs.AbsResource]*Resource
}

// Empty returns a state that holds nothing.
func Empty() *State {
	return &State{outputs: map[string]Output{}, resources: map[addrs.AbsResource]*Resource{}}
}

// Of returns a state of the given outputs and resources, which become its own: the caller must not
// change the maps or their contents any more.
func Of(outputs map[string]Output, resources map[addrs.AbsResource]*Resource) *State {
	return &State{outputs: outputs, resources: resources}
}

// With returns the same content under another lineage and serial.
func (s *State) With(lineage string, serial uint64) *State {
	c := *s
	c.Lineage, c.Serial = lineage, serial
	return &c
}

// NewLineage returns a lineage that no other state has.
func NewLineage() string { return uuid.NewString() }

// An Output is a root output value as the state keeps it.
type Output struct {
	Value     cty.Value // without marks
	Sensitive bool
}

// A Resource is the instances of one resource in one module instance, and who
// looks after them.
type Resource struct {
	Provider  addrs.AbsProviderConfig
	Instances map[addrs.InstanceKey]*Instance
	// Extra keeps members of the file's resource that this package does not know.
	Extra map[string]json.RawMessage
}

// An Instance is the objects of one resource instance. Current is nil while only
// deposed ones are left.
type Instance struct {
	Current *Object
	Deposed map[addrs.DeposedKey]*Object
	// Provider is the provider configuration that OpenTofu recorded for the single
	// instance, as it stands in the file; "" where the resource's holds. Where all
	// instances have one, the resource's in the file is empty, and in memory is the
	// first instance's without the key that it may end in.
	Provider string
}

// Status tells whether an object may be used.
type Status byte

const (
	Ready   Status = 'R'
	Tainted Status = 'T' // to be replaced at the next occasion
)

// An Object is one remote object. Immutable; change a copy.
type Object struct {
	Status        Status
	SchemaVersion int64
	// One of AttrsJSON and AttrsFlat is set. AttrsJSON is the attributes' JSON in
	// the schema's implied type.
	AttrsJSON json.RawMessage
	AttrsFlat map[string]string
	// Sensitive are the paths of values that were marked sensitive or that the
	// schema declares so.
	Sensitive []cty.Path
	// Identity is what the provider tells the object by.
	Identity Identity
	// Private is opaque data that the provider gets back at the next call.
	Private []byte
	// Dependencies are the resources that this one was made with the help of.
	Dependencies        *Dependencies
	CreateBeforeDestroy bool
	// SkipDestroy is set if the object leaves the state without being destroyed, where its resource has no block any more. Source: OpenTofu 1.12.
	SkipDestroy bool
	// Value is the decoded form of AttrsJSON, with sensitive marks, if somebody
	// needed it already; else cty.NilVal. It always agrees with AttrsJSON.
	Value cty.Value
	// Extra keeps members of the file's instance object that this package does not know.
	Extra map[string]json.RawMessage
}

// An Identity is what a provider tells an object by, such as a region and a name, as JSON in the type of the resource type's
// identity schema.
type Identity struct {
	// Version is the version of the identity schema, 0 for types without one.
	Version int64
	// JSON is nil if the object has no identity.
	JSON json.RawMessage
}

// A CheckResult is the result of the conditions of one configuration object.
type CheckResult struct {
	Kind       string // "resource", "output_value", "check", "var"
	ConfigAddr string
	Status     string // "pass", "fail", "error", "unknown"
	Objects    []CheckObject
}

// A CheckObject is a [CheckResult] of one instance.
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

// Output returns a root output.
func (s *State) Output(name string) (Output, bool) { o, ok := s.outputs[name]; return o, ok }

// Resource returns a resource, or nil.
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

// Instance returns an instance, or nil.
func (s *State) Instance(a addrs.AbsResourceInstance) *Instance {
	if r := s.resources[a.AbsResource()]; r != nil {
		return r.Instances[a.Resource.Key]
	}
	return nil
}

// Object returns an object, or nil.
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

// IsEmpty reports whether the state holds no resource and no output.
func (s *State) IsEmpty() bool { return len(s.resources) == 0 && len(s.outputs) == 0 }

// HasManaged reports whether the state holds an instance of a managed resource.
func (s *State) HasManaged() bool {
	for a, r := range s.resources {
		if a.Resource.Mode == addrs.Managed && len(r.Instances) > 0 {
			return true
		}
	}
	return false
}

// HasOutputs reports whether the state holds any root output.
func (s *State) HasOutputs() bool { return len(s.outputs) > 0 }
