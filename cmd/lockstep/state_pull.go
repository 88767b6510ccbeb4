package main

import "io"

var statePullCommand = command{name: "state pull", synopsis: "Write the state as it is stored to standard output", run: func(a *app, args []string) int {
	f := a.newFlags("state pull", "state pull [OPTIONS]")
	f.vars(&varFlags{}) // the backend may need them
	if code, ok := f.parse(args); !ok {
		return code
	}
	op, ds := a.stored(access{})
	if ds.HasErrors() {
		return a.show(ds)
	}
	a.out.Write(op.state.Bytes())
	io.WriteString(a.out, "\n") // behind the file's last line, as the stock tool has it
	return a.show(ds)
}}
