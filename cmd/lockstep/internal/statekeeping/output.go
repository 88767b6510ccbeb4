package statekeeping

import (
	"fmt"
	"io"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var Output = cli.Command{Name: "output", Synopsis: "Show the output values of the root module", Run: func(a *cli.App, args []string) int {
	var x opening.Access
	var asJSON, raw bool
	f := a.NewFlags("output", "output [OPTIONS] [NAME]")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.BoolVar(&raw, "raw", false, "print one value as plain text")
	f.StringVar(&x.Paths.State, "state", "", "the state file of the local backend")
	f.ShowSensitive()
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	switch {
	case f.NArg() > 1:
		return f.Refuse("Unexpected argument", "Give the command output one name, or no name for all outputs.")
	case raw && asJSON:
		return f.Refuse("Invalid output format", "The options -raw and -json cannot be used together.")
	case raw && f.NArg() == 0:
		return f.Refuse("Output name required", "The option -raw shows one output. Write its name: lockstep output -raw NAME. For all outputs, use -json.")
	}
	op, ds := opening.Stored(a, x)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	state := op.State.Current
	switch {
	case f.NArg() == 1 && (state.HasOutputs() || asJSON || raw):
		o, ok := state.Output(f.Arg(0))
		if !ok {
			return a.Show(append(ds, diags.Errorf(nil, fmt.Sprintf("Output %q not found", f.Arg(0)),
				"The state has no output of that name. If it was added to the configuration just now, run \"lockstep apply\" first: until then the state does not have it.")...))
		}
		return a.Show(append(ds, writeOutput(a, f.Arg(0), o.Value, asJSON, raw)...))
	case asJSON:
		data, err := formats.Outputs(state)
		return max(a.WriteJSON(data, err), a.Show(ds))
	case !state.HasOutputs():
		return a.Tell(append(ds, diags.Warningf(nil, "No outputs found",
			"The state has no outputs, or all of them are empty. Outputs come into the state when a configuration that declares them is applied; \"lockstep console\" shows the values of expressions.")...))
	}
	a.Print().Outputs(a.Out, state)
	return a.Tell(ds)
}}

// writeOutput prints the value of one output. It prints sensitive values, too, because the user has asked for
// this output.
func writeOutput(a *cli.App, name string, v cty.Value, asJSON, raw bool) diags.Diagnostics {
	switch {
	case asJSON:
		data, err := ctyjson.Marshal(v, v.Type())
		if err == nil {
			a.Out.Write(append(data, '\n'))
		}
		return diags.FromError("The output cannot be shown", err)
	case raw:
		s, err := convert.Convert(v, cty.String)
		if err != nil || s.IsNull() {
			return diags.Errorf(nil, "Unsupported value for raw output",
				"The -raw option shows strings, numbers and booleans only, and the output %q is of another type or null. Use -json instead, which can show every value.", name)
		}
		io.WriteString(a.Out, s.AsString())
		return nil
	}
	fmt.Fprintln(a.Out, a.Print().Value(v))
	return nil
}
