package main

import (
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var providersMirrorCommand = command{name: "providers mirror", synopsis: "Copy the packages of providers into a mirror", run: func(a *app, args []string) int {
	o := workdir.MirrorOptions{Events: a.installEvents}
	var platforms listFlag
	f := a.newFlags("providers mirror", "providers mirror [OPTIONS] TARGET_DIR")
	f.vars(&varFlags{}) // sources of modules may need them
	f.Var(&platforms, "platform", "a platform such as linux_amd64, instead of this one")
	f.BoolVar(&o.Lock, "lock-file", true, "take the versions that the dependency lock file selects")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.refuse("No output directory specified", "providers mirror needs one argument: the directory to copy to")
	}
	var ds diags.Diagnostics
	if o.Platforms, ds = parsePlatforms(platforms); ds.HasErrors() {
		return a.show(ds)
	}
	o.Dir = a.path(f.Arg(0))
	d, reqs, ds := a.configured()
	if ds.HasErrors() {
		return a.show(ds)
	}
	return a.show(append(ds, d.Mirror(a.ctx, reqs, o)...))
}}
