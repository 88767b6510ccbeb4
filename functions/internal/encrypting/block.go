package encrypting

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// A reader collects the blocks in encryption blocks, and then evaluates those that are used.
type reader struct {
	in Input
	at hcl.Range // of the block being read
	ds diags.Diagnostics

	declared            map[string]*declared // by address, "method.TYPE.NAME"
	state, plan, others *target
	named               []*target

	keys        map[string]*encryption.Keys // the keys by address; nil while they are read, or after an error
	lengths     map[string]int              // of keys in bytes, by address
	methods     map[string]encryption.Method
	imprints    map[string]imprint // of methods and key providers, by address
	failed      map[string]bool    // whose errors were reported, by address
	unencrypted *hcl.Range         // of the method "unencrypted", if it is used
}

// declared is a key_provider or method block, together with later blocks that override parts of it.
type declared struct {
	address string
	kind    string // the type, such as "pbkdf2"
	bodies  []hcl.Body
	at      hcl.Range
}

// A target is a block that names an encryption method: for example state, plan, or the block fallback in one of
// them.
type target struct {
	label    string
	method   hcl.Expression   // nil if not set
	enforced []hcl.Expression // enforced if any is true
	fallback *target
	at       hcl.Range
}

var blockSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "key_provider", LabelNames: []string{"type", "name"}},
	{Type: "method", LabelNames: []string{"type", "name"}},
	{Type: "state"}, {Type: "plan"}, {Type: "remote_state_data_sources"},
}}

var remoteSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "default"}, {Type: "remote_state_data_source", LabelNames: []string{"name"}},
}}

func targetSchema(enforceable bool) *hcl.BodySchema {
	s := &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "method"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "fallback"}}}
	if enforceable {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: "enforced"})
	}
	return s
}

func (r *reader) problems(hs hcl.Diagnostics) { r.ds = append(r.ds, diags.FromHCL(hs)...) }

func (r *reader) errorf(at hcl.Range, summary, detail string, args ...any) {
	r.ds = append(r.ds, diags.Errorf(&at, summary, detail, args...)...)
}

// block reads one encryption block, and merges it with the encryption blocks that were read before.
func (r *reader) block(body hcl.Body) {
	content, hs := body.Content(blockSchema)
	r.problems(hs)
	here := map[string]hcl.Range{}
	once := func(b *hcl.Block, name string) bool {
		if old, ok := here[name]; ok {
			r.errorf(b.DefRange, "Duplicate encryption settings", "There is a block for %s at %s:%d already. Write one of them only.", name, old.Filename, old.Start.Line)
			return false
		}
		here[name] = b.DefRange
		return true
	}
	for _, b := range content.Blocks {
		switch b.Type {
		case "key_provider", "method":
			if address := b.Type + "." + b.Labels[0] + "." + b.Labels[1]; once(b, address) {
				r.declare(address, b)
			}
		case "state":
			if once(b, b.Type) {
				r.state = merged(r.state, r.target(b, true))
			}
		case "plan":
			if once(b, b.Type) {
				r.plan = merged(r.plan, r.target(b, true))
			}
		case "remote_state_data_sources":
			if once(b, b.Type) {
				r.remote(b)
			}
		}
	}
}

func (r *reader) declare(address string, b *hcl.Block) {
	d := r.declared[address]
	if d == nil {
		d = &declared{address: address, kind: b.Labels[0], at: b.DefRange}
		r.declared[address] = d
	}
	d.bodies = append(d.bodies, b.Body)
}

func (r *reader) remote(b *hcl.Block) {
	content, hs := b.Body.Content(remoteSchema)
	r.problems(hs)
	seen := map[string]bool{}
	for _, x := range content.Blocks {
		t := r.target(x, false)
		if len(x.Labels) > 0 {
			t.label = x.Labels[0]
		}
		if seen[x.Type+t.label] {
			r.errorf(x.DefRange, "Duplicate encryption settings", "There is a block %q for the same states already. Write one of them only.", x.Type)
		}
		seen[x.Type+t.label] = true
		if x.Type == "default" {
			r.others = merged(r.others, t)
			continue
		}
		for i, old := range r.named {
			if old.label == t.label {
				r.named[i] = merged(old, t)
				t = nil
				break
			}
		}
		if t != nil {
			r.named = append(r.named, t)
		}
	}
}

func (r *reader) target(b *hcl.Block, enforceable bool) *target {
	content, hs := b.Body.Content(targetSchema(enforceable))
	r.problems(hs)
	t := &target{at: b.DefRange}
	if a := content.Attributes["method"]; a != nil {
		t.method = a.Expr
	}
	if a := content.Attributes["enforced"]; a != nil {
		t.enforced = append(t.enforced, a.Expr)
	}
	for _, x := range content.Blocks {
		if t.fallback != nil {
			r.errorf(x.DefRange, "Duplicate encryption settings", "There is a fallback already. For a further one, write it into that block.")
			continue
		}
		t.fallback = r.target(x, false)
	}
	return t
}

// merged returns the target t with the settings of over. Settings that over does not have are those of t.
func merged(t, over *target) *target {
	if t == nil {
		return over
	}
	out := *t
	if over.method != nil {
		out.method, out.at = over.method, over.at
	}
	if over.fallback != nil {
		out.fallback = over.fallback
	}
	out.enforced = append(out.enforced, over.enforced...)
	return &out
}
