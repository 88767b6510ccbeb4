package executor

import (
	"regexp"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
)

// secrets are values that must not be shown anywhere.
type secrets struct{ redacting.Secrets }

// secrets returns all texts that must not be shown: Lockstep's credentials and those of plugins, sensitive
// variables, and the sensitive values in the plan and in the states before and after it. Sensitive values are
// found by marks and by schemas. p and after may be nil.
func (o *checkout) secrets(p *plans.Plan, after *states.State) *secrets {
	found := &secrets{}
	if o.engine.Secrets != nil {
		for _, s := range o.engine.Secrets() {
			found.Text(s)
		}
	}
	for _, s := range redacting.SecretsIn(o.env) {
		found.Text(s)
	}
	for _, s := range o.vault {
		found.Text(s)
	}
	for _, v := range o.ciphers.Sensitive {
		found.all(v)
	}
	for _, v := range o.remote.Sensitive() {
		found.all(v)
	}
	found.fromVariables(o)
	if o.State != nil {
		found.fromState(o, o.State.Current)
	}
	found.fromState(o, after)
	defer o.published(found)
	if p == nil {
		return found
	}
	found.fromState(o, p.PriorState)
	found.add(p)
	return found
}

// fromVariables collects the values of sensitive and ephemeral variables.
func (s *secrets) fromVariables(o *checkout) {
	if o.Config == nil || o.Config.Root == nil || o.Config.Root.Content == nil {
		return
	}
	for name, v := range o.Config.Root.Variables {
		s.names(v.Type)
		if !v.Sensitive && !v.Ephemeral {
			continue
		}
		if value, ok := o.Variables[name]; ok {
			s.all(value)
		}
		s.all(v.Default)
	}
}

// add collects the sensitive values in a plan: in its changes, and in the configurations of its actions.
func (s *secrets) add(p *plans.Plan) {
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		if c.Schema != nil && c.Schema.Block != nil {
			s.names(c.Schema.Block.ImpliedType())
		}
		c = c.Decoded()
		s.marked(c.Before)
		s.marked(c.After)
	}
	for _, x := range p.Invocations {
		if x.Schema != nil && x.Schema.Block != nil {
			s.names(x.Schema.Block.ImpliedType())
		}
		s.marked(x.Config)
	}
	for _, c := range p.Outputs {
		if c.Sensitive {
			s.all(c.Before)
			s.all(c.After)
		}
	}
}

// Redact returns text without the secrets in hidden. It finds each secret in every form that reports
// use.
func Redact(hidden []string, text string) string {
	found := secrets{}
	for _, s := range hidden {
		found.Text(s)
	}
	return found.From(text)
}

// SecretsIn returns the values of environment variables whose names say that they are secret, such as
// AWS_SECRET_ACCESS_KEY.
func SecretsIn(environ []string) []string { return redacting.SecretsIn(environ) }

// fromState collects the sensitive values in a state. It uses the marks in the state and the known schemas,
// because other tools may have written the state with fewer marks.
func (s *secrets) fromState(o *checkout, state *states.State) {
	if state == nil {
		return
	}
	for _, out := range state.Outputs() {
		if out.Sensitive {
			s.all(out.Value)
		}
	}
	for addr, r := range state.Resources() {
		var block *schema.Block
		if p := o.Schemas(r.Provider.Provider); p != nil {
			if rs := p.Resource(addr.Resource.Mode.String(), addr.Resource.Type); rs != nil {
				block = rs.Block
				s.names(block.ImpliedType())
			}
		}
		for _, i := range r.Instances {
			s.object(i.Current, block)
			for _, d := range i.Deposed {
				s.object(d, block)
			}
		}
	}
}

// published records names of attributes that the configuration contains, such as "x" in var.a.x. Everybody can
// read such a name, so it is not secret.
func (o *checkout) published(s *secrets) {
	if o.Config == nil || len(s.Keys()) == 0 {
		return
	}
	for _, file := range o.Config.Files {
		for _, m := range attributeRead().FindAllSubmatch(file.Bytes, -1) {
			s.Known(string(m[1]))
		}
	}
}

var attributeRead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w\])]\.([A-Za-z_][\w-]*)`) })
