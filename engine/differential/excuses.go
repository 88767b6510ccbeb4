package differential

import (
	"fmt"
	"slices"
	"strings"
)

// crashed is the heading of an error that none was written for.
const crashed = "a crash"

// excused recognizes rounds of which Terraform 1.11.4 makes something that lockstep means not
// to. options are those of the plan.
func excused(stock, ours Result, options []string) bool {
	has := func(o string) bool {
		return slices.ContainsFunc(options, func(x string) bool { return strings.HasPrefix(x, o) })
	}
	return slices.ContainsFunc(stock.Errors, func(summary string) bool { return failsAlone(summary, ours) }) ||
		has("-refresh-only") && failsOnSelf(stock, ours) ||
		has("-target=") && leavesUndone(stock, ours)
}

// failsAlone recognizes errors where there should be none, or the state that they leave is
// not to be had: a crash, replace_triggered_by with an attribute of a resource with count, in
// a module, a dependency that the targets leave out, for which Terraform forgets the object
// that was to be updated, the plan to refresh what is empty, and a cycle through a deletion,
// which lockstep breaks by dropping the dependency that only the configuration asks for.
func failsAlone(summary string, ours Result) bool {
	switch {
	case summary == crashed, summary == "Configuration contains unknown value", strings.HasPrefix(summary, "no change found for "):
		return true
	case strings.HasPrefix(summary, "Cycle: ") && strings.Contains(summary, "(destroy"):
		return !slices.ContainsFunc(ours.Errors, func(e string) bool { return strings.HasPrefix(e, "Cycle") })
	}
	return len(ours.Errors) == 0 && summary == "Cannot apply non-applyable plan"
}

// failsOnSelf recognizes postconditions of what does not exist, in a refresh: to look for self
// in the state fails, unless the resource has neither count nor for_each.
func failsOnSelf(stock, ours Result) bool {
	return slices.Equal(stock.Errors, []string{"Invalid index"}) && len(ours.Errors) == 0 && strings.Contains(stock.Said, "condition     = self.")
}

// leavesUndone recognizes applies that leave out deletions of their plan without a word.
// With -target, a plan deletes all instances of a block that the targets name or need if
// their module instance is gone, whatever keys the targets have; but the apply deletes only
// what the targets mean, or what comes before that. Lockstep plans what they mean, and does
// what it has planned.
//
// If something has failed, what the stock tool alone has left is meant.
func leavesUndone(stock, ours Result) bool {
	left, leftByUs := stateAddresses(stock.State), map[string]bool{}
	if len(stock.Errors) > 0 {
		leftByUs = stateAddresses(ours.State)
	}
	undone := func(a string) bool { return left[a] && !leftByUs[a] }
	return slices.ContainsFunc(planned(stock.Plan, "delete"), undone) ||
		slices.ContainsFunc(planned(stock.Plan, "create", "delete"), func(a string) bool { return undone(a + deposedSuffix) })
}

// planned returns the addresses of what a plan does something with, but for deposed objects.
func planned(plan any, actions ...any) []string {
	var out []string
	for _, c := range changes(plan, actions...) {
		if c["deposed"] == nil {
			out = append(out, fmt.Sprint(c["address"]))
		}
	}
	return out
}

// changes returns the changes of a plan that do something.
func changes(plan any, actions ...any) []map[string]any {
	var out []map[string]any
	m, _ := plan.(map[string]any)
	list, _ := m["resource_changes"].([]any)
	for _, x := range list {
		c, _ := x.(map[string]any)
		change, _ := c["change"].(map[string]any)
		if what, _ := change["actions"].([]any); slices.Equal(what, actions) {
			out = append(out, c)
		}
	}
	return out
}

const deposedSuffix = " (deposed)"

// stateAddresses returns the addresses of the instances in a state file, with deposedSuffix
// those that have deposed objects.
func stateAddresses(state any) map[string]bool {
	out := map[string]bool{}
	m, _ := state.(map[string]any)
	resources, _ := m["resources"].([]any)
	for _, x := range resources {
		r, _ := x.(map[string]any)
		prefix := ""
		if in, ok := r["module"].(string); ok {
			prefix = in + "."
		}
		instances, _ := r["instances"].([]any)
		for _, y := range instances {
			o, _ := y.(map[string]any)
			key := ""
			switch k := o["index_key"].(type) {
			case nil:
			case string:
				key = "[" + brief(k, true) + "]"
			default:
				key = fmt.Sprintf("[%v]", k)
			}
			if o["deposed"] != nil {
				key += deposedSuffix
			}
			out[fmt.Sprintf("%s%v.%v%s", prefix, r["type"], r["name"], key)] = true
		}
	}
	return out
}
