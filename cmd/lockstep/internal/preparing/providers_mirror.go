package preparing

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var ProvidersMirror = cli.Command{Name: "providers mirror", Synopsis: "Copy the packages of providers into a mirror", Run: func(a *cli.App, args []string) int {
	o := workdir.MirrorOptions{Events: func(e install.Event) { fmt.Fprintln(a.Out, e) }}
	var platforms cli.ListFlag
	f := a.NewFlags("providers mirror", "providers mirror [OPTIONS] TARGET_DIR")
	f.Vars(&cli.VarFlags{}) // sources of modules may need them
	f.Var(&platforms, "platform", "a platform such as linux_amd64; may be given several times (default: this one)")
	f.BoolVar(&o.Lock, "lock-file", true, "use the versions in the dependency lock file")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.Refuse("No output directory specified", "providers mirror needs one argument: the directory to copy to")
	}
	var ds diags.Diagnostics
	if o.Platforms, ds = parsePlatforms(platforms); ds.HasErrors() {
		return a.Show(ds)
	}
	o.Dir = a.Path(f.Arg(0))
	d, reqs, ds := configured(a)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	return a.Show(append(ds, d.Mirror(a.Ctx, reqs, o)...))
}}
