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
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Read decodes a state file. No bytes at all are no state: [states.Empty].
//
// The state keeps parts of src, which must not change any more. Errors say what
// is wrong, where, and what can be done; they never quote values.
func Read(src []byte) (*states.State, error) {
	if len(src) == 0 {
		return states.Empty(), nil
	}
	if err := checkVersion(src); err != nil {
		return nil, explain(err)
	}
	r := &reader{
		scanner:   scanner{src: src},
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

// explain adds what can be done about text that is not as it should be.
func explain(err error) error {
	var text *textError
	switch {
	case !errors.As(err, &text):
		return err
	case text.truncated:
		return fmt.Errorf("the state file is cut off (%w): restore a backup or an earlier version of it", err)
	}
	return fmt.Errorf("not a valid state file: %w; restore a backup or an earlier version of it", err)
}

// checkVersion looks at the version alone, because what else there is depends on it.
func checkVersion(src []byte) error {
	s := &scanner{src: src}
	version, by, encrypted := int64(-1), "", false
	found := errors.New("found")
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "version":
			if version, err = s.integer("a version number"); err == nil && version == 4 {
				err = found
			}
		case "terraform_version":
			by, err = s.str()
		case "encrypted_data":
			encrypted, err = true, s.skip()
		default:
			err = s.skip()
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
		return errors.New("the state is encrypted by OpenTofu, which Lockstep cannot read: remove the encryption with OpenTofu first")
	case version < 0:
		return errors.New("this is not a state file: it has no version")
	case version > 4:
		return fmt.Errorf("the state has format version %d%s, but 4 is the newest that this Lockstep knows: use a newer Lockstep, or the tool that wrote the state", version, by)
	}
	return fmt.Errorf("the state has format version %d%s, which is too old to be read: run `terraform apply -refresh-only` with Terraform 1.x once, which writes it anew in version 4", version, by)
}

// A reader builds a state while it scans the file, once, from front to back.
type reader struct {
	scanner
	version, lineage string
	serial           uint64
	outputs          map[string]states.Output
	resources        map[addrs.AbsResource]*states.Resource
	special          map[addrs.AbsResource]bool // has instances with a provider of their own
	checks           []states.CheckResult
	extra            map[string]json.RawMessage

	// What many instances have in common is decoded once.
	seed      maphash.Seed
	deps      map[uint64]*states.Dependencies // by hash of their text
	depAddrs  map[string]dependency
	paths     map[string][]cty.Path
	providers map[string]addrs.AbsProviderConfig
	module    struct {
		text string
		addr addrs.ModuleInstance
	}
	instances []instance // of the resource at hand, space used again
}

func (r *reader) file() error {
	err := r.object(func(name []byte) (err error) {
		switch string(name) {
		case "version":
			err = r.skip()
		case "terraform_version":
			r.version, err = r.str()
		case "serial":
			var n int64
			n, err = r.integer("a serial number")
			r.serial = uint64(n)
		case "lineage":
			r.lineage, err = r.str()
		case "outputs":
			err = r.optional(func() error { return r.object(r.output) })
		case "resources":
			err = r.optional(func() error { return r.array(r.resource) })
		case "check_results":
			err = r.optional(func() error { return r.array(r.check) })
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
	return r.end()
}

// optional calls read unless the value is null.
func (r *reader) optional(read func() error) error {
	if r.null() {
		return nil
	}
	return read()
}

// keep stores a member that nothing here knows.
func (r *reader) keep(extra *map[string]json.RawMessage, name []byte) error {
	raw, err := r.raw()
	if err != nil {
		return err
	}
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	(*extra)[string(name)] = raw
	return nil
}

func (r *reader) output(nameBytes []byte) error {
	name := string(nameBytes)
	start := r.pos
	var value, typ []byte
	var out states.Output
	err := r.object(func(member []byte) (err error) {
		switch string(member) {
		case "value":
			value, err = r.raw()
		case "type":
			typ, err = r.raw()
		case "sensitive":
			out.Sensitive, err = r.boolean()
		default:
			err = r.skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	ty, err := ctyjson.UnmarshalType(typ)
	if err != nil {
		return r.fail(start, "output %q has an invalid type", name)
	}
	if out.Value, err = decodeValue(value, ty); err != nil {
		return r.fail(start, "output %q has a value that is not of its type", name)
	}
	r.outputs[name] = out
	return nil
}

func (r *reader) resource() error {
	var module, mode, provider string
	var res addrs.Resource
	var extra map[string]json.RawMessage
	r.instances = r.instances[:0]
	r.next()
	start := r.pos
	err := r.object(func(name []byte) (err error) {
		switch string(name) {
		case "module":
			module, err = r.str()
		case "mode":
			mode, err = r.str()
		case "type":
			res.Type, err = r.str()
		case "name":
			res.Name, err = r.str()
		case "each": // written by versions before 0.13; keys say it all
			err = r.skip()
		case "provider":
			provider, err = r.str()
		case "instances":
			r.instances = r.instances[:0]
			err = r.optional(func() error { return r.array(r.instance) })
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
		return r.fail(start, "%s.%s has the unknown mode %q", res.Type, res.Name, mode)
	}
	if !addrs.ValidIdentifier(res.Type) || !addrs.ValidIdentifier(res.Name) {
		return r.fail(start, "%q is no name for a resource", res.Type+"."+res.Name)
	}
	if module != r.module.text {
		m, err := addrs.ParseModuleInstance(module)
		if err != nil {
			return r.fail(start, "%s", err)
		}
		r.module.text, r.module.addr = module, m
	}
	return r.place(start, addrs.AbsResource{Module: r.module.addr, Resource: res}, provider, extra)
}

// place puts the instances just read where they belong.
func (r *reader) place(start int, a addrs.AbsResource, provider string, extra map[string]json.RawMessage) error {
	if provider == "" && len(r.instances) == 0 {
		return nil // OpenTofu leaves such husks
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
		return r.fail(start, "%s has no provider", a)
	}
	var err error
	if res.Provider, err = r.providerConfig(provider); err != nil {
		return r.fail(start, "%s: %s", a, err)
	}
	for _, in := range r.instances {
		dst := res.Instances[in.key]
		if dst == nil {
			dst = &states.Instance{}
			res.Instances[in.key] = dst
		}
		if in.provider != "" {
			if _, err := r.providerConfig(withoutKey(in.provider)); err != nil {
				return r.fail(start, "%s: %s", a.Instance(in.key), err)
			}
			dst.Provider = in.provider
			r.special[a] = true
		}
		switch {
		case in.deposed == addrs.NotDeposed && dst.Current == nil:
			dst.Current = in.object
		case in.deposed != addrs.NotDeposed && dst.Deposed[in.deposed] == nil:
			if dst.Deposed == nil {
				dst.Deposed = map[addrs.DeposedKey]*states.Object{}
			}
			dst.Deposed[in.deposed] = in.object
		default:
			o := addrs.ResourceInstanceObject{Instance: a.Instance(in.key), Deposed: in.deposed}
			return r.fail(start, "%s is in it twice", o)
		}
	}
	return nil
}

// withoutKey cuts the instance key off a provider configuration's address, as
// OpenTofu writes it: `provider["..."].by_region["eu"]`.
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

// An instance is one object with the place in its resource.
type instance struct {
	key      addrs.InstanceKey
	deposed  addrs.DeposedKey
	provider string
	object   *states.Object
}

func (r *reader) instance() error {
	in := instance{object: &states.Object{Status: states.Ready}}
	o := in.object
	err := r.object(func(name []byte) (err error) {
		switch string(name) {
		case "index_key":
			in.key, err = r.instanceKey()
		case "status":
			o.Status, err = r.status()
		case "deposed":
			in.deposed, err = r.deposedKey()
		case "provider":
			in.provider, err = r.str()
		case "schema_version":
			o.SchemaVersion, err = r.integer("a schema version")
		case "attributes":
			o.AttrsJSON, err = r.raw()
		case "attributes_flat":
			err = r.optional(func() error { return r.flat(o) })
		case "sensitive_attributes":
			o.Sensitive, err = r.sensitive()
		case "private":
			o.Private, err = r.private()
		case "dependencies":
			o.Dependencies, err = r.dependencies()
		case "create_before_destroy":
			o.CreateBeforeDestroy, err = r.boolean()
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

func (r *reader) instanceKey() (addrs.InstanceKey, error) {
	if r.null() {
		return addrs.NoKey, nil
	}
	if r.next() == '"' {
		s, err := r.str()
		return addrs.StringKey(s), err
	}
	n, err := r.integer("an instance key: a string or a whole number")
	return addrs.IntKey(int(n)), err
}

func (r *reader) status() (states.Status, error) {
	start := r.pos
	s, err := r.str()
	switch {
	case err != nil:
	case s == "tainted":
		return states.Tainted, nil
	case s != "":
		err = r.fail(start, "an object has the unknown status %q", s)
	}
	return states.Ready, err
}

func (r *reader) deposedKey() (addrs.DeposedKey, error) {
	start := r.pos
	s, err := r.str()
	if err == nil && s != "" && len(s) != 8 {
		err = r.fail(start, "the key of a deposed object must have eight digits")
	}
	return addrs.DeposedKey(s), err
}

func (r *reader) flat(o *states.Object) error {
	o.AttrsFlat = map[string]string{}
	return r.object(func(name []byte) error {
		k := string(name)
		v, err := r.str()
		o.AttrsFlat[k] = v
		return err
	})
}

func (r *reader) private() ([]byte, error) {
	start := r.pos
	b, err := r.strBytes()
	if err != nil || len(b) == 0 {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Decode(out, b)
	if err != nil {
		return nil, r.fail(start, "an object's private data is not valid base64")
	}
	return out[:n], nil
}
