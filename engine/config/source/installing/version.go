package installing

import (
	"errors"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// constraints returns the version constraints of a call.
func constraints(w loading.Wanted) (constraint.Set, diags.Diagnostics) {
	var all constraint.Set
	for _, c := range w.Call.Version {
		set, err := constraint.Parse(strings.TrimSpace(c.Text))
		if err != nil {
			return all, diags.Errorf(&c.Range, "Invalid version constraint", "The version constraint of module %q is not valid: %s.", w.Call.Name, err)
		}
		all = all.And(set)
	}
	return all, nil
}

// selectVersion returns the newest version of a registry module that a call allows. A pre-release is allowed
// only by a constraint for exactly that version.
func (run *installation) selectVersion(w loading.Wanted) (constraint.Version, diags.Diagnostics) {
	set, ds := constraints(w)
	if ds.HasErrors() {
		return constraint.Version{}, ds
	}
	have, err := run.Registry.Versions(run.ctx, w.Address.Package)
	switch {
	case errors.Is(err, errNoSuchModule):
		return constraint.Version{}, diags.Errorf(&w.Call.SourceRange, "Module not found",
			"Module %q comes from %s, and the registry there has no such module. Check the address; for a directory beside this one it must begin with ./ or ../.", w.Call.Name, w.Address.Package)
	case err != nil:
		return constraint.Version{}, diags.Errorf(&w.Call.SourceRange, "Error accessing remote module registry",
			"The versions of module %q (%s) cannot be had: %s.", w.Call.Name, w.Address.Package, err)
	case len(have) == 0:
		return constraint.Version{}, diags.Errorf(&w.Call.SourceRange, "Module has no versions",
			"Module %q comes from %s, of which the registry has no version yet.", w.Call.Name, w.Address.Package)
	}
	v, ok := set.Newest(have)
	if !ok {
		return v, unresolvable(w, set, have)
	}
	return v, nil
}

func unresolvable(w loading.Wanted, set constraint.Set, have []constraint.Version) diags.Diagnostics {
	at := &w.Call.SourceRange
	if len(w.Call.Version) > 0 {
		at = &w.Call.Version[0].Range
	}
	newest, ok := constraint.Set{}.Newest(have)
	if !ok {
		newest = slices.MaxFunc(have, constraint.Compare)
		return diags.Errorf(at, "Unresolvable module version constraint",
			"%s has pre-releases only, the newest of which is %s, and a pre-release is taken only if the constraint asks for exactly that one.", w.Address.Package, newest)
	}
	return diags.Errorf(at, "Unresolvable module version constraint",
		"No version of %s meets the constraint %q of module %q. The newest is %s.", w.Address.Package, set, w.Call.Name, newest)
}

// locate asks a registry for the source address of a version.
func (run *installation) locate(w loading.Wanted, v constraint.Version) (source.Address, diags.Diagnostics) {
	text, err := run.Registry.Location(run.ctx, w.Address.Package, v)
	if err != nil {
		return source.Address{}, diags.Errorf(&w.Call.SourceRange, "Failed to download module",
			"Could not download module: the registry has no address for version %s of module %q (%s): %s.", v, w.Call.Name, w.Address.Package, err)
	}
	a, err := source.Parse(text)
	if err == nil && a.Kind != source.Remote {
		err = errors.New("it is not the address of something to fetch")
	}
	if err != nil {
		return a, diags.Errorf(&w.Call.SourceRange, "Invalid package location from module registry",
			"The registry's address for version %s of %s is %q, which is invalid: %s.", v, w.Address.Package, source.Redact(text), err)
	}
	return a, nil
}
