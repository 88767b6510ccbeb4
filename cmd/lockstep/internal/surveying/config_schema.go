package surveying

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// ConfigSchema is the command config schema. It prints the JSON Schema of lockstep.hcl, for editors and
// linters.
var ConfigSchema = cli.Command{Name: "config schema", Synopsis: "Print the JSON Schema of lockstep.hcl", Run: func(a *cli.App, args []string) int {
	f := a.NewFlags("config schema", "config schema")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	return a.WriteJSON(grammar.Schema(), nil)
}}
