package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

var getCommand = command{name: "get", synopsis: "Install the modules that the configuration calls", run: func(a *app, args []string) int {
	var update bool
	f := a.newFlags("get", "get [OPTIONS]")
	f.BoolVar(&update, "update", false, "look for newer versions of modules that are installed")
	f.String("test-directory", "tests", "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return a.usage("get takes no arguments: use -chdir to work in another directory")
	}
	d, ds := a.dir()
	known, err := d.Installed()
	if ds = append(ds, diags.FromError("Invalid module manifest", err)...); ds.HasErrors() {
		return a.show(ds)
	}
	cfg, more := d.Load()
	if cfg != nil {
		maps.Copy(a.files, cfg.Files)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return a.show(ds)
	}
	for _, m := range cfg.Order[1:] {
		key := strings.Join(m.Addr.Steps(), ".")
		if known != nil && !update {
			if was, ok := known(key); ok && was.Dir == m.Dir {
				continue
			}
		}
		fmt.Fprintf(a.out, "- %s in %s\n", key, m.Dir)
	}
	err = d.WriteModules(cfg)
	return a.show(append(ds, diags.FromError("Modules cannot be recorded", err)...))
}}
