package session

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Digesting is the input of [Session.Digest]: everything by which a provider plans one instance, apart from
// the object in the state.
type Digesting struct {
	Provider addrs.AbsProviderConfig
	Resource *config.Resource
	Schema   *schema.Schema
	Addr     addrs.AbsResourceInstance
	Config   cty.Value // with marks
}

// Digest returns the digest of an instance's configuration. The provider configuration must be open. ok is
// false if the digest would say too little: a value is unknown or invalid, or the provider may be another
// program in each run.
//
// Ephemeral values differ in each run, and are not stored even as a digest. So a digest leaves them out.
// secret reports that it left some out: only the provider knows whether such a value changes the object.
//
// The environment of the provider's process is no part of a digest. Credentials in it may differ in each run.
func (s *Session) Digest(ctx context.Context, d Digesting) (sum digests.Sum, secret, ok bool) {
	version, ok := s.Versions[d.Provider.Provider]
	if !ok {
		return sum, false, false
	}
	s.mu.Lock()
	provider, ok := s.digests[d.Provider]
	s.mu.Unlock()
	if !ok {
		return sum, false, false
	}
	plain, sensitive := d.Config, []cty.Path(nil)
	if marks.Any(d.Config) {
		if d.Schema.Block.CheckEphemeral(d.Config).HasErrors() {
			return sum, false, false
		}
		plain, sensitive = marks.Paths(d.Config, marks.Sensitive)
	}
	if d.Schema.Block.ContainsWriteOnly() {
		kept := d.Schema.Block.WithoutWriteOnly(plain)
		secret = !kept.RawEquals(plain)
		plain = kept
	}
	if !plain.IsWhollyKnown() {
		return sum, secret, false
	}
	meta, ds := s.Meta(ctx, d.Resource, d.Provider.Provider, d.Addr)
	if ds.HasErrors() || meta != cty.NilVal && !meta.IsWhollyKnown() {
		return sum, secret, false
	}
	h := newDigest()
	h.text(d.Addr.Resource.Resource.String())
	h.text(version)
	h.text(d.Provider.String())
	h.add(provider[:])
	h.number(uint64(d.Schema.Version))
	h.ignored(d.Resource)
	h.number(uint64(len(d.Resource.ReplaceTriggeredBy)))
	for _, x := range d.Resource.ReplaceTriggeredBy {
		text, ok := s.source(x)
		if !ok {
			return sum, secret, false
		}
		h.add(text)
	}
	if !h.value(d.Schema.Block, plain) {
		return sum, secret, false
	}
	for _, p := range states.SortPaths(sensitive) {
		h.text(schema.FormatPath(p))
	}
	if meta != cty.NilVal {
		text, err := ctyjson.Marshal(meta, cty.DynamicPseudoType)
		if err != nil {
			return sum, secret, false
		}
		h.add(text)
	}
	return h.sum(), secret, true
}

// BlockDigest returns the digest of the value by which a provider validates a block before anything is planned. The
// value may have unknown parts. ok is false if it has values that are not stored even as a digest, or if the provider
// may be another program in each run.
func (s *Session) BlockDigest(p addrs.Provider, r *config.Resource, rs *schema.Schema, v cty.Value) (sum digests.Sum, ok bool) {
	version, ok := s.Versions[p]
	if !ok || marks.Contains(v, marks.Ephemeral) {
		return sum, false
	}
	plain := marks.Plain(v)
	if rs.Block.ContainsWriteOnly() && !rs.Block.WithoutWriteOnly(plain).RawEquals(plain) {
		return sum, false
	}
	text, err := msgpack.Marshal(plain, rs.Block.ImpliedType())
	if err != nil {
		return sum, false
	}
	h := newDigest()
	h.text(r.Addr.String())
	h.text(p.String())
	h.text(version)
	h.number(uint64(rs.Version))
	h.add(text)
	return h.sum(), true
}

// ConditionsDigest returns the digest of the text of conditions in a module, and of the values that they name: the
// text of local values, outputs and arguments, and the values of the root module's variables. Ephemeral values are
// left out. ok is false if a text is not known.
func (s *Session) ConditionsDigest(m *config.Module, list []*config.Condition) (sum digests.Sum, ok bool) {
	h, seen := newDigest(), map[addrs.Object]bool{}
	ok = true
	text := func(x hcl.Expression) {
		part, known := s.source(x)
		ok = ok && known
		h.add(part)
	}
	var visit func(addrs.Object)
	visit = func(o addrs.Object) {
		at := s.Config.Modules[o.Module]
		if seen[o] || at == nil || o.Kind == addrs.KindResource || o.Kind == addrs.KindProvider {
			return
		}
		seen[o] = true
		h.text(o.String())
		switch {
		case o.Kind == addrs.KindLocal && at.Locals[o.Name] != nil:
			text(at.Locals[o.Name].Expr)
		case o.Kind == addrs.KindOutput && at.Outputs[o.Name] != nil:
			text(at.Outputs[o.Name].Expr)
		case o.Kind == addrs.KindVariable && at.Parent == nil:
			ok = s.addVariable(h, o.Name) && ok
		case o.Kind == addrs.KindVariable && at.Call.Args[o.Name] != nil:
			text(at.Call.Args[o.Name].Expr)
		}
		for _, u := range s.Refs.Direct(o) {
			visit(u)
		}
	}
	for _, c := range list {
		for _, x := range []hcl.Expression{c.Condition, c.ErrorMessage} {
			text(x)
			for _, ref := range s.Refs.OfExpr(x) {
				o := ref.Object
				if o.Module = m.Addr; o.Kind == addrs.KindCall && ref.Output != "" {
					o = addrs.Object{Module: m.Addr.Child(o.Name), Kind: addrs.KindOutput, Name: ref.Output}
				} else if o.Kind == addrs.KindCall {
					o.Kind = addrs.KindInside
				}
				visit(o)
			}
		}
	}
	return h.sum(), ok
}

// addVariable adds the value of a variable of the root module to h. It returns false if the value is invalid.
func (s *Session) addVariable(h *digest, name string) bool {
	v, ds := s.Eval.Variable(addrs.RootModuleInstance, name)
	if ds.HasErrors() || marks.Contains(v, marks.Ephemeral) {
		return !ds.HasErrors()
	}
	value, err := ctyjson.Marshal(marks.Plain(v), cty.DynamicPseudoType)
	h.add(value)
	return err == nil
}

// source returns the text of an expression, which may be nil; false if the text is not known.
func (s *Session) source(x hcl.Expression) ([]byte, bool) {
	if x == nil {
		return nil, true
	}
	at := x.Range()
	f := s.Config.Files[at.Filename]
	if f == nil || !at.CanSliceBytes(f.Bytes) {
		return nil, false
	}
	return at.SliceBytes(f.Bytes), true
}

// ProviderDigest returns the digest of the value of a provider configuration that is open; the zero Sum if it has
// none.
func (s *Session) ProviderDigest(pc addrs.AbsProviderConfig) digests.Sum {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.digests[pc]
}

// recordProvider keeps the digest of the value of a provider block, which may be nil. A value that is not known has
// no digest.
//
// Ephemeral values are left out. The digest has the arguments of the ephemeral resources instead, which say for
// example from which account a token is.
func (s *Session) recordProvider(pc addrs.AbsProviderConfig, ps *schema.Schema, block *config.Provider, v cty.Value) {
	if s.Versions == nil || ps == nil {
		return
	}
	h := newDigest()
	if marks.Contains(v, marks.Ephemeral) {
		var err error
		if v, err = cty.Transform(v, withoutEphemeral); err != nil || block == nil || !s.addEphemerals(h, pc.Module, block) {
			return
		}
	}
	plain := marks.Plain(v)
	if !plain.IsWhollyKnown() || !h.value(ps.Block, plain) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.digests == nil {
		s.digests = map[addrs.AbsProviderConfig]digests.Sum{}
	}
	s.digests[pc] = h.sum()
}

// addEphemerals adds to h the digests of the ephemeral resources that a provider block refers to. It returns false
// if an ephemeral value has another origin, such as a variable, or if one of the resources has no digest.
func (s *Session) addEphemerals(h *digest, m addrs.Module, block *config.Provider) bool {
	found, ok := map[addrs.ConfigResource]bool{}, true
	seen := map[addrs.Object]bool{}
	var visit func(addrs.Object)
	visit = func(from addrs.Object) {
		for _, o := range s.Refs.Direct(from) {
			if seen[o] || o.Kind == addrs.KindProvider || o.Kind == addrs.KindResource && o.Res.Mode != addrs.Ephemeral {
				continue
			}
			seen[o] = true
			switch {
			case o.Kind == addrs.KindResource:
				found[o.ConfigResource()] = true
			case o.Kind == addrs.KindVariable && o.Module.IsRoot() && s.Config.Root.Variables[o.Name].Ephemeral:
				ok = false
			}
			visit(o)
		}
	}
	visit(addrs.Object{Module: m, Kind: addrs.KindProvider, Name: block.Addr.String()})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cr := range slices.SortedFunc(maps.Keys(found), addrs.ConfigResource.Compare) {
		for _, a := range slices.SortedFunc(maps.Keys(s.ephemerals[cr]), addrs.AbsResourceInstance.Compare) {
			sum := s.ephemerals[cr][a]
			ok = ok && sum != digests.Sum{}
			h.add(sum[:])
		}
	}
	return ok
}

// recordEphemeral keeps the digest of the arguments of an ephemeral resource, without ephemeral values.
func (s *Session) recordEphemeral(e Ephemeral, v cty.Value) {
	if s.Versions == nil {
		return
	}
	var sum digests.Sum
	version, ok := s.Versions[e.Provider.Provider]
	provider := s.ProviderDigest(e.Provider)
	v, err := cty.Transform(v, withoutEphemeral)
	if ok = ok && err == nil && provider != (digests.Sum{}); ok {
		h, plain := newDigest(), marks.Plain(v)
		h.text(e.Addr.String())
		h.text(version)
		h.add(provider[:])
		if plain.IsWhollyKnown() && h.value(e.Schema.Block, plain) {
			sum = h.sum()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ephemerals == nil {
		s.ephemerals = map[addrs.ConfigResource]map[addrs.AbsResourceInstance]digests.Sum{}
	}
	of := s.ephemerals[e.Addr.Config()]
	if of == nil {
		of = map[addrs.AbsResourceInstance]digests.Sum{}
		s.ephemerals[e.Addr.Config()] = of
	}
	of[e.Addr] = sum
}

func withoutEphemeral(_ cty.Path, v cty.Value) (cty.Value, error) {
	if v.HasMark(marks.Ephemeral) {
		return cty.NullVal(v.Type()), nil
	}
	return v, nil
}

// A digest computes a [digests.Sum]. Each part is written after its length, so that no two lists of parts
// look alike.
type digest struct {
	hash.Hash
	length [8]byte
	buf    []byte // of the last value
}

func newDigest() *digest {
	d := &digest{Hash: sha256.New()}
	d.number(digests.Format)
	return d
}

func (d *digest) number(n uint64) {
	binary.BigEndian.PutUint64(d.length[:], n)
	d.Write(d.length[:])
}

func (d *digest) add(part []byte) {
	d.number(uint64(len(part)))
	d.Write(part)
}

func (d *digest) text(part string) { d.add([]byte(part)) }

// value adds a known value without marks. It returns false if the value does not fit the schema.
func (d *digest) value(b *schema.Block, v cty.Value) bool {
	text, err := b.JSON().Append(d.buf[:0], v)
	if err != nil {
		return false
	}
	d.add(text)
	d.buf = text[:0]
	return true
}

// ignored adds the argument ignore_changes, which decides what the provider is asked.
func (d *digest) ignored(r *config.Resource) {
	if r.IgnoreAllChanges {
		d.text("all")
	}
	d.number(uint64(len(r.IgnoreChanges)))
	for _, t := range r.IgnoreChanges {
		d.text(traversalText(t))
	}
}

// traversalText returns a traversal of attributes and indices as text.
func traversalText(t hcl.Traversal) string {
	var out []byte
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			out = append(append(out, '.'), step.Name...)
		case hcl.TraverseAttr:
			out = append(append(out, '.'), step.Name...)
		case hcl.TraverseIndex:
			out = append(out, step.Key.GoString()...)
		}
	}
	return string(out)
}

func (d *digest) sum() (out digests.Sum) {
	d.Sum(out[:0])
	return out
}
