package inputs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Planned describes the root variables of a plan.
type Planned struct {
	Given     map[string]cty.Value // before conversion; without ephemeral ones
	Ephemeral []string             // the names of the ephemeral ones that were set
}

// ForApply returns the values of the ephemeral variables for the apply of a plan, which does not store them.
// A variable that was set for the plan must be set again; others have their defaults.
//
// The values in the plan can no longer be changed. If an option now gives another value, that is an error; if
// the environment does, a warning. A file that is always read causes no message, since an option may have
// overridden it for the plan.
func ForApply(root *config.Content, sources []Source, planned Planned) (map[string]cty.Value, diags.Diagnostics) {
	given, ds := givenValues(root, sources)
	out := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		v := root.Variables[name]
		g, set := given[name]
		was, kept := planned.Given[name]
		switch {
		case v.Ephemeral:
			more := g.checkEphemeral(v, set, slices.Contains(planned.Ephemeral, name))
			x := g.input(v)
			ds = append(append(ds, more...), x.Problem...)
			out[name] = x.Value
		case set && kept && !g.bad && g.origin != FromAutoFile && !was.RawEquals(g.value):
			ds = append(ds, g.changed(v)...)
		}
	}
	return out, ds
}

// checkEphemeral returns an error if an ephemeral variable was set for the plan and is not set for the apply,
// or the other way round. set is true if it is set for the apply, planned if it was set for the plan.
func (g givenValue) checkEphemeral(v *config.Variable, set, planned bool) diags.Diagnostics {
	switch {
	case planned && !set:
		return diags.Errorf(nil, "No value for required variable",
			"The variable %q is ephemeral, so that the plan does not hold the value that it was made with. Set it again: use the option -var or -var-file, the environment variable TF_VAR_%s or a .tfvars file.", v.Name, v.Name)
	case set && !planned:
		return diags.Errorf(g.shownRange(v), "Ephemeral variable was not set during planning",
			"The variable %q is set %s, but was not when the plan was made. Make a new plan with that value, or apply this one without it.", v.Name, g.by(v))
	}
	return nil
}

// changed returns a diagnostic about a value that differs from the value in the plan. It is an error for a
// value from an option, and otherwise a warning.
func (g givenValue) changed(v *config.Variable) diags.Diagnostics {
	place := g.shownRange(v)
	if g.origin == FromOption || g.origin == FromNamedFile {
		return diags.Errorf(place, "Can't change variable when applying a saved plan",
			"The variable %q cannot be set with -var or -var-file now, because the plan was made with another value. Make a new plan with the new value.", v.Name)
	}
	return diags.Warningf(place, "Ignoring variable when applying a saved plan",
		"The variable %q is set %s to another value than the plan was made with. The plan is carried out with the value that it has.", v.Name, g.by(v))
}

// shownRange returns the range of a value for a code snippet; nil if the snippet would show a sensitive value.
func (g givenValue) shownRange(v *config.Variable) *hcl.Range {
	if v.Sensitive {
		return nil
	}
	return g.place
}
