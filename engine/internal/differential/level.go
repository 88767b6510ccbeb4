package differential

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Some deviations of lockstep are intended, and results may have others besides. Here the results are made
// equal where lockstep deviates on purpose, so that the rest can be compared. The first result is the stock
// tool's.

// seesNumbers recognizes refresh-only plans in which the stock tool finds a change, but says that there is
// none. It compares numbers in outputs with their precision, and the value of length("x") has another
// precision than the 1 in the state.
func seesNumbers(stock, ours Result) bool {
	theirs, _ := stock.Plan.(map[string]any)
	own, _ := ours.Plan.(map[string]any)
	if !stock.Changes || ours.Changes || theirs["applyable"] != true || own["applyable"] != false ||
		!strings.Contains(stock.Output, "No changes. Your infrastructure still matches the configuration.") {
		return false
	}
	for _, c := range outputChanges(theirs) {
		if actions, _ := c["actions"].([]any); slices.Equal(actions, []any{"no-op"}) && hasNumber(c["after"]) {
			theirs["applyable"] = false
			return true
		}
	}
	return false
}

func hasNumber(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if hasNumber(x) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, hasNumber)
	}
	_, ok := v.(json.Number)
	return ok
}

// levelOutputs copies root outputs of the stock tool's state to lockstep's where lockstep keeps the previous
// value. There are two cases. After a failure, the stock tool stores an output as planned, although its
// dependency has failed. In a destroy with targets, the stock tool stores outputs that the plan does not
// show, with the values from before the destroy.
func levelOutputs(stock, ours Result) {
	theirs, own := outputsOf(stock.State), outputsOf(ours.State)
	planned := outputChanges(stock.Plan)
	plan, _ := stock.Plan.(map[string]any)
	prior, _ := plan["prior_state"].(map[string]any)
	values, _ := prior["values"].(map[string]any)
	found, _ := values["outputs"].(map[string]any)
	for name, x := range theirs {
		c, shown := planned[name]
		var early bool
		switch {
		case !shown:
			early = plan["complete"] == false && len(changes(plan, "delete")) > 0 && len(changes(plan, "create"))+len(changes(plan, "update")) == 0 && found[name] != nil && reflect.DeepEqual(valueOf(x), valueOf(found[name]))
		case len(stock.Errors) > 0 && len(ours.Errors) > 0:
			early = reflect.DeepEqual(valueOf(own[name]), c["before"]) &&
				(reflect.DeepEqual(valueOf(x), c["after"]) || c["after_unknown"] != nil && c["after_unknown"] != false)
		}
		if early {
			if own == nil {
				state, ok := ours.State.(map[string]any)
				if !ok {
					return
				}
				own = map[string]any{}
				state["outputs"] = own
			}
			own[name] = x
		}
	}
}

// outputsOf returns the outputs of a state file.
func outputsOf(state any) map[string]any {
	m, _ := state.(map[string]any)
	out, _ := m["outputs"].(map[string]any)
	return out
}

func valueOf(output any) any {
	m, _ := output.(map[string]any)
	return m["value"]
}

// hidesOutput reports whether a plan has a mask for the attribute output of a terraform_data. Lockstep has
// this mask if the input is sensitive; the stock tool does not. So lockstep also hides what refers to the
// output: see [levelMasks].
func hidesOutput(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "terraform_data" {
			change, _ := v["change"].(map[string]any)
			for _, masks := range []any{v["sensitive_values"], change["before_sensitive"], change["after_sensitive"]} {
				if m, _ := masks.(map[string]any); m["output"] != nil {
					return true
				}
			}
		}
		for _, x := range v {
			if hidesOutput(x) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hidesOutput)
	}
	return false
}

// levelMarked copies to the stock tool's plan those updates of lockstep's plan that only mark values as
// sensitive. These values refer to a hidden output, and the stock tool has nothing to do there. all reports
// whether lockstep's plan has no other changes, and the stock tool's has none.
func levelMarked(stock, ours Result) (all bool) {
	theirs, _ := stock.Plan.(map[string]any)
	own, _ := ours.Plan.(map[string]any)
	if !hidesOutput(own) {
		return false
	}
	idle := map[string]map[string]any{}
	for _, c := range changes(theirs, "no-op") {
		idle[fmt.Sprint(c["address"], c["deposed"])] = c
	}
	found := false
	for _, c := range changes(own, "update") {
		x := idle[fmt.Sprint(c["address"], c["deposed"])]
		change, _ := c["change"].(map[string]any)
		was, _ := x["change"].(map[string]any)
		if x != nil && reflect.DeepEqual(change["before"], change["after"]) && reflect.DeepEqual(change["before"], was["before"]) &&
			!reflect.DeepEqual(change["before_sensitive"], change["after_sensitive"]) {
			was["actions"], found = change["actions"], true
		}
	}
	if !found {
		return false
	}
	if own["relevant_attributes"] != nil && containsAll(theirs["relevant_attributes"], own["relevant_attributes"]) {
		theirs["relevant_attributes"] = own["relevant_attributes"]
	}
	if stock.Changes || !ours.Changes || theirs["applyable"] != false {
		return false
	}
	theirs["applyable"] = true
	return true
}

var maskNames = []string{"sensitive_values", "before_sensitive", "after_sensitive"}

// levelMasks compares the masks in both plans or states. Where lockstep's mask hides more than the stock
// tool's, it copies lockstep's mask to the stock tool's plan or state.
func levelMasks(stock, ours any) {
	switch x := stock.(type) {
	case map[string]any:
		y, _ := ours.(map[string]any)
		for name := range x {
			switch {
			case slices.Contains(maskNames, name) && hidesAll(x[name], y[name]):
				x[name] = y[name]
			case name == "sensitive_attributes" && containsAll(x[name], y[name]):
				x[name] = y[name]
			default:
				levelMasks(x[name], y[name])
			}
		}
	case []any:
		y, _ := ours.([]any)
		for i := range min(len(x), len(y)) {
			levelMasks(x[i], y[i])
		}
	}
}

// hidesAll reports whether the mask ours hides everything that the mask stock hides. A mask has the value true
// for each sensitive part.
func hidesAll(stock, ours any) bool {
	if ours == true {
		return true
	}
	switch x := stock.(type) {
	case map[string]any:
		y, _ := ours.(map[string]any)
		for name := range x {
			if !hidesAll(x[name], y[name]) {
				return false
			}
		}
		return true
	case []any:
		y, _ := ours.([]any)
		for i := range x {
			if i >= len(y) || !hidesAll(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return stock == nil || stock == false
}

// containsAll reports whether the list ours has everything that the list stock has.
func containsAll(stock, ours any) bool {
	x, _ := stock.([]any)
	y, _ := ours.([]any)
	return !slices.ContainsFunc(x, func(e any) bool {
		return !slices.ContainsFunc(y, func(o any) bool { return reflect.DeepEqual(e, o) })
	})
}
