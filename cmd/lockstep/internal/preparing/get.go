package preparing

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var Get = cli.Command{Name: "get", Synopsis: "Install the modules that the configuration calls", Run: func(a *cli.App, args []string) int {
	var update bool
	var testDir string
	f := a.NewFlags("get", "get [OPTIONS]")
	f.Vars(&cli.VarFlags{})
	f.BoolVar(&update, "update", false, "look for newer versions of installed modules")
	f.StringVar(&testDir, "test-directory", testfiles.DefaultDirectory, "the directory with test files")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	d, ds := a.Dir()
	d.Preparing = !d.HasPrepared() // if init has recorded variables, get uses these, because init has used them for the backend
	_, more := installModules(a, d, testDir, moduleOptions{Upgrade: update, Events: func(e installing.Event) { fmt.Fprintln(a.Out, e) }})
	if d.Preparing && !more.HasErrors() {
		more = append(more, diags.FromError("Variables cannot be recorded", d.RecordPrepared())...)
	}
	return a.Show(append(ds, more...))
}}
