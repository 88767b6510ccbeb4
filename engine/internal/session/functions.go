package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// ModuleFunctions returns the functions that a module may call: base, and the functions of the providers that
// it requires, as provider::NAME::FUNCTION. The result is nil if no file of the configuration calls a
// provider function: then no provider needs to be started. Functions of a provider that cannot be started are
// left out.
func ModuleFunctions(ctx context.Context, cfg *config.Config, ps Providers, base map[string]function.Function) func(*config.Module) map[string]function.Function {
	if !mayCallProviders(cfg) {
		return nil
	}
	return AllModuleFunctions(ctx, ps, base)
}

// AllModuleFunctions returns the same as [ModuleFunctions], even if no file of the configuration calls a
// provider function. It is for expressions that are not part of the configuration.
func AllModuleFunctions(ctx context.Context, ps Providers, base map[string]function.Function) func(*config.Module) map[string]function.Function {
	var mu sync.Mutex
	made := map[*config.Content]map[string]function.Function{}
	return func(m *config.Module) map[string]function.Function {
		mu.Lock()
		defer mu.Unlock()
		if made[m.Content] == nil {
			made[m.Content] = moduleFunctions(ctx, m, ps, base)
		}
		return made[m.Content]
	}
}

// mayCallProviders reports whether a file of the configuration may call a function of a provider.
func mayCallProviders(cfg *config.Config) bool {
	for _, f := range cfg.Files {
		if bytes.Contains(f.Bytes, []byte("provider::")) {
			return true
		}
	}
	return false
}

func moduleFunctions(ctx context.Context, m *config.Module, ps Providers, base map[string]function.Function) map[string]function.Function {
	out := maps.Clone(base)
	for local, required := range m.RequiredProviders {
		if required.Implied {
			continue // only providers in required_providers have a name space for functions
		}
		declared, ds := ps.Schema(ctx, required.Source)
		if ds.HasErrors() {
			continue
		}
		for name, f := range declared.Functions {
			out["provider::"+local+"::"+name] = providerFunction(ctx, ps, required.Source, name, f)
		}
	}
	return out
}

// providerFunction returns a function of the language whose calls a provider answers.
func providerFunction(ctx context.Context, ps Providers, p addrs.Provider, name string, f *schema.Function) function.Function {
	spec := &function.Spec{Description: f.Description, Type: function.StaticReturnType(f.Return)}
	for _, x := range f.Parameters {
		spec.Params = append(spec.Params, parameter(x))
	}
	if f.Variadic != nil {
		x := parameter(*f.Variadic)
		spec.VarParam = &x
	}
	declared := func(i int) *function.Parameter {
		if i < len(spec.Params) {
			return &spec.Params[i]
		}
		return spec.VarParam
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		for i, arg := range args {
			// The provider must not get a value that its parameter does not accept, not even one that is
			// unknown only in a part.
			switch x := declared(i); {
			case !x.AllowUnknown && !arg.IsWhollyKnown():
				return cty.UnknownVal(f.Return), nil
			case !x.AllowNull && arg.IsNull():
				return cty.UnknownVal(f.Return), function.NewArgErrorf(i, "argument %q must not be null", x.Name)
			}
		}
		client, ds := ps.Unconfigured(ctx, p)
		if ds.HasErrors() {
			return cty.UnknownVal(f.Return), ds
		}
		v, err := client.CallFunction(ctx, name, args)
		var refused *provider.FunctionError
		switch {
		case errors.As(err, &refused) && 0 <= refused.Argument && refused.Argument < len(args):
			return cty.UnknownVal(f.Return), function.NewArgError(refused.Argument, refused)
		case err != nil:
			return cty.UnknownVal(f.Return), err
		case v == cty.NilVal:
			return cty.UnknownVal(f.Return), fmt.Errorf("the provider %s returned nothing", p.ForDisplay())
		}
		return v, nil
	}
	return function.New(spec)
}

func parameter(p schema.Parameter) function.Parameter {
	return function.Parameter{
		Name: p.Name, Description: p.Description, Type: p.Type,
		AllowNull: p.AllowNull, AllowUnknown: p.AllowUnknown,
		AllowDynamicType: true, // accepts untyped nulls; each call checks for unknown values itself
	}
}
