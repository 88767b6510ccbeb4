package main

import "github.com/lockstep-iac/lockstep/functions/run/workdir"

var statePullCommand = command{name: "state pull", synopsis: "Write the state as it is stored to standard output", run: func(a *app, args []string) int {
	f := a.newFlags("state pull", "state pull [OPTIONS]")
	if code, ok := f.parse(args); !ok {
		return code
	}
	d, ds := a.dir()
	if ds.HasErrors() {
		return a.show(ds)
	}
	b, _, ds := d.Backend(a.ctx, nil, workdir.LocalPaths{})
	if ds.HasErrors() {
		return a.show(ds)
	}
	st, ds := workdir.OpenState(b, d.Workspace())
	if !ds.HasErrors() {
		ds = st.Read(a.ctx)
	}
	if ds.HasErrors() {
		return a.show(ds)
	}
	a.out.Write(st.Bytes())
	return 0
}}
