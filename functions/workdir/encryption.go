package workdir

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// ciphers caches the ciphers of configurations, because deriving keys is slow. Each process derives a key
// only once.
type ciphers struct {
	mu   sync.Mutex
	sets map[*config.Module]*encrypting.Set
}

// Encryption returns how states and plans are encrypted, from the root module and the environment. If cfg is
// nil or its root module could not be read, only the environment counts. Warnings are returned only by the
// first call.
func (d *Dir) Encryption(cfg *config.Config) (*encrypting.Set, diags.Diagnostics) {
	var root *config.Module
	if cfg != nil {
		root = cfg.Root
	}
	if d.ciphers == nil {
		return d.readEncryption(root)
	}
	d.ciphers.mu.Lock()
	defer d.ciphers.mu.Unlock()
	if s, ok := d.ciphers.sets[root]; ok {
		return s, nil
	}
	s, ds := d.readEncryption(root)
	if !ds.HasErrors() {
		d.ciphers.sets[root] = s
	}
	return s, ds
}

// ValidateEncryption returns the errors in the configuration of encryption. Variables may be unset.
func (d *Dir) ValidateEncryption(cfg *config.Config) diags.Diagnostics {
	where := d.earlyInput()
	where.Validate = true
	_, ds := d.encryptionIn(cfg.Root, where)
	return ds
}

func (d *Dir) readEncryption(root *config.Module) (*encrypting.Set, diags.Diagnostics) {
	return d.encryptionIn(root, d.earlyInput())
}

func (d *Dir) encryptionIn(root *config.Module, where early.Input) (*encrypting.Set, diags.Diagnostics) {
	in := encrypting.Input{Environment: d.Getenv(encrypting.Variable), KMS: d.KMS, Program: d.KeyProgram}
	where.Given, where.Secrets = d.Given, true
	where.Used = nil // a passphrase is not recorded in plain text, even if nobody declared it sensitive
	evaluate := early.New(where)
	in.Evaluate = func(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
		if config.IsLiteral(e) || root == nil {
			return e.Value(nil)
		}
		return evaluate(root, e)
	}
	if root != nil {
		in.Blocks = root.Encryption
	}
	return encrypting.Read(in)
}

// DecryptPlan returns the decrypted content of a stored plan.
func (d *Dir) DecryptPlan(ctx context.Context, cfg *config.Config, plan []byte) ([]byte, diags.Diagnostics) {
	s, ds := d.Encryption(cfg)
	switch {
	case ds.HasErrors():
		return nil, ds
	case s.Plan() != nil:
		plain, err := s.Plan().DecryptPlan(ctx, plan)
		if err != nil {
			return nil, append(ds, diags.Errorf(nil, "The plan cannot be decrypted", "The saved plan cannot be used: %s.", err)...)
		}
		return plain, ds
	case encryption.IsEncrypted(plan):
		return nil, append(ds, diags.Errorf(nil, "The plan is encrypted", "The configuration in this directory does not say how. "+
			"Add the encryption block with which the plan was made: terraform { encryption { plan { ... } } }. Or set the environment variable %s.", encrypting.Variable)...)
	}
	return plan, ds
}

// DecryptState returns the decrypted content of a state file outside of a backend.
func (d *Dir) DecryptState(ctx context.Context, cfg *config.Config, state []byte) ([]byte, diags.Diagnostics) {
	s, ds := d.Encryption(cfg)
	if ds.HasErrors() || s.State() == nil {
		return state, ds // If the state is encrypted, the function that reads it reports the error.
	}
	plain, _, err := s.State().DecryptState(ctx, state)
	if err != nil {
		return nil, append(ds, diags.Errorf(nil, "The state cannot be decrypted", "The state cannot be used: %s.", err)...)
	}
	return plain, ds
}

// Prepare gets the key for encrypting the state, so that encryption cannot fail later. Call it before an
// action whose only record will be the state. If states are not encrypted, Prepare does nothing.
func (s *State) Prepare(ctx context.Context) error {
	if w, ok := s.Workspace.(interface{ Prepare(context.Context) error }); ok {
		return w.Prepare(ctx)
	}
	return nil
}

// Sealed returns the state next as its backend would store it: encrypted, and as the successor of the present
// state. The caller stores it elsewhere; Sealed does not store it.
func (s *State) Sealed(ctx context.Context, next *states.State) ([]byte, error) {
	data, err := statefile.Write(s.Next(next))
	if err != nil {
		return nil, err
	}
	if w, ok := s.Workspace.(interface {
		Sealed(context.Context, []byte) ([]byte, error)
	}); ok {
		return w.Sealed(ctx, data)
	}
	return data, nil
}

// wrap returns the backend b with encryption as cfg says.
func (d *Dir) wrap(cfg *config.Config, b statebackend.Backend) (statebackend.Backend, diags.Diagnostics) {
	s, ds := d.Encryption(cfg)
	if ds.HasErrors() {
		return nil, ds
	}
	return encryption.Wrap(b, s.State()), ds
}
