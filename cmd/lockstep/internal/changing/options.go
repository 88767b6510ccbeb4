package changing

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// options checks the options and returns them in the engine's form.
func (o *operationFlags) options() (engine.PlanOptions, diags.Diagnostics) {
	out := engine.PlanOptions{SkipRefresh: o.refresh.none()}
	var ds, more diags.Diagnostics
	out.Mode, ds = o.mode()
	ds = append(ds, o.checkParallelism()...)
	out.Targets, out.Excludes, more = o.targeting.addresses()
	ds = append(ds, more...)
	for _, s := range o.replace {
		a, err := addrs.ParseAbsResourceInstance(s)
		if err == nil && a.Resource.Resource.Mode != addrs.Managed {
			err = fmt.Errorf("only managed resource instances can be replaced, and %s is not one", a)
		}
		if err == nil {
			err = reserved(s, a.Resource.Resource)
		}
		switch {
		case err != nil:
			ds = append(ds, diags.Errorf(nil, fmt.Sprintf("Invalid force-replace address %q", s), "-replace: %s.", err)...)
		case !slices.Contains(out.ForceReplace, a):
			out.ForceReplace = append(out.ForceReplace, a)
		}
	}
	if out.Invoke, more = o.invoked(); len(more) > 0 {
		ds = append(ds, more...)
	}
	if len(out.ForceReplace) > 0 && out.Mode != plans.NormalMode {
		ds = append(ds, diags.Errorf(nil, "Unsupported plan mode", "The option -replace cannot be used with -destroy or -refresh-only. Remove one of them.")...)
	}
	return out, ds
}

// invoked returns the action of the option -invoke; the zero value without the option.
func (o *operationFlags) invoked() (a addrs.AbsResourceInstance, ds diags.Diagnostics) {
	switch {
	case len(o.invoke) == 0:
		return a, nil
	case len(o.invoke) > 1:
		return a, diags.Errorf(nil, "Invalid arguments", "The option -invoke is given %d times. Give it once: a plan can invoke one action, or all instances of one.", len(o.invoke))
	case o.destroy || o.destroyCommand || o.refreshOnly:
		return a, diags.Errorf(nil, "Incompatible plan mode options", "The options -invoke and -destroy or -refresh-only cannot be used together. Remove one of them.")
	case len(o.targeting.targets)+len(o.targeting.targetFiles)+len(o.targeting.excludes)+len(o.targeting.excludeFiles)+len(o.replace) > 0:
		return a, diags.Errorf(nil, "Incompatible options", "A plan with the option -invoke changes no object, so -target, -exclude and -replace have no meaning beside it. Remove them.")
	}
	a, err := addrs.ParseAction(o.invoke[0])
	if err != nil {
		return a, diags.Errorf(nil, fmt.Sprintf("Invalid target %q", o.invoke[0]), "-invoke: %s.", err)
	}
	return a, nil
}

// checkSaved checks the options that are given together with a saved plan.
func (o *operationFlags) checkSaved(path string) diags.Diagnostics {
	if o.destroyCommand {
		return diags.Errorf(nil, "Destroy can't be called with a plan file",
			"A saved plan already says what to destroy. If you made %s with `lockstep plan -destroy`, run `lockstep apply` with the file.", path)
	}
	options, ds := o.options()
	if len(options.Excludes) > 0 {
		ds = append(ds, diags.Errorf(nil, "Excluding from a saved plan", "Lockstep applies a saved plan unchanged. Make a new plan with -exclude.")...)
	}
	return ds
}

// mode returns the plan's mode that the options select, such as plans.DestroyMode.
func (o *operationFlags) mode() (plans.Mode, diags.Diagnostics) {
	switch {
	case o.destroyCommand && o.refreshOnly:
		return plans.NormalMode, diags.Errorf(nil, "Invalid mode option", "A refresh destroys nothing. Run `lockstep apply -refresh-only` instead.")
	case o.destroy && o.refreshOnly:
		return plans.NormalMode, diags.Errorf(nil, "Incompatible plan mode options", "The options -destroy and -refresh-only cannot be used together. Remove one of them.")
	case o.refreshOnly && o.refresh.none():
		return plans.RefreshOnlyMode, diags.Errorf(nil, "Incompatible refresh options", "The options -refresh-only and -refresh=false cannot be used together. Remove one of them.")
	case o.destroy:
		return plans.DestroyMode, nil
	case o.refreshOnly:
		return plans.RefreshOnlyMode, nil
	}
	return plans.NormalMode, nil
}

// deprecated returns warnings about deprecated options. The configuration should have their values instead.
func (o *operationFlags) deprecated() diags.Diagnostics {
	if o.paths.State == "" {
		return nil
	}
	return diags.Warningf(nil, "Deprecated flag: -state", "Set the attribute `path` of the backend \"local\" instead.")
}

// checkParallelism returns an error for a negative number. 0 means the default, 10.
func (o *operationFlags) checkParallelism() diags.Diagnostics {
	if o.parallelism < 0 {
		return diags.Errorf(nil, "Invalid parallelism value", "The option -parallelism is %d. Give it 1 or more, or leave it out: the default is 10.", o.parallelism)
	}
	return nil
}

// refreshFlag is the option -refresh.
type refreshFlag string

const affected = "affected"

// set reads the value of the option. The option without a value is -refresh=true.
func (r *refreshFlag) set(s string) error {
	if s != affected {
		all, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("use true, false or affected")
		}
		s = strconv.FormatBool(all)
	}
	*r = refreshFlag(s)
	return nil
}

// none reports whether no object is to be read.
func (r refreshFlag) none() bool { return r == "false" }

// dataFlag is the option -refresh-data.
type dataFlag string

func (d *dataFlag) set(s string) error {
	if s != "all" && s != affected {
		return errors.New("use all or affected")
	}
	*d = dataFlag(s)
	return nil
}

// readsAffected reports whether the plan reads only what its changes can affect. In other modes than the normal one, a
// plan reads everything: the warning says so.
func (o *operationFlags) readsAffected(m plans.Mode) (bool, diags.Diagnostics) {
	switch {
	case o.refresh != affected && o.refreshData == affected:
		return false, diags.Warningf(nil, "All data sources are read", "The option -refresh-data=affected has an effect only with -refresh=affected. Add that option.")
	case o.refresh != affected || m == plans.NormalMode && len(o.invoke) == 0:
		return o.refresh == affected, nil
	}
	option := "-invoke"
	if m == plans.DestroyMode {
		option = "-destroy"
	} else if m == plans.RefreshOnlyMode {
		option = "-refresh-only"
	}
	return false, operation.AllRead(option)
}

// operationFlags are the common options of plan, apply, destroy and refresh.
type operationFlags struct {
	vars    cli.VarFlags
	locks   cli.LockFlags
	paths   workdir.LocalPaths
	destroy bool
	// destroyCommand is set if the command is destroy rather than apply.
	destroyCommand bool
	refreshOnly    bool
	refresh        refreshFlag
	refreshData    dataFlag
	targeting      targetFlags
	replace        cli.ListFlag
	invoke         cli.ListFlag
	generate       string // file for blocks that imports lack
	parallelism    int
	input          bool
	json           bool
}

func operationOptions(f *cli.Flags, o *operationFlags) {
	f.Vars(&o.vars)
	f.Locking(&o.locks)
	f.State(&o.paths)
	f.Input(&o.input)
	f.BoolVar(&o.destroy, "destroy", false, "plan to destroy all managed objects")
	f.BoolVar(&o.refreshOnly, "refresh-only", false, "only update the state to match the real objects")
	f.BoolFunc("refresh", "which objects to read before planning: all (true), none (false), or only what the changes can affect (affected)", o.refresh.set)
	f.Func("refresh-data", "with -refresh=affected: affected to also read only the data sources that the changes can affect; the default is all", o.refreshData.set)
	partial(f, &o.targeting)
	f.Var(&o.replace, "replace", "replace this resource instance; may be given several times")
	f.Var(&o.invoke, "invoke", "invoke this action, and change nothing")
	f.IntVar(&o.parallelism, "parallelism", 10, "the number of concurrent provider calls; 0 means 10")
	f.JsonStream(&o.json)
	f.ShowSensitive()
	f.Concise()
	f.CompactWarnings()
}
