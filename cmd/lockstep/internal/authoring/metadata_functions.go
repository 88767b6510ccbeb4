package authoring

import (
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

var MetadataFunctions = cli.Command{Name: "metadata functions", Synopsis: "Show the signatures of the built-in functions", Run: func(a *cli.App, args []string) int {
	var asJSON bool
	f := a.NewFlags("metadata functions", "metadata functions -json")
	f.BoolVar(&asJSON, "json", false, "print JSON; required")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if !asJSON { // arguments are looked over, as by Terraform
		return f.Refuse("Missing option", "Run `lockstep metadata functions -json`.")
	}
	return a.WriteJSON(formats.Functions(signatures()))
}}

// signatures returns the signatures of the built-in functions in the form of provider functions.
func signatures() map[string]*schema.Function {
	parameter := func(p function.Parameter) schema.Parameter {
		return schema.Parameter{Name: p.Name, Type: p.Type, AllowNull: p.AllowNull}
	}
	out := map[string]*schema.Function{}
	for name, s := range funcs.Signatures() {
		x := &schema.Function{Description: s.Description, Return: s.Return}
		for _, p := range s.Params {
			x.Parameters = append(x.Parameters, parameter(p))
		}
		if s.Variadic != nil {
			v := parameter(*s.Variadic)
			x.Variadic = &v
		}
		out[name] = x
	}
	return out
}
