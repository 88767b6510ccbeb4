package executor

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
)

// proposed compares the encryption block in the checkout with that of the base branch. It returns the errors in
// the checkout's block. Before the merge, nothing is encrypted with the checkout's block. After the merge,
// everything is. So a note about the difference is above every report of the run, even if the run fails.
func (c *ciphers) proposed(o *checkout, cfg *config.Config) diags.Diagnostics {
	if cfg == nil || cfg.Root.Broken {
		return nil // the errors are reported
	}
	root := cfg.Root
	now, ds := c.baseCiphers(o)
	if ds.HasErrors() {
		return nil // These errors are reported when the state is opened.
	}
	where := o.earlyInput()
	where.Secrets = true
	where.Sources = func() []inputs.Source {
		sources, _ := o.sources()
		return slices.DeleteFunc(sources, func(s inputs.Source) bool { return s.Origin == inputs.FromOption }) // a merge has no options
	}
	evaluate := early.New(where)
	in := encrypting.Input{Blocks: root.Encryption, Environment: o.vault[encrypting.Variable], Refuse: refused}
	in.Evaluate = func(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
		if config.IsLiteral(e) {
			return e.Value(nil)
		}
		return evaluate(root, e)
	}
	later, ds := encrypting.Read(in)
	c.change = notes.EncryptionChange{Project: o.job.Project}
	if ds.HasErrors() {
		c.change.Broken = true
		return ds
	}
	d := encrypting.Compare(now, later)
	c.change.State, c.change.Plan, c.change.Others = notes.Resealed(d.State), notes.Resealed(d.Plan), d.Others
	return nil
}
