package executor

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/encrypting"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// ciphers are the encryption of a run's states and saved plans, as the checkout's configuration says.
// Keys are made once for each run. There is no AWS KMS: its keys would be had with rights of ours that
// the state does not need.
type ciphers struct {
	set  *encrypting.Set
	read bool
}

// of returns the ciphers of a configuration, whose expressions have the values of where.
func (c *ciphers) of(root *config.Module, where early.Input) (*encrypting.Set, diags.Diagnostics) {
	if c.read {
		return c.set, nil
	}
	where.Secrets = true
	evaluate := early.New(where)
	s, ds := encrypting.Read(encrypting.Input{Blocks: root.Encryption, Evaluate: func(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
		if config.IsLiteral(e) {
			return e.Value(nil)
		}
		return evaluate(root, e)
	}})
	c.set, c.read = s, !ds.HasErrors()
	return s, ds
}

// sealed returns an encoded plan as it is to be kept.
func (c *ciphers) sealed(ctx context.Context, plan []byte) ([]byte, error) {
	if p := c.set.Plan(); p != nil {
		return p.EncryptPlan(ctx, plan)
	}
	return plan, nil
}

// unsealed returns a kept plan as it was encoded.
func (c *ciphers) unsealed(ctx context.Context, plan []byte) ([]byte, error) {
	if p := c.set.Plan(); p != nil {
		return p.DecryptPlan(ctx, plan)
	}
	return plan, nil
}

// encryptedBackend is the backend with the states encrypted. It comes before sealed and unsealed.
func (o *checkout) encryptedBackend(ctx context.Context) (statebackend.Backend, diags.Diagnostics) {
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	s, more := o.ciphers.of(o.Config.Root, o.earlyInput())
	return encryption.Wrap(b, s.State()), append(ds, more...)
}
