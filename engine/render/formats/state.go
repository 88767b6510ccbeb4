package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// stateFormat is the version of the state format that Terraform 1.11 writes; see
// https://developer.hashicorp.com/terraform/internals/json-format.
const stateFormat = "1.0"

// State returns s in Terraform's JSON state format, the output of `show -json`. The output has the sensitive values
// themselves; sensitive_values says where they are. s may be nil. State fails if an object's attributes cannot be read.
func State(s *states.State, schemas Schemas) ([]byte, error) {
	t := &jsonText{}
	if s == nil || s.IsEmpty() {
		t.openObject()
		t.member("format_version", stateFormat)
		t.closeObject()
		return t.b, nil
	}
	if err := t.state(s, schemas, true); err != nil {
		return nil, err
	}
	return t.b, nil
}

// Instance returns the output of `state show -json`: the current object of the only instance in s. If s is
// nil or ds has errors, the output has no object. files are the sources of ds.
func Instance(s *states.State, schemas Schemas, ds diags.Diagnostics, files map[string]*hcl.File) ([]byte, error) {
	t := &jsonText{}
	t.openObject()
	t.member("format_version", stateFormat)
	t.key("resource")
	w, shown := stateWriter{schemas: schemas}, false
	if s != nil && !ds.HasErrors() {
		w.deps = states.Close(unlisted(s))
		for a, r := range s.Resources() {
			for k, in := range r.Instances {
				if in.Current != nil && !shown {
					shown = true
					w.write(t, a.Instance(k), r, addrs.NotDeposed, in.Current)
				}
			}
		}
	}
	if !shown {
		t.rawString(`{"provider_name":"","schema_version":0}`)
	}
	t.key("diagnostics")
	if err := t.marshal(newDiagnostics(ds, files)); err != nil {
		return nil, err
	}
	t.closeObject()
	return t.b, w.err
}

// Identities returns the output of `state identities -json`: the identities of the listed instances, by
// address. Instances without an identity are left out.
func Identities(s *states.State, list []addrs.AbsResourceInstance) ([]byte, error) {
	out := map[string]json.RawMessage{}
	for _, a := range list {
		if in := s.Instance(a); in != nil && in.Current != nil && in.Current.Identity.JSON != nil {
			out[a.String()] = in.Current.Identity.JSON
		}
	}
	return json.MarshalIndent(out, "", "  ")
}

type workspacesJSON struct {
	FormatVersion string          `json:"format_version"`
	Workspaces    []workspaceJSON `json:"workspaces"`
	Diagnostics   []Diagnostic    `json:"diagnostics"`
}

type workspaceJSON struct {
	Name    string `json:"name"`
	Current bool   `json:"is_current,omitempty"`
}

// Workspaces returns the output of `workspace list -json`. files are the sources of ds.
func Workspaces(names []string, current string, ds diags.Diagnostics, files map[string]*hcl.File) ([]byte, error) {
	out := workspacesJSON{FormatVersion: stateFormat, Workspaces: []workspaceJSON{}, Diagnostics: newDiagnostics(ds, files)}
	for _, name := range names {
		out.Workspaces = append(out.Workspaces, workspaceJSON{Name: name, Current: name == current})
	}
	return json.Marshal(out)
}

// Readable returns an error if [State] cannot show an object of s, because the provider's schema is older
// than the object, or its attributes are not a JSON object. If there are several, the error is about the
// first by address.
func Readable(s *states.State, schemas Schemas) error {
	if s == nil {
		return nil
	}
	var first addrs.AbsResource
	var err error
	for a, r := range s.Resources() {
		if err != nil && first.Compare(a) <= 0 {
			continue
		}
		rs := schemas.Resource(r.Provider.Provider, a.Resource)
		for _, in := range r.Instances {
			if in.Current != nil {
				if _, _, e := ObjectValue(rs, in.Current); e != nil {
					first, err = a, fmt.Errorf("%s: %w", a, e)
				}
			}
		}
	}
	return err
}

// state writes a state; with the results of its checks if checks is set.
func (t *jsonText) state(s *states.State, schemas Schemas, checks bool) error {
	t.openObject()
	t.member("format_version", stateFormat)
	t.member("terraform_version", s.Language.Release())
	t.key("values")
	t.openObject()
	if err := t.stateOutputs(s); err != nil {
		return err
	}
	w := stateWriter{schemas: schemas, deps: states.Close(unlisted(s))}
	root := newModuleTree()
	root.stored = true
	for a, r := range s.Resources() {
		for k, in := range r.Instances {
			w.instance(root, a.Instance(k), r, in)
		}
	}
	t.key("root_module")
	t.module(root)
	t.closeObject()
	if checks {
		t.checks(s.Checks)
	}
	t.closeObject()
	return w.err
}

// unlisted returns the dependencies of objects that were not read from a file: their lists are not available as
// JSON yet.
func unlisted(s *states.State) iter.Seq[*states.Dependencies] {
	return func(yield func(*states.Dependencies) bool) {
		for o := range s.Objects() {
			if o.Dependencies != nil && o.Dependencies.Encoded() == nil && !yield(o.Dependencies) {
				return
			}
		}
	}
}

func (t *jsonText) stateOutputs(s *states.State) error {
	outputs := maps.Collect(s.Outputs())
	if len(outputs) == 0 {
		return nil
	}
	t.key("outputs")
	t.openObject()
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		o := outputs[name]
		t.key(name)
		t.openObject()
		t.flag("sensitive", o.Sensitive)
		t.key("value")
		t.value(o.Value)
		t.key("type")
		if err := t.ctyType(o.Value.Type()); err != nil {
			return err
		}
		t.closeObject()
	}
	t.closeObject()
	return nil
}

// stateWriter writes the objects of one state.
type stateWriter struct {
	schemas Schemas
	deps    *states.Closure
	err     error // the first error
}

// instance adds the objects of one instance to the tree.
func (w *stateWriter) instance(root *moduleTree, a addrs.AbsResourceInstance, r *states.Resource, in *states.Instance) {
	add := func(o *states.Object, key addrs.DeposedKey) {
		root.add(a.Module, moduleResource{address: a.String(), of: a.Resource, deposed: key, write: func(t *jsonText, _ string) {
			w.write(t, a, r, key, o)
		}})
	}
	if in.Current != nil {
		add(in.Current, addrs.NotDeposed)
	}
	for key, o := range in.Deposed {
		add(o, key)
	}
}

// write writes one object of the instance a.
func (w *stateWriter) write(t *jsonText, a addrs.AbsResourceInstance, r *states.Resource, key addrs.DeposedKey, o *states.Object) {
	address := a.String()
	t.openObject()
	t.member("address", address)
	t.resourceParts(a.Resource, r.Provider.Provider)
	t.key("schema_version")
	if key != addrs.NotDeposed {
		t.int(0) // as in the stock tool
	} else {
		t.int(o.SchemaVersion)
	}
	w.object(t, address, w.schemas.Resource(r.Provider.Provider, a.Resource.Resource), o)
	t.optional("deposed_key", string(key))
	w.identity(t, address, o)
	t.closeObject()
}

func (w *stateWriter) object(t *jsonText, address string, rs *schema.Schema, o *states.Object) {
	v, rs, err := ObjectValue(rs, o)
	if err != nil {
		if w.err == nil {
			w.err = fmt.Errorf("the attributes of %s in the state: %w", address, err)
		}
		return
	}
	t.key("values")
	t.attributes(v, rs)
	t.key("sensitive_values")
	t.sensitiveAttributes(v, rs)
	w.dependsOn(t, o.Dependencies)
	if o.Status == states.Tainted {
		t.flag("tainted", true)
	}
}

// identity writes the identity of an object as the state has it.
func (w *stateWriter) identity(t *jsonText, address string, o *states.Object) {
	if o.Identity.JSON == nil {
		return
	}
	var b bytes.Buffer
	if err := json.Compact(&b, o.Identity.JSON); err != nil {
		if w.err == nil {
			w.err = fmt.Errorf("the identity of %s in the state: %w", address, err)
		}
		return
	}
	t.key("identity_schema_version")
	t.int(o.Identity.Version)
	t.key("identity")
	t.raw(b.Bytes())
}

// ObjectValue returns an object's value with its sensitive marks, and the schema that it conforms to. The
// schema is nil if rs is unknown, or is of another version than the object. The types are then taken from the
// JSON.
func ObjectValue(rs *schema.Schema, o *states.Object) (cty.Value, *schema.Schema, error) {
	if rs != nil && rs.Identity != nil && o.Identity.JSON != nil && rs.Identity.Version < o.Identity.Version {
		return cty.NilVal, nil, fmt.Errorf("identity version %d in the state is newer than version %d of the selected provider: upgrade the provider", o.Identity.Version, rs.Identity.Version)
	}
	if o.Value != cty.NilVal {
		return o.Value, rs, nil
	}
	if o.AttrsJSON == nil {
		vals := map[string]cty.Value{}
		for k, v := range o.AttrsFlat {
			vals[k] = cty.StringVal(v)
		}
		return cty.ObjectVal(vals), nil, nil
	}
	if err := outdated(rs, o); err != nil {
		return cty.NilVal, nil, err
	}
	if rs != nil && rs.Version == o.SchemaVersion {
		if v, err := rs.Block.JSON().Parse(o.AttrsJSON); err == nil {
			return marks.At(v, marks.Sensitive, o.Sensitive), rs, nil
		}
	}
	ty, err := ctyjson.ImpliedType(o.AttrsJSON)
	if err != nil {
		return cty.NilVal, nil, err
	}
	if !ty.IsObjectType() {
		return cty.NilVal, nil, errors.New("its attributes in the state are not a JSON object: restore the state from a backup")
	}
	v, err := ctyjson.Unmarshal(o.AttrsJSON, ty)
	if err != nil {
		return cty.NilVal, nil, err
	}
	return marks.At(v, marks.Sensitive, o.Sensitive), nil, nil
}

// outdated returns an error if an object was stored with a newer schema than rs.
func outdated(rs *schema.Schema, o *states.Object) error {
	if rs != nil && rs.Version < o.SchemaVersion {
		return fmt.Errorf("schema version %d in the state is newer than version %d of the selected provider: upgrade the provider", o.SchemaVersion, rs.Version)
	}
	return nil
}

func (w *stateWriter) dependsOn(t *jsonText, d *states.Dependencies) {
	if d == nil {
		return
	}
	if text := d.Encoded(); text != nil {
		if len(bytes.Trim(text, "[] \t\r\n")) == 0 || bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
			return
		}
		var b bytes.Buffer
		if json.Compact(&b, text) == nil {
			t.key("depends_on")
			t.raw(b.Bytes())
			return
		}
	}
	list := w.deps.List(d)
	if len(list) == 0 {
		return
	}
	names := w.deps.Names()
	t.key("depends_on")
	t.openArray()
	for _, i := range list {
		t.string(names[i])
	}
	t.closeArray()
}

// Outputs returns the output of `output -json`: the root outputs with their types and values, including
// sensitive ones.
func Outputs(s *states.State) ([]byte, error) {
	outputs := map[string]states.Output{}
	if s != nil {
		outputs = maps.Collect(s.Outputs())
	}
	t := &jsonText{}
	t.openObject()
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		o := outputs[name]
		t.key(name)
		t.openObject()
		t.flag("sensitive", o.Sensitive)
		t.key("type")
		if err := t.ctyType(o.Value.Type()); err != nil {
			return nil, err
		}
		t.key("value")
		t.value(o.Value)
		t.closeObject()
	}
	t.closeObject()
	var b bytes.Buffer
	if err := json.Indent(&b, t.b, "", "  "); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
