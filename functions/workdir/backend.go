package workdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// Settings are the type and the configuration of a backend. nil means the local default.
type Settings struct {
	Type       string // for instance "s3"; see [BackendTypes]
	Attributes map[string]any
	// Block is the hash of the backend block without -backend-config; see blockHash.
	Block uint64
}

// Name returns the type of the backend; "local" if s is nil.
func (s *Settings) Name() string {
	if s == nil {
		return "local"
	}
	return s.Type
}

// Configured returns the settings of a backend block, with overrides from -backend-config. If there is no
// backend block, the settings are nil, and overrides are an error.
func Configured(b *config.Backend, overrides map[string]any) (*Settings, diags.Diagnostics) {
	if b == nil {
		return nil, nil
	}
	kind, ok := backendTypes[b.Type]
	if !ok {
		return nil, diags.Errorf(&b.Range, unsupportedBackend, "%s", unsupported(b.Type))
	}
	attrs := kind.Attributes
	var body hcl.BodySchema
	for _, a := range attrs {
		body.Attributes = append(body.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	content, hs := b.Body.Content(&body)
	ds := diags.FromHCL(hs)
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(content.Attributes)) {
		a := content.Attributes[name]
		v, hs := b.Value(a.Expr)
		if ds = append(ds, diags.FromHCL(hs)...); hs.HasErrors() {
			continue
		}
		plain, err := goValue(v)
		if err != nil {
			ds = append(ds, diags.Errorf(a.Expr.Range().Ptr(), "Invalid backend configuration", "The value of %q is not valid: %s.", name, err)...)
			continue
		}
		if plain != nil {
			values[name] = plain
		}
	}
	block := blockHash(b.Type, values)
	for name, v := range overrides {
		if !slices.ContainsFunc(attrs, func(a statebackend.Attribute) bool { return a.Name == name }) {
			ds = append(ds, diags.Errorf(nil, "Invalid backend configuration argument",
				"The backend configuration argument %q given on the command line is not expected for the selected backend type.", name)...)
			continue
		}
		values[name] = v
	}
	return &Settings{b.Type, values, block}, ds
}

// goValue converts a value into Go types, as encoding/json decodes them. An unknown value is an error.
func goValue(v cty.Value) (any, error) {
	if v.IsNull() {
		return nil, nil
	}
	if !v.IsWhollyKnown() {
		return nil, errors.New("it is not known")
	}
	data, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return nil, err
	}
	var out any
	err = json.Unmarshal(data, &out)
	return out, err
}

// Same reports whether s and x configure the same backend. Attributes without a value do not count.
func (s *Settings) Same(x *Settings) bool {
	if s == nil || x == nil {
		return s == x
	}
	return s.Type == x.Type && reflect.DeepEqual(compact(s.Attributes), compact(x.Attributes))
}

// compact returns the attributes that have a value, as text.
func compact(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if v != nil {
			out[k] = fmt.Sprint(v)
		}
	}
	return out
}

// Follows reports whether s and the record x come from the same backend block. If they do, any other
// difference between them comes from -backend-config.
func (s *Settings) Follows(x *Settings) bool {
	if s == nil || x == nil {
		return s == x
	}
	return s.Type == x.Type && s.Block == x.Block
}

// LocalPaths are the values of the options -state, -state-out and -backup: where the local backend reads and
// writes.
type LocalPaths struct{ State, StateOut, Backup string }

// OpenBackend opens a backend. States in it are encrypted as cfg says; see [Dir.Encryption]. nil settings mean
// the local default.
func (d *Dir) OpenBackend(ctx context.Context, cfg *config.Config, s *Settings, paths LocalPaths) (statebackend.Backend, diags.Diagnostics) {
	b, ds := d.openBackend(ctx, s, paths)
	if ds.HasErrors() {
		return nil, ds
	}
	b, more := d.wrap(cfg, b)
	return b, append(ds, more...)
}

// openBackend opens a backend that reads and writes states as they are stored: it neither decrypts nor
// encrypts them.
func (d *Dir) openBackend(ctx context.Context, s *Settings, paths LocalPaths) (statebackend.Backend, diags.Diagnostics) {
	if s == nil {
		s = &Settings{Type: "local"}
	}
	kind, ok := backendTypes[s.Type]
	if !ok {
		return nil, diags.Errorf(nil, unsupportedBackend, "%s", unsupported(s.Type))
	}
	b, err := kind.Open(ctx, s.Attributes, d, paths)
	if err != nil {
		return nil, backendError(err)
	}
	return b, nil
}

// backendError returns the diagnostics of a backend's error. They name the attribute that is wrong.
func backendError(err error) diags.Diagnostics {
	var ae *statebackend.AttributeError
	if errors.As(err, &ae) {
		return diags.Errorf(nil, "Invalid backend configuration", "%s", ae.Error())
	}
	if errors.Is(err, s3.ErrNoCredentials) {
		return diags.FromError("No valid credential sources found", err) // programs look for it
	}
	return diags.FromError("Error configuring the backend", err)
}

// Backend opens the backend that init recorded. It is an error if the backend block in cfg has changed since.
// If cfg is nil, that is not checked.
func (d *Dir) Backend(ctx context.Context, cfg *config.Config, paths LocalPaths) (statebackend.Backend, *Settings, diags.Diagnostics) {
	recorded, err := d.Recorded()
	if err != nil {
		return nil, nil, diags.FromError("Backend initialization required", err)
	}
	if cfg != nil {
		if ds := unchanged(cfg.Root.Backend, recorded); ds.HasErrors() {
			return nil, nil, ds
		}
	}
	b, ds := d.OpenBackend(ctx, cfg, recorded, paths)
	if recorded == nil {
		recorded = &Settings{Type: "local"}
	}
	return b, recorded, ds
}

// unchanged returns an error if a backend block configures another backend than the recorded one.
func unchanged(block *config.Backend, recorded *Settings) diags.Diagnostics {
	want, ds := Configured(block, nil)
	if ds.HasErrors() {
		return ds
	}
	switch plainLocal := want != nil && want.Type == "local" && len(want.Attributes) == 0; {
	case want == nil && recorded == nil || recorded == nil && plainLocal:
		return nil
	case want == nil:
		return needInit(nil, "Reason: Unsetting the previously set backend %q.", recorded.Type)
	case recorded == nil:
		return needInit(&block.Range, "Reason: Initial configuration of the requested backend %q.", want.Type)
	case want.Type != recorded.Type:
		return needInit(&block.Range, "Reason: Backend type changed from %q to %q.", recorded.Type, want.Type)
	case !want.Follows(recorded):
		return needInit(&block.Range, "Reason: Backend configuration block has changed.")
	}
	return nil
}

func needInit(place *hcl.Range, reason string, args ...any) diags.Diagnostics {
	return diags.Errorf(place, "Backend initialization required, please run \"lockstep init\"",
		"%s\n\nThe backend keeps the state. To change the backend and copy the states, run \"lockstep init\". To use the new configuration without copying, run \"lockstep init -reconfigure\".", fmt.Sprintf(reason, args...))
}

// ParseAttributes reads a file of assignments in HCL, as the option -backend-config accepts it.
func ParseAttributes(name string, src []byte) (map[string]any, diags.Diagnostics) {
	values, ds := inputs.ParseFile(name, src)
	out := map[string]any{}
	for k, x := range values {
		v, hs := x.Value(nil)
		if ds = append(ds, diags.FromHCL(hs)...); hs.HasErrors() {
			continue
		}
		plain, err := goValue(v)
		if err != nil {
			ds = append(ds, diags.Errorf(x.Range().Ptr(), "Invalid backend configuration", "The value of %q is not valid: %s.", k, err)...)
			continue
		}
		out[k] = plain
	}
	return out, ds
}
