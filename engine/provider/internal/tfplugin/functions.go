package tfplugin

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
)

// CallFunction calls a function with arguments of the declared parameters' types.
func (c *client) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	declared, ds := c.ready(ctx)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	f := declared.Functions[name]
	if f == nil {
		return cty.NilVal, c.unsupported("function", name)
	}
	req := CallFunction_Request{Name: name, Arguments: make([]*DynamicValue, len(args))}
	for i, arg := range args {
		switch {
		case i < len(f.Parameters):
			req.Arguments[i] = encode(arg, f.Parameters[i].Type)
		case f.Variadic != nil:
			req.Arguments[i] = encode(arg, f.Variadic.Type)
		default:
			return cty.NilVal, &provider.FunctionError{
				Text:     fmt.Sprintf("too many arguments: the function takes %d", len(f.Parameters)),
				Argument: i,
			}
		}
	}
	var resp CallFunction_Response
	if ds := c.call(ctx, callFunction, &req, &resp); ds.HasErrors() {
		return cty.NilVal, ds
	}
	if e := resp.Error; e != nil {
		out := &provider.FunctionError{Text: e.Text, Argument: -1}
		if e.FunctionArgument != nil {
			out.Argument = int(*e.FunctionArgument)
		}
		return cty.NilVal, out
	}
	v, err := decode(resp.Result, f.Return)
	if err != nil {
		return cty.NilVal, c.undecodable(callFunction, "a result", err)
	}
	return v, nil
}
