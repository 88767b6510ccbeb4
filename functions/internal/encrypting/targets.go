package encrypting

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// cipher returns the cipher of a target, and a description of it. The cipher is nil if the target is not
// configured, or after an error.
func (r *reader) cipher(name string, t *target) (*encryption.Cipher, seal) {
	if t == nil {
		return nil, seal{}
	}
	var out encryption.Target
	for _, x := range t.enforced {
		v, ok := r.value(x, cty.Bool)
		out.Enforced = out.Enforced || ok && !v.IsNull() && v.True()
	}
	before := len(r.ds)
	for x := t; x != nil; x = x.fallback {
		if x.method == nil {
			r.errorf(x.at, "Missing encryption method", "The block for %s names no method. Add one: method = method.TYPE.NAME", name)
			continue
		}
		m, ok := r.method(x.method)
		if ok && m.Keys == nil && out.Enforced {
			r.errorf(x.method.Range(), "Unencrypted method is forbidden", "The block for %s enforces encryption, and names a method that does not encrypt. Take out one of the two.", name)
		}
		out.Methods = append(out.Methods, m)
	}
	if r.ds[before:].HasErrors() {
		return nil, seal{}
	}
	return encryption.New(out), r.sealed(t, out.Enforced)
}

// reference parses a reference to a block, such as "method.TYPE.NAME". In JSON, the reference is a string.
func (r *reader) reference(x hcl.Expression, kind string) (*declared, bool) {
	t, hs := hcl.AbsTraversalForExpr(x)
	if vars := x.Variables(); hs.HasErrors() && len(vars) == 1 { // "${method.TYPE.NAME}" in JSON
		t = vars[0]
	}
	address := ""
	if len(t) == 3 && t.RootName() == kind {
		a, _ := t[1].(hcl.TraverseAttr)
		b, _ := t[2].(hcl.TraverseAttr)
		address = kind + "." + a.Name + "." + b.Name
	}
	if address == "" {
		r.errorf(x.Range(), "Invalid encryption reference", "Here a %s block is to be named, by a reference and nothing else: %[1]s.TYPE.NAME", kind)
		return nil, false
	}
	d := r.declared[address]
	if d == nil {
		r.errorf(x.Range(), "Reference to undeclared encryption settings", "There is no block for %s in the encryption block. Declare it, or correct the name.", address)
	}
	return d, d != nil
}

// method returns the method that an expression names.
func (r *reader) method(x hcl.Expression) (encryption.Method, bool) {
	d, ok := r.reference(x, "method")
	if !ok {
		return encryption.Method{}, false
	}
	m, known := r.methods[d.address]
	if !known && !r.failed[d.address] {
		m, ok = r.declaredMethod(d)
		r.methods[d.address], r.failed[d.address] = m, !ok
	}
	return m, !r.failed[d.address]
}

func (r *reader) declaredMethod(d *declared) (m encryption.Method, ok bool) {
	m.Name = d.address
	switch d.kind {
	case "unencrypted":
		r.attributes(d, nil)
		r.unencrypted = &d.at
		return m, true
	case "aes_gcm":
		ok = r.aesGCM(d, &m)
		return m, ok
	case "external":
		r.errorf(d.at, "Unsupported encryption method", "Lockstep runs no external programs to encrypt. Use the method \"aes_gcm\"; with OpenTofu, the former method can be the fallback for one apply.")
	default:
		r.errorf(d.at, "Unknown encryption method", "There is no method type %q: use \"aes_gcm\", or \"unencrypted\" during a migration.", d.kind)
	}
	return m, false
}

func (r *reader) aesGCM(d *declared, m *encryption.Method) bool {
	attrs := r.attributes(d, []string{"keys", "aad"})
	if attrs["keys"] == nil {
		r.errorf(d.at, "Missing keys", "The method %s needs keys. Add: keys = key_provider.TYPE.NAME", d.address)
		return false
	}
	p, ok := r.reference(attrs["keys"], "key_provider")
	if ok {
		m.Keys = r.provider(p)
	}
	if m.Keys != nil && !slices.Contains([]int{16, 24, 32}, r.lengths[p.address]) {
		r.errorf(attrs["keys"].Range(), "Unsuitable key length", "The keys of %s have %d bytes, and those of aes_gcm have 16, 24 or 32. Correct key_length of %[1]s.", p.address, r.lengths[p.address])
		return false
	}
	if attrs["aad"] != nil {
		m.AAD = r.bytes(attrs["aad"])
	}
	if ok {
		r.imprintMethod(d.address, r.imprints[p.address], m.AAD)
	}
	return m.Keys != nil
}

// attributes returns the arguments of a block. If a later block overrides this block, arguments of the later
// one replace arguments with the same name.
func (r *reader) attributes(d *declared, names []string) map[string]hcl.Expression {
	s := &hcl.BodySchema{}
	for _, name := range names {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	all := map[string]hcl.Expression{}
	for _, body := range d.bodies {
		content, hs := body.Content(s)
		r.problems(hs)
		for name, a := range content.Attributes {
			all[name] = a.Expr
		}
	}
	return all
}

// value evaluates an expression and converts its value. It returns false if the value is unknown, which happens
// only during validation.
func (r *reader) value(x hcl.Expression, to cty.Type) (cty.Value, bool) {
	v, hs := r.in.Evaluate(x)
	r.problems(hs)
	if hs.HasErrors() {
		return cty.NilVal, false
	}
	v, err := convert.Convert(v, to)
	if err != nil {
		r.errorf(x.Range(), "Unsuitable value type", "The value does not fit: %s.", err)
		return cty.NilVal, false
	}
	return v, v.IsWhollyKnown()
}

// bytes returns a list of numbers from 0 to 255 as bytes.
func (r *reader) bytes(x hcl.Expression) []byte {
	v, ok := r.value(x, cty.List(cty.Number))
	if !ok || v.IsNull() {
		return nil
	}
	var out []byte
	for _, e := range v.AsValueSlice() {
		n := int64(-1)
		if !e.IsNull() {
			n, _ = e.AsBigFloat().Int64()
		}
		if n < 0 || n > 255 || !cty.NumberIntVal(n).RawEquals(e) {
			r.errorf(x.Range(), "Unsuitable value", "aad is a list of bytes: whole numbers from 0 to 255.")
			return nil
		}
		out = append(out, byte(n))
	}
	return out
}
