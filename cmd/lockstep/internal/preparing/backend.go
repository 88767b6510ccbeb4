package preparing

import (
	"os"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// initBackend compares the backend block with the backend that the last init recorded. If they differ, it
// copies the states to the new backend (not with -reconfigure), and records the new backend.
func initBackend(a *cli.App, d *workdir.Dir, cfg *config.Config, o *initFlags, v cli.View) diags.Diagnostics {
	want, ds := wantedBackend(a, cfg.Root.Backend, o.backendConfig)
	if ds.HasErrors() {
		return ds
	}
	old, err := d.Recorded()
	if err != nil && !o.reconfigure {
		return append(ds, diags.FromError("Backend record is damaged", err)...)
	}
	if want.Same(old) || !o.reconfigure && len(o.backendConfig) == 0 && want.Follows(old) {
		return ds
	}
	if old != nil && !o.decidesStates() {
		return append(ds, backendChanged(old, want, a.MayAsk(o.input))...)
	}
	to, more := openReachable(a, d, cfg, want)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	if !o.reconfigure {
		from, more := d.OpenBackend(a.Ctx, cfg, old, workdir.LocalPaths{})
		if ds = append(ds, more...); ds.HasErrors() {
			return ds
		}
		m := migration{a: a, from: from, to: to, old: old, want: want, o: o, v: v}
		if ds = append(ds, m.run()...); ds.HasErrors() {
			return ds
		}
	}
	if err := d.Remember(want); err != nil {
		return append(ds, diags.FromError("Backend cannot be recorded", err)...)
	}
	sayBackend(v, old, want)
	return ds
}

// decidesStates reports whether an option says what happens to the states in the old backend.
func (o *initFlags) decidesStates() bool { return o.reconfigure || o.migrate || o.forceCopy }

// openReachable opens a backend before it is recorded. That checks its attributes, and that states can be read.
func openReachable(a *cli.App, d *workdir.Dir, cfg *config.Config, want *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
	b, ds := d.OpenBackend(a.Ctx, cfg, want, workdir.LocalPaths{})
	if ds.HasErrors() {
		return nil, ds
	}
	if more := reachable(a, b, d.Workspace()); more.HasErrors() {
		return nil, append(ds, more...)
	}
	return b, ds
}

// wantedBackend returns the backend settings that init should record: those of the backend block, with the
// additions of -backend-config.
func wantedBackend(a *cli.App, b *config.Backend, given []string) (*workdir.Settings, diags.Diagnostics) {
	var overrides map[string]any
	var ds diags.Diagnostics
	if b == nil && len(given) > 0 {
		ds = diags.Warningf(nil, "Missing backend configuration", missingBackend)
	} else if overrides, ds = backendOverrides(a, given); ds.HasErrors() {
		return nil, ds
	}
	want, more := workdir.Configured(b, overrides)
	return want, append(ds, more...)
}

// backendChanged returns an error that init reports if the configured backend is another than before. The error
// asks for the option that decides what happens to the states in the old backend.
func backendChanged(old, want *workdir.Settings, mayAsk bool) diags.Diagnostics {
	const summary = "Backend configuration changed"
	if !mayAsk {
		return diags.Errorf(nil, summary,
			"The backend is %q, but the directory was initialized with %q. To copy the states to the new backend, run \"lockstep init -migrate-state\" (with -force-copy to skip the question). To leave the states where they are, run \"lockstep init -reconfigure\".", want.Name(), old.Name())
	}
	return diags.Errorf(nil, summary,
		"The directory was initialized with another backend (%q). To copy the states from there, run \"lockstep init -migrate-state\" (with -force-copy to skip the question). To leave the states where they are, run \"lockstep init -reconfigure\".", old.Name())
}

// sayBackend tells the user which backend is used from now on.
func sayBackend(v cli.View, old, want *workdir.Settings) {
	if want != nil {
		v.Say("\nSuccessfully configured the backend %q! Lockstep will automatically\nuse this backend unless the backend configuration changes.\n", want.Type)
	} else if old != nil {
		v.Say("\nSuccessfully unset the backend %q. States are kept in this directory from now on.\n", old.Type)
	}
}

const missingBackend = "The configuration has no \"backend\" block, so -backend-config has no effect: the state stays in this directory. Remove the option, or add a block for your backend, such as:\n\nterraform {\n  backend \"s3\" {}\n}"

// backendOverrides parses the values of -backend-config: assignments, and names of files with assignments. An
// empty value removes all overrides that an earlier init recorded.
func backendOverrides(a *cli.App, given []string) (map[string]any, diags.Diagnostics) {
	out := map[string]any{}
	var ds diags.Diagnostics
	for _, g := range given {
		if g == "" {
			continue
		}
		if name, value, ok := strings.Cut(g, "="); ok && !strings.ContainsAny(name, "/\\.") {
			v, more := backendValue(name, value)
			ds = append(ds, more...)
			out[name] = v
			continue
		}
		src, err := os.ReadFile(a.Path(g))
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Failed to read file", "The file %s given with -backend-config cannot be read: %s.", g, cli.Reason(err))...)
			continue
		}
		values, more := workdir.ParseAttributes(g, src)
		ds = append(ds, more...)
		for k, x := range values {
			out[k] = x
		}
	}
	return out, ds
}

// backendValue parses a value from the command line: an HCL expression for lists and maps, else text.
func backendValue(name, s string) (any, diags.Diagnostics) {
	if text := strings.TrimSpace(s); strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		values, ds := workdir.ParseAttributes("<value of -backend-config="+name+">", []byte(name+" = "+text))
		return values[name], ds
	}
	return s, nil
}
