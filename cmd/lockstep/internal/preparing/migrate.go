package preparing

import (
	"context"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A migration copies the states of all workspaces from one backend to another.
type migration struct {
	a         *cli.App
	from, to  statebackend.Backend
	old, want *workdir.Settings
	o         *initFlags
	v         cli.View
}

// run finds the states to copy, asks the user, and copies them.
func (m *migration) run() diags.Diagnostics {
	names, err := m.from.Workspaces(m.a.Ctx)
	if err != nil {
		return m.unreadable(diags.FromError("", err))
	}
	var found []string
	for _, name := range names {
		_, _, needed, ds := m.open(name)
		if ds.HasErrors() {
			return ds
		}
		if needed {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	if wanted, ds := m.wanted(found); !wanted || ds.HasErrors() {
		return ds
	}
	for _, name := range found {
		if ds := m.copy(name); ds.HasErrors() {
			return ds
		}
		m.v.Say("Copied the state of the workspace %q.\n", name)
	}
	return nil
}

// unreadable adds advice to ds, the errors from reading the old backend.
func (m *migration) unreadable(ds diags.Diagnostics) diags.Diagnostics {
	return diags.Errorf(nil, "The former backend cannot be read",
		"Lockstep cannot read the former backend (%q), from which it must copy the states:\n\n%s\n\nMake the former backend accessible again. To leave the states where they are, run \"lockstep init -reconfigure\".", m.old.Name(), ds.Error())
}

// open reads the states of a workspace: src in the old backend, dst in the new one. needed reports whether src
// must be copied.
func (m *migration) open(name string) (src, dst *workdir.State, needed bool, ds diags.Diagnostics) {
	if src, ds = workdir.OpenState(m.from, name); ds.HasErrors() {
		return nil, nil, false, ds
	}
	if ds = src.Read(m.a.Ctx); ds.HasErrors() {
		return nil, nil, false, m.unreadable(ds)
	}
	if dst, ds = workdir.OpenState(m.to, name); ds.HasErrors() {
		return nil, nil, false, ds
	}
	if ds = dst.Read(m.a.Ctx); ds.HasErrors() {
		return nil, nil, false, ds
	}
	needed, ds = differs(name, src, dst)
	return src, dst, needed, ds
}

// differs reports whether the state src must be copied to dst. If dst is a different state (with another
// lineage), that is an error.
func differs(name string, src, dst *workdir.State) (bool, diags.Diagnostics) {
	switch {
	case !src.Exists() || src.Current.IsEmpty():
		return false, nil
	case !dst.Exists() || dst.Current.IsEmpty():
		return true, nil
	case dst.Current.Lineage != src.Current.Lineage:
		return false, diags.Errorf(nil, "Both backends have a state",
			"The workspace %q has a state in the former backend and another one in the new backend. To keep the state in the new backend, run \"lockstep init -reconfigure\". Otherwise remove one of the two first.", name)
	}
	return dst.Current.Serial < src.Current.Serial, nil
}

// wanted asks the user whether to copy the states, unless an option has decided it. It reports the answer.
func (m *migration) wanted(names []string) (bool, diags.Diagnostics) {
	if m.o.forceCopy {
		return true, nil
	}
	refused := diags.Errorf(nil, "Backend configuration changed",
		"The former backend (%q) has the states of the workspaces %s. To copy them to the new backend, run \"lockstep init -migrate-state\" (with -force-copy to skip the question). To leave them where they are, run \"lockstep init -reconfigure\".", m.old.Name(), strings.Join(names, ", "))
	if !m.a.MayAsk(m.o.input) {
		return false, refused
	}
	m.v.Say("\nDo you want to copy existing state to the new backend?\n  The former backend (%q) has the states of these workspaces: %s.\n  Enter \"yes\" to copy them and \"no\" to start with the states of the new backend (%q).\n\n  Enter a value: ",
		m.old.Name(), strings.Join(names, ", "), m.want.Name())
	line, err := m.a.ReadLine()
	m.v.Say("\n")
	if err != nil {
		return false, refused
	}
	switch strings.TrimSpace(line) {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	return false, diags.Errorf(nil, "Neither yes nor no", "Nothing was changed, because the answer was neither \"yes\" nor \"no\".")
}

// copy copies the state of one workspace, with its lineage and serial, while both backends lock it. Afterwards,
// copy empties a local state file, so that nobody mistakes it for the present state. The file's backup has the
// content.
func (m *migration) copy(name string) (ds diags.Diagnostics) {
	src, ds := workdir.OpenState(m.from, name)
	if ds.HasErrors() {
		return ds
	}
	dst, ds := workdir.OpenState(m.to, name)
	if ds.HasErrors() {
		return ds
	}
	src.Language, dst.Language = m.a.Language(), m.a.Language()
	ctx := context.WithoutCancel(m.a.Ctx)
	for _, s := range []*workdir.State{src, dst} {
		if !m.o.locks.Lock {
			continue
		}
		if ds := s.Lock(m.a.Ctx, workdir.Locking{Info: statebackend.NewLockInfo("backend change", m.a.Language().Release()), Timeout: m.o.locks.Timeout}); ds.HasErrors() {
			return ds
		}
		defer func() { ds = append(ds, s.Unlock(ctx)...) }()
	}
	for _, s := range []*workdir.State{src, dst} {
		if ds = s.Read(m.a.Ctx); ds.HasErrors() {
			return ds
		}
	}
	if needed, ds := differs(name, src, dst); !needed || ds.HasErrors() {
		return ds
	}
	if err := dst.Replace(ctx, src.Current); err != nil {
		return diags.FromError("Error copying the state", err)
	}
	if m.old.Name() == "local" && m.want.Name() != "local" {
		if err := src.Write(ctx, states.Empty()); err != nil {
			return diags.Warningf(nil, "The former state was not emptied", "Lockstep copied the state of the workspace %q, but could not remove the old copy (%s). Remove it, so that nobody uses it by mistake.", name, err)
		}
	}
	return nil
}
