package main

import (
	"fmt"
	"io"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var outputCommand = command{name: "output", synopsis: "Show the output values of the root module", run: func(a *app, args []string) int {
	var x access
	var asJSON, raw bool
	f := a.newFlags("output", "output [OPTIONS] [NAME]")
	f.vars(&varFlags{}) // the backend may need them
	f.BoolVar(&asJSON, "json", false, "in JSON, for programs")
	f.BoolVar(&raw, "raw", false, "one value as text, as it is")
	f.StringVar(&x.paths.State, "state", "", "the state file of the local backend")
	if code, ok := f.parse(args); !ok {
		return code
	}
	switch {
	case f.NArg() > 1:
		return f.refuse("Unexpected argument", "output takes at most one name: without a name it shows all outputs")
	case raw && asJSON:
		return f.refuse("Invalid output format", "-raw and -json exclude each other")
	case raw && f.NArg() == 0:
		return f.refuse("Output name required", "output -raw needs the name of an output: -json shows all of them")
	}
	op, ds := a.stored(x)
	if ds.HasErrors() {
		return a.show(ds)
	}
	state := op.state.Current
	switch {
	case f.NArg() == 1 && (state.HasOutputs() || asJSON || raw):
		o, ok := state.Output(f.Arg(0))
		if !ok {
			return a.show(append(ds, diags.Errorf(nil, fmt.Sprintf("Output %q not found", f.Arg(0)),
				"The state has no output of that name. If it was added to the configuration just now, run \"lockstep apply\" first: until then the state does not have it.")...))
		}
		return a.show(append(ds, a.writeOutput(f.Arg(0), o.Value, asJSON, raw)...))
	case asJSON:
		data, err := formats.Outputs(state)
		return max(a.writeJSON(data, err), a.show(ds))
	case !state.HasOutputs():
		return a.tell(append(ds, diags.Warningf(nil, "No outputs found",
			"The state has no outputs, or all of them are empty. Outputs come into the state when a configuration that declares them is applied; \"lockstep console\" shows the values of expressions.")...))
	}
	a.print().Outputs(a.out, state)
	return a.tell(ds)
}}

// writeOutput writes the value of one output, which shows it even if it is sensitive.
func (a *app) writeOutput(name string, v cty.Value, asJSON, raw bool) diags.Diagnostics {
	switch {
	case asJSON:
		data, err := ctyjson.Marshal(v, v.Type())
		if err == nil {
			a.out.Write(append(data, '\n'))
		}
		return diags.FromError("The output cannot be shown", err)
	case raw:
		s, err := convert.Convert(v, cty.String)
		if err != nil || s.IsNull() {
			return diags.Errorf(nil, "Unsupported value for raw output",
				"The -raw option shows strings, numbers and booleans only, and the output %q is of another type or null. Use -json instead, which can show every value.", name)
		}
		io.WriteString(a.out, s.AsString())
		return nil
	}
	fmt.Fprintln(a.out, a.print().Value(v))
	return nil
}
