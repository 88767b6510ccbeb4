package statefile

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Write encodes a state as Terraform [states.LanguageVersion] writes it, with its lineage and
// serial as they are. The version in the file is the release of the state's language.
func Write(s *states.State) ([]byte, error) {
	e := newEncoder(s)
	if err := e.state(s); err != nil {
		return nil, err
	}
	return append(e.dst, '\n'), nil
}

// Head returns the beginning of what [Write] returns, with everything that depends on the lineage and the
// serial of the state.
func Head(s *states.State) []byte {
	var e encoder
	e.head(s)
	return e.dst
}

// An Index has the position of each resource in the bytes of a state file.
type Index map[addrs.AbsResource]struct{ Start, End int }

// WriteIndexed returns the same bytes as [Write], and also the position of each resource in them. Equal
// resources in two states have the same bytes.
func WriteIndexed(s *states.State) ([]byte, Index, error) {
	e := newEncoder(s)
	e.index = Index{}
	if err := e.state(s); err != nil {
		return nil, nil, err
	}
	return append(e.dst, '\n'), e.index, nil
}

func newEncoder(s *states.State) *encoder {
	e := &encoder{
		places:  map[*states.Dependencies][2]int{},
		closure: states.Close(notEncoded(s)),
		older:   s.Language != language.Newest,
	}
	e.dst = make([]byte, 0, e.expectedSize(s))
	return e
}

// notEncoded iterates over the dependencies without an encoded list from a file.
func notEncoded(s *states.State) func(func(*states.Dependencies) bool) {
	return func(yield func(*states.Dependencies) bool) {
		for o := range s.Objects() {
			if o.Dependencies != nil && o.Dependencies.Encoded() == nil && !yield(o.Dependencies) {
				return
			}
		}
	}
}

// An encoder writes one state.
type encoder struct {
	writer
	closure *states.Closure
	places  map[*states.Dependencies][2]int // start and end in dst of each list already written
	index   Index                           // nil if the caller needs no index
	echoes  bool                            // see repeatsInput
	older   bool                            // Terraform 1.11 knows no identities
}

// head writes the members before the outputs.
func (e *encoder) head(s *states.State) {
	e.open('{')
	e.intMember("version", 4)
	e.stringMember("terraform_version", s.Language.Release())
	e.intMember("serial", int64(s.Serial))
	e.stringMember("lineage", s.Lineage)
}

func (e *encoder) state(s *states.State) error {
	e.head(s)
	e.member("outputs")
	if err := e.outputs(s); err != nil {
		return err
	}
	e.member("resources")
	if err := e.resources(s); err != nil {
		return err
	}
	e.member("check_results")
	e.checks(s.Checks)
	if err := e.extra(s.Extra); err != nil {
		return err
	}
	e.close('}')
	return nil
}

// extra writes the unknown members that were kept, sorted by name.
func (e *encoder) extra(m map[string]json.RawMessage) error {
	if len(m) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		e.member(name)
		if err := e.json(m[name]); err != nil {
			return fmt.Errorf("write state: member %q: %w", name, err)
		}
	}
	return nil
}

func (e *encoder) outputs(s *states.State) error {
	all := maps.Collect(s.Outputs())
	e.open('{')
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		value, err := ctyjson.Marshal(o.Value, o.Value.Type())
		if err != nil {
			return fmt.Errorf("write state: output %q: %w", name, err)
		}
		typ, err := ctyjson.MarshalType(o.Value.Type())
		if err != nil {
			return fmt.Errorf("write state: output %q: %w", name, err)
		}
		e.member(name)
		e.open('{')
		for _, m := range []struct {
			name string
			json []byte
		}{{"value", value}, {"type", typ}} {
			e.member(m.name)
			if err := e.json(m.json); err != nil {
				return fmt.Errorf("write state: output %q: %w", name, err)
			}
		}
		if o.Sensitive {
			e.member("sensitive")
			e.text("true")
		}
		e.close('}')
	}
	e.close('}')
	return nil
}

// A namedResource is a resource with the printed form of its module, for sorting.
type namedResource struct {
	addr addrs.AbsResource
	res  *states.Resource
}

func (e *encoder) resources(s *states.State) error {
	var all []namedResource
	for a, r := range s.Resources() {
		all = append(all, namedResource{a, r})
	}
	// Sort by the module's printed form, so that a[10] comes before a[2].
	slices.SortFunc(all, func(x, y namedResource) int {
		return cmp.Or(cmp.Compare(x.addr.Module.String(), y.addr.Module.String()), x.addr.Resource.Compare(y.addr.Resource))
	})
	e.open('[')
	for _, r := range all {
		e.element()
		start := len(e.dst)
		if err := e.resource(r.addr, r.res); err != nil {
			return err
		}
		if e.index != nil {
			e.index[r.addr] = struct{ Start, End int }{start, len(e.dst)}
		}
	}
	e.close(']')
	return nil
}

func (e *encoder) resource(a addrs.AbsResource, r *states.Resource) error {
	if a.Resource.Mode != addrs.Managed && a.Resource.Mode != addrs.Data {
		panic("statefile: " + a.String() + " cannot be in a state")
	}
	e.open('{')
	if !a.Module.IsRoot() {
		e.stringMember("module", a.Module.String())
	}
	e.stringMember("mode", a.Resource.Mode.String())
	e.stringMember("type", a.Resource.Type)
	e.stringMember("name", a.Resource.Name)
	if !perInstance(r) {
		e.stringMember("provider", r.Provider.String())
	}
	e.echoes = repeatsInput(a.Resource)
	e.member("instances")
	e.open('[')
	for _, k := range slices.SortedFunc(maps.Keys(r.Instances), addrs.InstanceKey.Compare) {
		if err := e.instance(k, r.Instances[k]); err != nil {
			return fmt.Errorf("write state: %s: %w", a.Instance(k), err)
		}
	}
	e.close(']')
	if err := e.extra(r.Extra); err != nil {
		return err
	}
	e.close('}')
	return nil
}

// perInstance reports whether every instance has a provider configuration of its own.
func perInstance(r *states.Resource) bool {
	for _, in := range r.Instances {
		if in.Provider == "" {
			return false
		}
	}
	return len(r.Instances) > 0
}

// instance writes the current object and then the deposed ones.
func (e *encoder) instance(k addrs.InstanceKey, in *states.Instance) error {
	if in.Current != nil {
		if err := e.object(k, in.Provider, addrs.NotDeposed, in.Current); err != nil {
			return err
		}
	}
	if len(in.Deposed) == 0 {
		return nil
	}
	for _, d := range slices.Sorted(maps.Keys(in.Deposed)) {
		if err := e.object(k, in.Provider, d, in.Deposed[d]); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) object(k addrs.InstanceKey, provider string, deposed addrs.DeposedKey, o *states.Object) error {
	e.element()
	e.open('{')
	if n, ok := k.Int(); ok {
		e.intMember("index_key", int64(n))
	} else if s, ok := k.Str(); ok {
		e.stringMember("index_key", s)
	}
	if o.Status == states.Tainted {
		e.stringMember("status", "tainted")
	}
	if deposed != addrs.NotDeposed {
		e.stringMember("deposed", string(deposed))
	}
	if provider != "" {
		e.stringMember("provider", provider)
	}
	e.intMember("schema_version", o.SchemaVersion)
	if err := e.attributes(o); err != nil {
		return err
	}
	sensitive := o.Sensitive
	if e.echoes {
		sensitive = withoutOutput(sensitive)
	}
	if err := e.sensitive(sensitive); err != nil {
		return err
	}
	if !e.older || o.Identity.JSON != nil {
		e.intMember("identity_schema_version", o.Identity.Version)
	}
	if o.Identity.JSON != nil {
		e.member("identity")
		if err := e.json(o.Identity.JSON); err != nil {
			return fmt.Errorf("identity: %w", err)
		}
	}
	if len(o.Private) > 0 {
		e.member("private")
		e.dst = append(e.dst, '"')
		e.dst = base64.StdEncoding.AppendEncode(e.dst, o.Private)
		e.dst = append(e.dst, '"')
	}
	if err := e.dependencies(o.Dependencies); err != nil {
		return err
	}
	if o.CreateBeforeDestroy {
		e.member("create_before_destroy")
		e.text("true")
	}
	if o.SkipDestroy {
		e.member("skip_destroy")
		e.text("true")
	}
	if err := e.extra(o.Extra); err != nil {
		return err
	}
	e.close('}')
	return nil
}

func (e *encoder) attributes(o *states.Object) error {
	if o.AttrsJSON != nil {
		e.member("attributes")
		if err := e.json(o.AttrsJSON); err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
		return nil
	}
	if len(o.AttrsFlat) == 0 {
		return nil
	}
	e.member("attributes_flat")
	e.open('{')
	for _, name := range slices.Sorted(maps.Keys(o.AttrsFlat)) {
		e.stringMember(name, o.AttrsFlat[name])
	}
	e.close('}')
	return nil
}

func (e *encoder) sensitive(paths []cty.Path) error {
	e.member("sensitive_attributes")
	e.open('[')
	for _, p := range paths {
		e.element()
		compact, err := appendPath(nil, p)
		if err == nil {
			err = e.json(compact)
		}
		if err != nil {
			return fmt.Errorf("sensitive attributes: %w", err)
		}
	}
	e.close(']')
	return nil
}

func (e *encoder) dependencies(d *states.Dependencies) error {
	if d == nil {
		return nil
	}
	if raw := d.Encoded(); raw != nil {
		e.member("dependencies")
		return e.json(raw)
	}
	list := e.closure.List(d)
	if len(list) == 0 {
		return nil
	}
	e.member("dependencies")
	if at, ok := e.places[d]; ok {
		e.dst = append(e.dst, e.dst[at[0]:at[1]]...)
		return nil
	}
	start := len(e.dst)
	e.open('[')
	for _, i := range list {
		e.element()
		e.string(e.closure.Names()[i])
	}
	e.close(']')
	e.places[d] = [2]int{start, len(e.dst)}
	return nil
}
