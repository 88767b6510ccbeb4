package workdir

import (
	"context"
	"fmt"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// RemoteState reads the outputs of another configuration's state, for a data source terraform_remote_state.
// Relative paths of local states are relative to d.Path. own is the configuration with the data source: it says
// how the state is encrypted.
func (d *Dir) RemoteState(ctx context.Context, own *config.Config, backendType string, arguments cty.Value, workspace string) (map[string]cty.Value, error) {
	s, err := RemoteSettings(backendType, arguments)
	if err != nil {
		return nil, err
	}
	b, ds := d.openBackend(ctx, s, LocalPaths{})
	set, more := d.Encryption(own)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds.Err()
	}
	stored, err := Outputs(ctx, encryption.Wrap(b, set.RemoteState(provider.Reading(ctx))), workspace)
	if err != nil {
		return nil, err
	}
	outputs := map[string]cty.Value{}
	for name, o := range stored {
		outputs[name] = o.Value
	}
	return outputs, nil
}

// RemoteSettings returns the backend settings that the arguments of a data source terraform_remote_state name.
func RemoteSettings(backendType string, arguments cty.Value) (*Settings, error) {
	if _, ok := backendTypes[backendType]; !ok {
		return nil, fmt.Errorf("Lockstep cannot read a state in the backend %q. It reads states in %s. Move that state to one of these backends. Or replace the data source with variables, and give them the values that `terraform output -json` prints in the other configuration", backendType, supportedBackends())
	}
	s := &Settings{Type: backendType, Attributes: map[string]any{}}
	if arguments.IsNull() {
		return s, nil
	}
	if t := arguments.Type(); !t.IsObjectType() && !t.IsMapType() {
		return nil, fmt.Errorf("the arguments of the backend are a %s, and not an object", t.FriendlyName())
	}
	for name, v := range arguments.AsValueMap() {
		plain, err := goValue(v)
		if err != nil {
			return nil, fmt.Errorf("the value of %q is not valid: %w", name, err)
		}
		if plain != nil {
			s.Attributes[name] = plain
		}
	}
	return s, nil
}

// Outputs reads the outputs of a workspace's state. If there is no state, the error is [builtin.ErrNoState].
func Outputs(ctx context.Context, b statebackend.Backend, workspace string) (map[string]states.Output, error) {
	st, ds := OpenState(b, workspace)
	if !ds.HasErrors() {
		ds = st.Read(ctx)
	}
	if ds.HasErrors() {
		return nil, ds.Err()
	}
	if !st.Exists() {
		return nil, builtin.ErrNoState
	}
	return maps.Collect(st.Current.Outputs()), nil
}
