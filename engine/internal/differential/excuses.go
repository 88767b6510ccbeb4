package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// crashed stands for the heading of the error if the tool crashed.
const crashed = "a crash"

// excused recognizes rounds in which lockstep deviates from Terraform 1.11.4 on purpose. options are the
// options that the plan was made with.
func excused(stock, ours Result, options []string) bool {
	has := func(o string) bool {
		return slices.ContainsFunc(options, func(x string) bool { return strings.HasPrefix(x, o) })
	}
	return slices.ContainsFunc(stock.Errors, func(summary string) bool { return failsAlone(summary, ours) }) ||
		has("-refresh-only") && failsOnSelf(stock, ours) ||
		has("-target=") && leavesUndone(stock, ours) ||
		failsToDelete(stock, ours) || hidesOutputs(stock, ours) || plansForNothing(stock, ours) || knowsTooEarly(stock, ours)
}

// hidesOutputs recognizes plans that lockstep refuses because an output shows the output of a terraform_data
// whose input is sensitive. The stock tool does not know that this value is sensitive.
func hidesOutputs(stock, ours Result) bool {
	return len(stock.Errors) == 0 && slices.Contains(ours.Errors, "Output refers to sensitive values")
}

// plansForNothing recognizes updates that the stock tool plans but does not carry out. ignore_changes for a
// map whose configured value is unknown has no effect when the stock tool plans, but has one when it applies.
// Lockstep ignores the map both times.
func plansForNothing(stock, ours Result) bool {
	if len(stock.Errors) > 0 || len(ours.Errors) > 0 {
		return false
	}
	both := planned(ours.Plan, "update")
	return slices.ContainsFunc(planned(stock.Plan, "update"), func(a string) bool {
		return !slices.Contains(both, a) && !strings.Contains(stock.Output, a+": Modifying...")
	})
}

// knowsTooEarly recognizes plans in which the stock tool knows that a list is empty, and lockstep treats the
// list as unknown: matchkeys with an unknown value to search for, where the apply may find another list.
func knowsTooEarly(stock, ours Result) bool {
	theirs, own := outputChanges(stock.Plan), outputChanges(ours.Plan)
	for name, c := range theirs {
		if list, ok := c["after"].([]any); ok && len(list) == 0 && own[name]["after_unknown"] == true {
			return true
		}
	}
	return false
}

// outputChanges returns the output changes of a plan, by name.
func outputChanges(plan any) map[string]map[string]any {
	out := map[string]map[string]any{}
	m, _ := plan.(map[string]any)
	all, _ := m["output_changes"].(map[string]any)
	for name, c := range all {
		out[name], _ = c.(map[string]any)
	}
	return out
}

var failedAddress = regexp.MustCompile(`(?m)^ *with (.+),$`)

// failsToDelete recognizes applies in which both tools fail to delete an object. This happens to an object
// whose block, or whose instance key, is no longer in the configuration. Lockstep orders such a deletion also
// by the dependencies in the configuration, not only by those in the state. So more deletions may have to
// wait for the failed one.
func failsToDelete(stock, ours Result) bool {
	if len(stock.Errors) == 0 || len(ours.Errors) == 0 {
		return false
	}
	deleted := planned(stock.Plan, "delete")
	return slices.ContainsFunc(failedAddress.FindAllStringSubmatch(ours.Output, -1), func(m []string) bool {
		return slices.Contains(deleted, m[1]) && strings.Contains(stock.Output, "with "+m[1]+",")
	})
}

// failsAlone recognizes errors of the stock tool that lockstep does not report:
//   - a crash;
//   - an implied configuration of a provider that a nested module passes on;
//   - replace_triggered_by with an attribute of a resource with count, in a module;
//   - a dependency outside of the targets, for which Terraform forgets the object that it
//     was about to update;
//   - a refresh-only plan of an empty state, which Terraform cannot apply;
//   - a cycle through a deletion, which lockstep breaks by dropping the dependency that is
//     only in the configuration.
func failsAlone(summary string, ours Result) bool {
	switch {
	case summary == crashed, summary == "Configuration contains unknown value", strings.HasPrefix(summary, "no change found for "),
		strings.HasPrefix(summary, "missing provider "):
		return true
	case strings.HasPrefix(summary, "Cycle: ") && strings.Contains(summary, "(destroy"):
		return !slices.ContainsFunc(ours.Errors, func(e string) bool { return strings.HasPrefix(e, "Cycle") })
	}
	return len(ours.Errors) == 0 && summary == "Cannot apply non-applyable plan"
}

// failsOnSelf recognizes refreshes in which the stock tool cannot evaluate postconditions: for an instance that
// does not exist, it does not find self in the state if the resource has count or for_each.
func failsOnSelf(stock, ours Result) bool {
	return slices.Equal(stock.Errors, []string{"Invalid index"}) && len(ours.Errors) == 0 && strings.Contains(stock.Output, "condition     = self.")
}

// leavesUndone recognizes applies in which the stock tool silently omits deletions that it has planned. This
// happens with -target if a module instance is gone. The stock tool's plan deletes all instances of a
// targeted block in it, or of a dependency, regardless of the targets' instance keys. But the stock tool's
// apply deletes only the targeted instances and those that must go before them. Lockstep plans the deletion
// of the targeted instances only, and applies the whole plan.
//
// After an error, an object counts only if the stock tool has left it in its state and lockstep has not.
func leavesUndone(stock, ours Result) bool {
	left, leftByUs := stateAddresses(stock.State), map[string]bool{}
	if len(stock.Errors) > 0 {
		leftByUs = stateAddresses(ours.State)
	}
	undone := func(a string) bool { return left[a] && !leftByUs[a] }
	return slices.ContainsFunc(planned(stock.Plan, "delete"), undone) ||
		slices.ContainsFunc(planned(stock.Plan, "create", "delete"), func(a string) bool { return undone(a + deposedSuffix) })
}

// planned returns the addresses of a plan's changes with exactly these actions, without
// deposed objects.
func planned(plan any, actions ...any) []string {
	var out []string
	for _, c := range changes(plan, actions...) {
		if c["deposed"] == nil {
			out = append(out, fmt.Sprint(c["address"]))
		}
	}
	return out
}

// changes returns a plan's changes with exactly these actions.
func changes(plan any, actions ...any) []map[string]any {
	var out []map[string]any
	m, _ := plan.(map[string]any)
	list, _ := m["resource_changes"].([]any)
	for _, x := range list {
		c, _ := x.(map[string]any)
		change, _ := c["change"].(map[string]any)
		if actual, _ := change["actions"].([]any); slices.Equal(actual, actions) {
			out = append(out, c)
		}
	}
	return out
}

const deposedSuffix = " (deposed)"

// stateAddresses returns the addresses of the instances in a state file. Addresses of instances with deposed
// objects end in deposedSuffix.
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
