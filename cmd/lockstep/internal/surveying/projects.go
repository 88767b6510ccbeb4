package surveying

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// Projects is the command projects. It lists the projects of the repository.
var Projects = cli.Command{Name: "projects", Synopsis: "List the projects that Lockstep plans in this repository", Run: func(a *cli.App, args []string) int {
	var asJSON bool
	f := a.NewFlags("projects", "projects [OPTIONS]")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	s := look(a)
	if asJSON {
		return max(a.WriteJSON(json.Marshal(listed(s))), a.Show(s.diags))
	}
	if len(s.Projects) > 0 {
		write(a.Out, s)
	}
	return a.Show(s.diags)
}}

// list is the JSON output of the command projects.
type list struct {
	FormatVersion string `json:"format_version"`
	Projects      []item `json:"projects"`
}

type item struct {
	Name      string `json:"name"`
	Dir       string `json:"dir"`
	Workspace string `json:"workspace"`
	// Environment is the project's environment, according to the settings in this checkout. (For a pull
	// request, Lockstep uses those of the base branch.)
	Environment string `json:"environment,omitempty"`
	// Deployment is the name of the deployment that works for the project. It is null if the settings name no
	// deployments. (For a pull request, Lockstep uses the settings of the base branch.)
	Deployment *string `json:"deployment,omitempty"`
	// Apply says when the project is applied, according to lockstep.hcl in this checkout. (For a pull request,
	// Lockstep uses lockstep.hcl of the base branch.)
	Apply       string   `json:"apply"`
	Modules     []string `json:"modules"`      // directories
	WhenChanged []string `json:"when_changed"` // null: the files of dir and modules, and var_files
	VarFiles    []string `json:"var_files"`
	// Variables are the values of variables that the settings contain, for the project's environment and for
	// the project.
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
	// Inputs are the expressions for the values of variables, by variable. They refer to outputs of other
	// projects.
	Inputs  map[string]string `json:"inputs,omitempty"`
	Backend string            `json:"backend"` // "": none
	// State is the address of the state. It is null if the address is not known; then Unknown is the reason.
	State   *string `json:"state"`
	Unknown string  `json:"state_unknown,omitempty"`
}

func listed(s survey) list {
	out := list{FormatVersion: "1.0", Projects: []item{}}
	for _, p := range timed(s.Projects) {
		x := item{
			Name: p.Name, Dir: p.Dir, Workspace: p.Workspace, Environment: p.Environment, Variables: p.Variables, Apply: string(p.Apply),
			Modules: append([]string{}, p.Modules...), WhenChanged: p.WhenChanged, VarFiles: append([]string{}, p.VarFiles...),
			Backend: p.Backend, Unknown: p.Nowhere,
		}
		for _, l := range p.Inputs {
			if x.Inputs == nil {
				x.Inputs = map[string]string{}
			}
			x.Inputs[l.Variable] = l.Expression
		}
		if p.Nowhere == "" {
			at := p.Place.String()
			x.State = &at
		}
		if by, divided := s.deployments[p.Name]; divided {
			x.Deployment = &by
		}
		out.Projects = append(out.Projects, x)
	}
	return out
}

// write prints projects as a table.
func write(w io.Writer, s survey) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	divided := ""
	if s.deployments != nil {
		divided = "DEPLOYMENT\t"
	}
	fmt.Fprintf(t, "NAME\tDIR\tWORKSPACE\tAPPLY\t%sSTATE\n", divided)
	for _, p := range timed(s.Projects) {
		state := p.Place.String()
		if p.Nowhere != "" {
			state = "unknown: " + p.Nowhere
		}
		if divided != "" {
			divided = cmp.Or(s.deployments[p.Name], "-") + "\t"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s%s\n", p.Name, p.Dir, p.Workspace, p.Apply, divided, state)
	}
	t.Flush() // errors of the output are ignored, as elsewhere
}
