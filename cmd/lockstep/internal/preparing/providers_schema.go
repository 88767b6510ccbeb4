package preparing

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var ProvidersSchema = cli.Command{Name: "providers schema", Synopsis: "Show the schemas of all providers in use", Run: func(a *cli.App, args []string) int {
	var asJSON bool
	f := a.NewFlags("providers schema", "providers schema -json")
	f.Vars(&cli.VarFlags{}) // the backend may need them
	f.BoolVar(&asJSON, "json", false, "print JSON; required")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if !asJSON {
		return a.Usage("run `lockstep providers schema -json`", "providers schema needs the option -json")
	}
	op := opening.New(a)
	defer op.Close()
	ds := op.OpenAll(workdir.LocalPaths{})
	if ds.HasErrors() {
		return a.Show(ds)
	}
	schemas := map[addrs.Provider]*schema.Provider{}
	used := cfgAndState(op)
	for p := range used {
		s, more := op.Providers.Schema(a.Ctx, p)
		ds = append(ds, more...)
		schemas[p] = s
	}
	if ds.HasErrors() {
		return a.Show(ds)
	}
	data, err := formats.ProviderSchemas(schemas)
	return max(a.WriteJSON(data, err), a.Show(ds))
}}

// cfgAndState returns the providers that the configuration or the state uses.
func cfgAndState(o *opening.Operation) map[addrs.Provider]bool {
	used := map[addrs.Provider]bool{}
	for p := range o.Config.ProviderRequirements() {
		used[p] = true
	}
	for _, p := range inState(o.State.Current) {
		used[p] = true
	}
	return used
}
