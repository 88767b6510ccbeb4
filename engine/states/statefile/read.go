package statefile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Read decodes a state file. If src is empty, it returns [states.Empty].
//
// The state does not refer to src, so that src can be freed: src is several times larger than its attributes
// without white space. An error states the problem, its place in the file, and what to do. It never quotes a
// value.
func Read(src []byte) (*states.State, error) {
	if len(src) == 0 {
		return states.Empty(), nil
	}
	if err := checkVersion(src); err != nil {
		return nil, explain(err)
	}
	r := &reader{
		Scanner:   jsonscan.New(src),
		resources: map[addrs.AbsResource]*states.Resource{},
		special:   map[addrs.AbsResource]bool{},
		outputs:   map[string]states.Output{},
		seed:      maphash.MakeSeed(),
		deps:      map[uint64]*states.Dependencies{},
		depAddrs:  map[string]dependency{},
		paths:     map[string][]cty.Path{},
		providers: map[string]addrs.AbsProviderConfig{},
	}
	if err := r.file(); err != nil {
		return nil, explain(err)
	}
	s := states.Of(r.outputs, r.resources)
	s.Lineage, s.Serial, s.TerraformVersion = r.lineage, r.serial, r.version
	s.Checks, s.Extra = r.checks, r.extra
	return s, nil
}

// explain adds what to do to an error about malformed text.
func explain(err error) error {
	var text *jsonscan.Error
	switch {
	case !errors.As(err, &text):
		return err
	case text.Truncated:
		return fmt.Errorf("the state file is cut off (%w): restore a backup or an earlier version of it", err)
	}
	return fmt.Errorf("not a valid state file: %w; restore a backup or an earlier version of it", err)
}

// checkVersion checks only the version, because the rest of the format depends on it.
func checkVersion(src []byte) error {
	s := jsonscan.New(src)
	version, by, encrypted := int64(-1), "", false
	found := errors.New("found")
	err := s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "version":
			if version, err = s.Integer("a version number"); err == nil && version == 4 {
				err = found
			}
		case "terraform_version":
			by, err = s.Text()
		case "encrypted_data":
			encrypted, err = true, s.Skip()
		default:
			err = s.Skip()
		}
		return err
	})
	switch {
	case err == found: //nolint:errorlint // our own, to leave early
		return nil
	case err != nil:
		return err
	}
	if by != "" {
		by = " (it was written by version " + by + ")"
	}
	switch {
	case encrypted:
		return errors.New("the state is encrypted, and the configuration does not say how: add the encryption block with which it was written, terraform { encryption { ... } }, or set the environment variable TF_ENCRYPTION")
	case version < 0:
		return errors.New("this is not a state file: it has no version")
	case version > 4:
		return fmt.Errorf("the state has format version %d%s, but 4 is the newest that this Lockstep knows: use a newer Lockstep, or the tool that wrote the state", version, by)
	}
	return fmt.Errorf("the state has format version %d%s, which is too old to be read: run `terraform apply -refresh-only` with Terraform 1.x once, which writes it anew in version 4", version, by)
}

// A reader builds a state while it scans the file, once, from front to back.
type reader struct {
	jsonscan.Scanner
	version, lineage string
	serial           uint64
	outputs          map[string]states.Output
	resources        map[addrs.AbsResource]*states.Resource
	special          map[addrs.AbsResource]bool // resources whose instances have provider configurations of their own
	checks           []states.CheckResult
	extra            map[string]json.RawMessage

	// Parts that many instances share are decoded once.
	seed      maphash.Seed
	deps      map[uint64]*states.Dependencies // decoded lists, by hash of their text
	depAddrs  map[string]dependency
	paths     map[string][]cty.Path
	providers map[string]addrs.AbsProviderConfig
	module    struct {
		text string
		addr addrs.ModuleInstance
	}
	instances []instance // instances of the current resource; the memory is reused
	kept      texts
}

func (r *reader) file() error {
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "version":
			err = r.Skip()
		case "terraform_version":
			r.version, err = r.Text()
		case "serial":
			var n int64
			n, err = r.Integer("a serial number")
			r.serial = uint64(n)
		case "lineage":
			r.lineage, err = r.Text()
		case "outputs":
			err = r.optional(func() error { return r.Object(r.output) })
		case "resources":
			err = r.optional(func() error { return r.Array(r.resource) })
		case "check_results":
			err = r.optional(func() error { return r.Array(r.check) })
		default:
			err = r.keep(&r.extra, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for a := range r.special {
		if res := r.resources[a]; perInstance(res) {
			first := slices.MinFunc(slices.Collect(maps.Keys(res.Instances)), addrs.InstanceKey.Compare)
			res.Provider = r.providers[withoutKey(res.Instances[first].Provider)]
		}
	}
	return r.End()
}

// optional calls read, unless the value is null.
func (r *reader) optional(read func() error) error {
	if r.Null() {
		return nil
	}
	return read()
}

// keep stores an unknown member, to write it back later.
func (r *reader) keep(extra *map[string]json.RawMessage, name []byte) error {
	raw, err := r.Raw()
	if err != nil {
		return err
	}
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	(*extra)[string(name)] = r.kept.keep(raw)
	return nil
}

func (r *reader) output(nameBytes []byte) error {
	name := string(nameBytes)
	start := r.Pos()
	var value, typ []byte
	var out states.Output
	err := r.Object(func(member []byte) (err error) {
		switch string(member) {
		case "value":
			value, err = r.Raw()
		case "type":
			typ, err = r.Raw()
		case "sensitive":
			out.Sensitive, err = r.Boolean()
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	ty, err := ctyjson.UnmarshalType(typ)
	if err != nil {
		return r.Fail(start, "output %q has an invalid type", name)
	}
	if out.Value, err = decodeValue(value, ty); err != nil {
		return r.Fail(start, "output %q has a value that is not of its type", name)
	}
	r.outputs[name] = out
	return nil
}

func (r *reader) resource() error {
	var module, mode, provider string
	var res addrs.Resource
	var extra map[string]json.RawMessage
	r.instances = r.instances[:0]
	r.Next()
	start := r.Pos()
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "module":
			module, err = r.Text()
		case "mode":
			mode, err = r.Text()
		case "type":
			res.Type, err = r.Text()
		case "name":
			res.Name, err = r.Text()
		case "each": // written by versions before 0.13; follows from the instance keys
			err = r.Skip()
		case "provider":
			provider, err = r.Text()
		case "instances":
			r.instances = r.instances[:0]
			err = r.optional(func() error { return r.Array(r.instance) })
		default:
			err = r.keep(&extra, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	switch mode {
	case "managed":
		res.Mode = addrs.Managed
	case "data":
		res.Mode = addrs.Data
	default:
		return r.Fail(start, "%s.%s has the unknown mode %q", res.Type, res.Name, mode)
	}
	if !addrs.ValidIdentifier(res.Type) || !addrs.ValidIdentifier(res.Name) {
		return r.Fail(start, "%q is no name for a resource", res.Type+"."+res.Name)
	}
	if module != r.module.text {
		m, err := addrs.ParseModuleInstance(module)
		if err != nil {
			return r.Fail(start, "%s", err)
		}
		r.module.text, r.module.addr = module, m
	}
	return r.place(start, addrs.AbsResource{Module: r.module.addr, Resource: res}, provider, extra)
}

// place adds the instances that were just read to their resource.
func (r *reader) place(start int, a addrs.AbsResource, provider string, extra map[string]json.RawMessage) error {
	if provider == "" && len(r.instances) == 0 {
		return nil // OpenTofu writes such empty resources
	}
	res := r.resources[a]
	if res == nil {
		res = &states.Resource{Instances: make(map[addrs.InstanceKey]*states.Instance, len(r.instances))}
		r.resources[a] = res
	}
	if extra != nil {
		res.Extra = extra
	}
	if provider == "" {
		provider = withoutKey(r.instances[0].provider)
	}
	if provider == "" {
		return r.Fail(start, "%s has no provider", a)
	}
	var err error
	if res.Provider, err = r.providerConfig(provider); err != nil {
		return r.Fail(start, "%s: %s", a, err)
	}
	for _, in := range r.instances {
		if repeatsInput(a.Resource) {
			in.object.Sensitive = withOutput(in.object.Sensitive)
		}
		dst := res.Instances[in.key]
		if dst == nil {
			dst = &states.Instance{}
			res.Instances[in.key] = dst
		}
		if in.provider != "" {
			if _, err := r.providerConfig(withoutKey(in.provider)); err != nil {
				return r.Fail(start, "%s: %s", a.Instance(in.key), err)
			}
			dst.Provider = in.provider
			r.special[a] = true
		}
		if !put(dst, in.deposed, in.object) {
			o := addrs.ResourceInstanceObject{Instance: a.Instance(in.key), Deposed: in.deposed}
			return r.Fail(start, "%s is in it twice", o)
		}
	}
	return nil
}

// put adds an object to an instance. It returns false if the instance already has an object with this key.
func put(dst *states.Instance, key addrs.DeposedKey, o *states.Object) bool {
	switch {
	case key == addrs.NotDeposed && dst.Current == nil:
		dst.Current = o
	case key != addrs.NotDeposed && dst.Deposed[key] == nil:
		if dst.Deposed == nil {
			dst.Deposed = map[addrs.DeposedKey]*states.Object{}
		}
		dst.Deposed[key] = o
	default:
		return false
	}
	return true
}

// withoutKey removes the instance key from a provider configuration's address as OpenTofu writes it:
// `provider["..."].by_region["eu"]`.
func withoutKey(provider string) string {
	source, rest, ok := strings.Cut(provider, `"]`)
	if !ok {
		return provider
	}
	alias, _, _ := strings.Cut(rest, "[")
	return source + `"]` + alias
}

func (r *reader) providerConfig(s string) (addrs.AbsProviderConfig, error) {
	if p, ok := r.providers[s]; ok {
		return p, nil
	}
	p, err := addrs.ParseAbsProviderConfig(s)
	if err == nil {
		r.providers[s] = p
	}
	return p, err
}

// An instance is one object, with its instance key and deposed key.
type instance struct {
	key      addrs.InstanceKey
	deposed  addrs.DeposedKey
	provider string
	object   *states.Object
}

func (r *reader) instance() error {
	in := instance{object: &states.Object{Status: states.Ready}}
	o := in.object
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "index_key":
			in.key, err = r.instanceKey()
		case "status":
			o.Status, err = r.status()
		case "deposed":
			in.deposed, err = r.deposedKey()
		case "provider":
			in.provider, err = r.Text()
		case "schema_version":
			o.SchemaVersion, err = r.Integer("a schema version")
		case "attributes":
			o.AttrsJSON, err = r.attributes()
		case "attributes_flat":
			err = r.optional(func() error { return r.flat(o) })
		case "sensitive_attributes":
			o.Sensitive, err = r.sensitive()
		case "identity_schema_version":
			o.Identity.Version, err = r.Integer("an identity schema version")
		case "identity":
			err = r.optional(func() error { o.Identity.JSON, err = r.attributes(); return err })
		case "private":
			o.Private, err = r.private()
		case "dependencies":
			o.Dependencies, err = r.dependencies()
		case "create_before_destroy":
			o.CreateBeforeDestroy, err = r.Boolean()
		case "skip_destroy":
			o.SkipDestroy, err = r.Boolean()
		default:
			err = r.keep(&o.Extra, name)
		}
		return err
	})
	switch {
	case o.AttrsJSON != nil:
		o.AttrsFlat = nil
	case o.AttrsFlat == nil:
		o.AttrsJSON = json.RawMessage("{}")
	}
	r.instances = append(r.instances, in)
	return err
}

func (r *reader) attributes() (json.RawMessage, error) {
	raw, err := r.Raw()
	if err != nil {
		return nil, err
	}
	return r.kept.keep(raw), nil
}

func (r *reader) instanceKey() (addrs.InstanceKey, error) {
	if r.Null() {
		return addrs.NoKey, nil
	}
	if r.Next() == '"' {
		s, err := r.Text()
		return addrs.StringKey(s), err
	}
	n, err := r.Integer("an instance key: a string or a whole number")
	return addrs.IntKey(int(n)), err
}

func (r *reader) status() (states.Status, error) {
	start := r.Pos()
	s, err := r.Text()
	switch {
	case err != nil:
	case s == "tainted":
		return states.Tainted, nil
	case s != "":
		err = r.Fail(start, "an object has the unknown status %q", s)
	}
	return states.Ready, err
}

func (r *reader) deposedKey() (addrs.DeposedKey, error) {
	start := r.Pos()
	s, err := r.Text()
	if err == nil && s != "" && len(s) != 8 {
		err = r.Fail(start, "the key of a deposed object must have eight digits")
	}
	return addrs.DeposedKey(s), err
}

func (r *reader) flat(o *states.Object) error {
	o.AttrsFlat = map[string]string{}
	return r.Object(func(name []byte) error {
		k := string(name)
		v, err := r.Text()
		o.AttrsFlat[k] = v
		return err
	})
}

func (r *reader) private() ([]byte, error) {
	start := r.Pos()
	b, err := r.TextBytes()
	if err != nil || len(b) == 0 {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Decode(out, b)
	if err != nil {
		return nil, r.Fail(start, "an object's private data is not valid base64")
	}
	return out[:n], nil
}
