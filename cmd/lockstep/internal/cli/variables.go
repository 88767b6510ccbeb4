package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// AskVariables asks the user, or the program that runs lockstep, for the values of root variables without a
// value. It asks nothing if the parameter input or TF_INPUT forbids it. A variable without an answer stays
// without a value.
func (a *App) AskVariables(root *config.Content, sources []inputs.Source, input bool) ([]inputs.Source, diags.Diagnostics) {
	if !a.MayAsk(input) {
		return sources, nil
	}
	unset := inputs.Unset(root, sources)
	if len(unset) == 0 {
		return sources, nil
	}
	typed := inputs.Source{Origin: inputs.FromPrompt, Literals: map[string]string{}}
	for _, v := range unset {
		line, err := a.askVariable(v)
		fmt.Fprintln(a.Out)
		switch {
		case errors.Is(err, io.EOF):
			continue
		case err != nil:
			return sources, diags.Errorf(&v.Range, "No value for required variable",
				"The variable %q has no value, and you gave none (%s). Set it with -var or -var-file, the environment variable TF_VAR_%s or a .tfvars file.", v.Name, err, v.Name)
		}
		typed.Literals[v.Name] = line
	}
	return append(sources, typed), nil
}

// askVariable asks for a variable's value.
func (a *App) askVariable(v *config.Variable) (string, error) {
	fmt.Fprintf(a.Out, "%s\n", a.Print().Bold("var."+v.Name))
	if text := strings.TrimSpace(v.Description); text != "" {
		fmt.Fprintf(a.Out, "  %s\n\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	fmt.Fprintf(a.Out, "  %s ", a.Print().Bold("Enter a value:"))
	if v.Sensitive {
		return a.ReadSecret()
	}
	return a.ReadLine()
}

// VarFlags are the options -var and -var-file, in the order of the command line.
type VarFlags struct {
	given []varFlag
	Ask   bool // for missing values
}

type varFlag struct {
	file bool
	text string
}

type varOption struct {
	to   *VarFlags
	file bool
}

func (o varOption) String() string { return "" }

func (o varOption) Set(s string) error {
	o.to.given = append(o.to.given, varFlag{o.file, s})
	return nil
}

func (f *Flags) Vars(v *VarFlags) {
	f.App.Vars = v
	f.Var(varOption{v, false}, "var", "set a variable: -var 'name=value'")
	f.Var(varOption{v, true}, "var-file", "set variables from a file")
}

// Sources returns the sources of variable values, least important first. more are additional directories,
// relative to the working directory, whose variable files are also sources.
func (a *App) Sources(d *workdir.Dir, given VarFlags, more ...string) ([]inputs.Source, diags.Diagnostics) {
	sources := []inputs.Source{inputs.Environment(a.Environ)}
	if !d.Preparing {
		sources = append([]inputs.Source{d.Prepared()}, sources...)
	}
	var ds diags.Diagnostics
	file := func(origin inputs.Origin, name, path string) {
		src, err := os.ReadFile(path)
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Failed to read variables file", "Given variables file %s cannot be read: %s.", name, Reason(err))...)
			return
		}
		s, more := inputs.File(origin, name, src)
		if s.File != nil {
			a.Files[name] = s.File
		}
		ds = append(ds, more...)
		sources = append(sources, s)
	}
	for _, dir := range append([]string{"."}, more...) {
		entries, _ := os.ReadDir(filepath.Join(d.Path, dir))
		for _, fixed := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
			if _, err := os.Stat(filepath.Join(d.Path, dir, fixed)); err == nil {
				file(inputs.FromAutoFile, filepath.Join(dir, fixed), filepath.Join(d.Path, dir, fixed))
			}
		}
		for _, e := range entries { // sorted by name
			if n := e.Name(); strings.HasSuffix(n, ".auto.tfvars") || strings.HasSuffix(n, ".auto.tfvars.json") {
				file(inputs.FromAutoFile, filepath.Join(dir, n), filepath.Join(d.Path, dir, n))
			}
		}
	}
	for _, g := range given.given {
		if g.file {
			file(inputs.FromNamedFile, g.text, a.Path(g.text))
			continue
		}
		s, more := inputs.Option(g.text)
		ds = append(ds, more...)
		sources = append(sources, s)
	}
	return sources, ds
}
