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

// encryption returns how states and saved plans are encrypted, as the checkout's configuration says.
// Keys are made once for each run. There is no AWS KMS: its keys would be had with rights of ours that
// the state does not need.
func (o *checkout) encryption() (*encrypting.Set, diags.Diagnostics) {
	if o.ciphers != nil {
		return o.ciphers, nil
	}
	root, where := o.Config.Root, o.earlyInput()
	where.Secrets = true
	evaluate := early.New(where)
	s, ds := encrypting.Read(encrypting.Input{
		Blocks: root.Encryption,
		Evaluate: func(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
			if config.IsLiteral(e) {
				return e.Value(nil)
			}
			return evaluate(root, e)
		},
	})
	o.ciphers = s
	return s, ds
}

// encryptedBackend is the backend with the states encrypted.
func (o *checkout) encryptedBackend(ctx context.Context) (statebackend.Backend, diags.Diagnostics) {
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	s, more := o.encryption()
	return encryption.Wrap(b, s.State()), append(ds, more...)
}

// sealed returns an encoded plan as it is to be kept.
func (o *checkout) sealed(ctx context.Context, plan []byte) ([]byte, error) {
	s, ds := o.encryption()
	if c := s.Plan(); c != nil {
		return c.EncryptPlan(ctx, plan)
	}
	return plan, ds.Err()
}

// unsealed returns a kept plan as it was encoded.
func (o *checkout) unsealed(ctx context.Context, plan []byte) ([]byte, error) {
	s, ds := o.encryption()
	if c := s.Plan(); c != nil {
		return c.DecryptPlan(ctx, plan)
	}
	return plan, ds.Err()
}
