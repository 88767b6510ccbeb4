package workdir

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// RemoteState reads the outputs of another configuration's state, as
// terraform_remote_state asks for them. Relative paths of local states count from
// the directory. own is the configuration that asks, and says how the state is encrypted.
func (d *Dir) RemoteState(ctx context.Context, own *config.Config, backendType string, arguments cty.Value, workspace string) (map[string]cty.Value, error) {
	if _, ok := attributesOf[backendType]; !ok {
		return nil, fmt.Errorf("there is no backend type named %q: only states in \"s3\", \"http\" and \"local\" can be read", backendType)
	}
	s := &Settings{Type: backendType, Attributes: map[string]any{}}
	if !arguments.IsNull() {
		for name, v := range arguments.AsValueMap() {
			plain, err := goValue(v)
			if err != nil {
				return nil, fmt.Errorf("the value of %q is not valid: %w", name, err)
			}
			if plain != nil {
				s.Attributes[name] = plain
			}
		}
	}
	b, ds := d.openBackend(ctx, s, LocalPaths{})
	set, more := d.Encryption(own)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds.Err()
	}
	st, ds := OpenState(encryption.Wrap(b, set.RemoteState(provider.Reading(ctx))), workspace)
	if !ds.HasErrors() {
		ds = st.Read(ctx)
	}
	if ds.HasErrors() {
		return nil, ds.Err()
	}
	if !st.Exists() {
		return nil, builtin.ErrNoState
	}
	outputs := map[string]cty.Value{}
	for name, o := range st.Current.Outputs() {
		outputs[name] = o.Value
	}
	return outputs, nil
}
