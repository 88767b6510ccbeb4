package opening

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// SavePlan writes a plan to a file, together with its configuration.
func (o *Operation) SavePlan(p *plans.Plan, path string) diags.Diagnostics {
	f := o.PlanFile(o.App.Version, p)
	f.Modules = moduleSources(o.Config)
	manifest, err := o.Config.Manifest().Encode()
	if err != nil {
		return diags.FromError("The plan cannot be saved", fmt.Errorf("%w; nothing was written", err))
	}
	f.Manifest = manifest
	if lock, err := os.ReadFile(o.Dir.LockFile()); err == nil {
		f.Lock = lock
	}
	set, ds := o.Dir.Encryption(o.Config)
	if ds.HasErrors() {
		return ds
	}
	var seal planfile.Seal
	if c := set.Plan(); c != nil {
		seal = func(plan []byte) ([]byte, error) { return c.EncryptPlan(o.App.Ctx, plan) }
	}
	if err := planfile.Write(path, f, seal); err != nil {
		return append(ds, diags.FromError("The plan cannot be saved", fmt.Errorf("%w; nothing was written", err))...)
	}
	return ds
}

// decrypt returns the decrypted content of a saved plan. The configuration in the working directory says how
// plans are encrypted, because the configuration in the plan is encrypted, too. If the plan is not encrypted,
// the directory needs no configuration.
func (o *Operation) decrypt(src []byte) ([]byte, diags.Diagnostics) {
	cfg, ds := o.Dir.Load()
	if cfg == nil || cfg.Root.Broken {
		if encryption.IsEncrypted(src) {
			return nil, ds
		}
		cfg = nil
	}
	return o.Dir.DecryptPlan(o.App.Ctx, cfg, src)
}

// OpenPlan reads a saved plan, and opens its configuration and providers. If lockName is not "", it also opens
// the state, as [Operation.OpenSelected] does.
func OpenPlan(a *cli.App, path string, locks cli.LockFlags, paths workdir.LocalPaths, lockName string) (*plans.Plan, *Operation, diags.Diagnostics) {
	op := New(a)
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, op, diags.Errorf(nil, fmt.Sprintf("Failed to load %q as a plan file", path), "%s cannot be read: %s.", path, cli.Reason(err))
	}
	var ds, more diags.Diagnostics
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return nil, op, ds
	}
	op.Prestart()
	src, more = op.decrypt(src)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, op, ds
	}
	file, err := planfile.Decode(src, planfile.Options{Engine: a.Version})
	if err != nil {
		return nil, op, append(ds, diags.Errorf(nil, fmt.Sprintf("Failed to load %q as a plan file", path), "The file %s cannot be used: %s.", path, err)...)
	}
	op.Dir.Given = file.Plan.Variables
	installed, more := op.installedFor(file)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, op, ds
	}
	more = op.LoadPlanned(file, installed, early.Input{
		Workspace: file.Plan.Backend.Workspace, WorkingDir: op.Dir.WorkingDir(), BaseDir: op.Dir.Path, Files: funcs.OSFiles{},
	})
	if op.Config != nil {
		maps.Copy(a.Files, op.Config.Files)
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, op, ds
	}
	if ds = append(ds, sameModules(file.Modules, op.Config)...); ds.HasErrors() {
		return nil, op, ds
	}
	if lockName == "" {
		return file.Plan, op, append(ds, op.openPlanProviders(file.Plan)...)
	}
	op.Planned = operation.PlanID(src)
	if op.planned, more = plannedSettings(file.Plan.Backend); more.HasErrors() {
		return nil, op, append(ds, more...)
	}
	if ds = append(ds, op.OpenSelected(paths, locks, lockName)...); ds.HasErrors() {
		return nil, op, ds
	}
	if more := op.isFor(file.Plan.Backend); more.HasErrors() {
		return nil, op, append(append(ds, more...), op.Unlock(a.Ctx)...)
	}
	if ds = append(ds, op.RequireProviders()...); ds.HasErrors() {
		return nil, op, append(ds, op.Unlock(a.Ctx)...)
	}
	if err := op.Providers.SameAs(file.Providers); err != nil {
		ds = append(ds, diags.Errorf(nil, "Inconsistent dependency lock file",
			"A saved plan needs the same providers with which it was made, but %s. Make a new plan.", err)...)
		return nil, op, append(ds, op.Unlock(a.Ctx)...)
	}
	op.fillSchemas(file.Plan)
	return file.Plan, op, ds
}

// installedFor returns a function that finds the modules that a saved plan uses. A plan that the pipeline made
// does not list its modules. For such a plan, the function uses the list that init wrote in the working
// directory.
func (o *Operation) installedFor(f *planfile.File) (func(string) (source.Installed, bool), diags.Diagnostics) {
	if f.Manifest == nil {
		installed, err := o.Dir.Installed()
		return installed, diags.FromError("Invalid module manifest", err)
	}
	manifest, err := source.ParseManifest(f.Manifest)
	if err != nil {
		return nil, diags.Errorf(nil, "Saved plan is damaged", "The list of its modules cannot be read: %s. Make a new plan.", err)
	}
	return manifest.Lookup(), nil
}

// moduleSources returns the sources of a configuration's modules, by the keys of their calls.
func moduleSources(cfg *config.Config) map[string]string {
	sources := map[string]string{}
	for _, x := range cfg.Manifest().Modules {
		if x.Key != "" {
			sources[x.Key] = x.Source
		}
	}
	return sources
}

// sameModules returns an error if a module call now has another source than when the plan was made. A source
// can change without a change of the configuration, because it may be computed, for instance from a file. The
// installed version of a module does not matter, because the plan contains the files of all modules.
func sameModules(planned map[string]string, cfg *config.Config) diags.Diagnostics {
	var ds diags.Diagnostics
	now := moduleSources(cfg)
	for _, key := range slices.Sorted(maps.Keys(planned)) {
		if was, is := planned[key], now[key]; was != is {
			ds = append(ds, diags.Errorf(nil, "Saved plan is for other modules",
				"The plan was made with the module %q from %s, but the module now comes from %s. Make a new plan.", key, source.Redact(was), source.Redact(cmp.Or(is, "nothing")))...)
		}
	}
	return ds
}

// openPlanProviders opens the providers that showing a plan needs, including those of the state in it.
func (o *Operation) openPlanProviders(p *plans.Plan) diags.Diagnostics {
	if ds := o.RequireProvidersOf(p.PrevRunState); ds.HasErrors() {
		return ds
	}
	o.fillSchemas(p)
	return nil
}

// fillSchemas sets the schemas of the changes in p, because plan files contain no schemas.
func (o *Operation) fillSchemas(p *plans.Plan) {
	known := map[addrs.Provider]*schema.Provider{}
	of := func(from addrs.Provider, r addrs.Resource) *schema.Schema {
		ps, ok := known[from]
		if !ok {
			if s, ds := o.Providers.Schema(context.WithoutCancel(o.App.Ctx), from); !ds.HasErrors() {
				ps = s
			}
			known[from] = ps
		}
		if ps == nil {
			return nil
		}
		return ps.Resource(r.Mode.String(), r.Type)
	}
	for _, list := range [][]*plans.ResourceChange{p.Changes, p.Drift} {
		for _, c := range list {
			c.Schema = cmp.Or(of(c.Provider.Provider, c.Addr.Instance.Resource.Resource), c.Schema)
		}
	}
	for _, x := range p.Invocations {
		x.Schema = cmp.Or(of(x.Provider.Provider, x.Addr.Resource.Resource), x.Schema)
	}
}

// VariablesFor sets the variables for an apply. Their values are those in the plan. A plan does not contain
// ephemeral variables, so these get values from the usual sources, such as options. VariablesFor returns an
// error if an option gives a variable another value than the plan does.
func (o *Operation) VariablesFor(p *plans.Plan, given cli.VarFlags) diags.Diagnostics {
	planned, ds := engine.PlannedVariables(o.Config, p)
	o.Variables, o.Given = planned, p.Variables
	if ds.HasErrors() {
		return ds
	}
	sources, more := o.App.Sources(o.Dir, given)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	now, more := inputs.ForApply(o.Config.Root.Content, sources, inputs.Planned{Given: p.Variables, Ephemeral: p.EphemeralVariables})
	maps.Copy(o.Variables, now)
	return append(ds, more...)
}

// Continuing returns a sentence that says how much of the plan an earlier apply has done; "" if no apply of
// this plan was begun.
func (o *Operation) Continuing(p *plans.Plan) string {
	if o.Begun == nil {
		return ""
	}
	return fmt.Sprintf("Continuing the apply of this plan: %d of %d changes are made.", o.Begun.Done, operation.Actions(p))
}

// Stale returns an error if the state has changed since the plan was made. Changes by an apply of the same plan
// do not count.
func (o *Operation) Stale(p *plans.Plan) diags.Diagnostics {
	if o.Begun != nil {
		return nil
	}
	was, is := p.PrevRunState, o.State.Current
	why := ""
	switch {
	case was.Lineage == "" && !o.State.Exists():
		return nil
	case was.Lineage == "" && is.Lineage != "":
		why = "there was no state when it was made, but now there is one"
	case was.Lineage != is.Lineage && is.Lineage == "":
		why = "the state from which it was made no longer exists"
	case was.Lineage != is.Lineage:
		why = "it was made from another state"
	case was.Serial != is.Serial:
		why = fmt.Sprintf("the state has changed since then, from serial %d to serial %d", was.Serial, is.Serial)
	default:
		return nil
	}
	return diags.Errorf(nil, "Saved plan is stale",
		"The given plan can no longer be applied, because %s. Make a new plan, check it, and apply it.", why)
}
