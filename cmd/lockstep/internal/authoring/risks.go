package authoring

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/blastradius"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/risks"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var Risks = cli.Command{Name: "risks", Synopsis: "Show what is dangerous in a saved plan", Run: func(a *cli.App, args []string) int {
	var planned, stateful string
	var asJSON bool
	f := a.NewFlags("risks", "risks [OPTIONS]")
	f.StringVar(&planned, "plan", "tfplan", "the saved plan, as \"lockstep plan -out=FILE\" writes it")
	f.StringVar(&stateful, "stateful", "", "patterns of further resource types whose objects keep data, separated by commas, such as acme_ledger,acme_store_*")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 0 {
		return f.Refuse("Too many arguments", "Give the command risks no arguments. If the plan is in another file than tfplan, name that file with -plan=FILE.")
	}
	plan, op, ds := openSaved(a, planned)
	defer op.Close()
	if ds.HasErrors() {
		return a.Show(ds)
	}
	patterns := strings.FieldsFunc(stateful, func(r rune) bool { return r == ',' })
	found := risks.Find(risks.Input{Plan: plan, Config: op.Config, Stateful: func(kind string) bool { return requirements.IsStateful(patterns, kind) }})
	dependents := blastradius.Of(plan).Objects
	if asJSON {
		data, err := json.MarshalIndent(risksData(found, dependents), "", "  ")
		return a.WriteJSON(data, err)
	}
	fmt.Fprint(a.Out, risksText(found, dependents))
	return 0
}}

// openSaved opens the saved plan in a file. The caller must close the operation, also after an error.
func openSaved(a *cli.App, name string) (*plans.Plan, *opening.Operation, diags.Diagnostics) {
	path := a.Path(name)
	if _, err := os.Stat(path); err != nil {
		return nil, opening.New(a), diags.Errorf(nil, "No saved plan", "%s cannot be read. Save a plan first: \"lockstep plan -out=tfplan\". If the plan is in another file, name that file with -plan=FILE.", name)
	}
	return opening.OpenPlan(a, path, cli.LockFlags{}, workdir.LocalPaths{}, "")
}

// risksText returns risks for people, one a line.
func risksText(found []risks.Risk, dependents int) string {
	var b strings.Builder
	width := 0
	for _, n := range risks.Names {
		width = max(width, len(n))
	}
	for _, r := range found {
		fmt.Fprintf(&b, "%-*s  %s: %s\n", width, r.Name, r.Object, cli.Plain(r.Text))
	}
	if len(found) == 0 {
		b.WriteString("Lockstep finds no risk in this plan. Read the plan nevertheless: Lockstep does not know all types of resources.\n")
	}
	switch dependents {
	case 0:
	case 1:
		b.WriteString("1 other object depends on what changes.\n")
	default:
		fmt.Fprintf(&b, "%d other objects depend on what changes.\n", dependents)
	}
	return b.String()
}

// A riskData is a risk in JSON, as policies see it.
type riskData struct {
	Name    risks.Name `json:"name"`
	Address string     `json:"address"`
	Text    string     `json:"text"`
	May     bool       `json:"may"`
}

// risksData returns risks in JSON.
func risksData(found []risks.Risk, dependents int) any {
	list := slices.Grow([]riskData{}, len(found))
	for _, r := range found {
		list = append(list, riskData{r.Name, r.Object.String(), r.Text, r.May})
	}
	return map[string]any{"risks": list, "dependents": dependents}
}
