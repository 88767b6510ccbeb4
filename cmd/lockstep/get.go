package main

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
)

var getCommand = command{name: "get", synopsis: "Install the modules that the configuration calls", run: func(a *app, args []string) int {
	var update bool
	f := a.newFlags("get", "get [OPTIONS]")
	f.vars(&varFlags{})
	f.BoolVar(&update, "update", false, "look for newer versions of modules that are installed")
	f.String("test-directory", "tests", "")
	if code, ok := f.parse(args); !ok {
		return code
	}
	if code, ok := f.noArguments(); !ok {
		return code
	}
	d, ds := a.dir()
	_, more := a.installModules(d, update, func(e installing.Event) { fmt.Fprintln(a.out, e) })
	return a.show(append(ds, more...))
}}
