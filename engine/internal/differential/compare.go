package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A Difference is the first difference between the results of the two tools for a case.
type Difference struct {
	Case   Case // shortened by [Difference.Shrink]
	Round  int  // number of the first round that differs, from 0
	Detail string
	Output [2]string // outputs of the two tools, as text
}

// Compare runs two tools on a case, round by round, in directories below dir, and
// returns the first difference, or nil if there is none. Both tools start each round from the
// state of tool a, so that their objects have the same IDs.
func (c Case) Compare(ctx context.Context, dir string, a, b Tool) (*Difference, error) {
	dirs := [2]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for i, round := range c.Rounds {
		var res [2]Result
		for j, t := range []Tool{a, b} {
			err := lay(dirs[j], round.Blocks)
			if err == nil && c.Things && i == 0 {
				err = t.provide(dirs[j])
			}
			if err == nil && j == 1 && i > 0 {
				err = carry(dirs[0], dirs[1])
			}
			if err == nil && j == 0 {
				err = keep(dirs[0])
			}
			if err == nil {
				res[j], err = t.run(ctx, dirs[j], round)
			}
			if err != nil {
				return nil, fmt.Errorf("seed %d, round %d: %w", c.Seed, i, err)
			}
		}
		if excused(res[0], res[1], round.Options) {
			return nil, nil
		}
		if detail := differ(res[0], res[1]); detail != "" {
			return &Difference{Case: c, Round: i, Detail: detail, Output: [2]string{res[0].Output, res[1].Output}}, nil
		}
	}
	return nil, nil
}

// differ describes the first difference of two results: a is the stock tool's result, b is lockstep's. It
// returns "" if there is none.
func differ(a, b Result) string {
	// One error in common is enough: the tools stop after different numbers of errors.
	if len(a.Errors)+len(b.Errors) > 0 && !slices.ContainsFunc(a.Errors, func(e string) bool { return slices.Contains(b.Errors, e) }) {
		return fmt.Sprintf("errors: %q and %q", a.Errors, b.Errors)
	}
	marked := levelMarked(a, b)
	if a.Changes != b.Changes && !seesNumbers(a, b) && !marked {
		return fmt.Sprintf("changes: %t and %t", a.Changes, b.Changes)
	}
	levelOutputs(a, b)
	stock, ours := planForm(a.Plan), planForm(b.Plan)
	hides := hidesOutput(ours)
	if hides {
		levelMasks(stock, ours)
	}
	if d := first("plan", stock, ours); d != "" {
		return d
	}
	dropEmptyResources(a)
	dropEmptyResources(b)
	stock, ours = stateForm(a.State), stateForm(b.State)
	if hides {
		levelMasks(stock, ours)
	}
	return first("state", stock, ours)
}

// dropEmptyResources removes from a state the resources that lost their instances in a failed apply, or did
// not get them. The stock tool removes them at random, with each module that it happens to finish.
func dropEmptyResources(r Result) {
	planned := map[[3]any]bool{}
	for _, c := range slices.Concat(changes(r.Plan, "delete"), changes(r.Plan, "create")) {
		planned[[3]any{c["module_address"], c["type"], c["name"]}] = true
	}
	state, _ := r.State.(map[string]any)
	resources, _ := state["resources"].([]any)
	if len(planned) == 0 || len(resources) == 0 {
		return
	}
	state["resources"] = slices.DeleteFunc(resources, func(x any) bool {
		m, _ := x.(map[string]any)
		instances, _ := m["instances"].([]any)
		return len(instances) == 0 && planned[[3]any{m["module"], m["type"], m["name"]}]
	})
}

// first describes the first difference of two JSON values; "" if there is none. path is where the values are in
// the whole document.
func first(path string, a, b any) string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return firstMember(path, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return firstElement(path, x, y)
		}
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return fmt.Sprintf("%s: %s and %s", path, brief(a, true), brief(b, true))
}

func firstMember(at string, x, y map[string]any) string {
	both := maps.Clone(x)
	maps.Copy(both, y)
	for _, k := range slices.Sorted(maps.Keys(both)) {
		vx, inX := x[k]
		vy, inY := y[k]
		if k == "store" && inX != inY && vx == nil && vy == nil {
			continue // the block of a terraform_data, which older versions do not have
		}
		if inX != inY {
			return fmt.Sprintf("%s.%s: %s and %s", at, k, brief(vx, inX), brief(vy, inY))
		}
		if d := first(at+"."+k, vx, vy); d != "" {
			return d
		}
	}
	return ""
}

func firstElement(at string, x, y []any) string {
	for i := range min(len(x), len(y)) {
		if d := first(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); d != "" {
			return d
		}
	}
	if n := len(x); n < len(y) {
		return fmt.Sprintf("%s[%d]: %s and %s", at, n, brief(nil, false), brief(y[n], true))
	}
	if n := len(y); n < len(x) {
		return fmt.Sprintf("%s[%d]: %s and %s", at, n, brief(x[n], true), brief(nil, false))
	}
	return ""
}

func brief(v any, there bool) string {
	if !there {
		return "nothing"
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	text := strings.TrimSpace(out.String())
	if len(text) > 800 {
		text = text[:800] + "..."
	}
	return text
}

// planForm normalizes a plan: it removes the time and the tool's version, and sorts the
// lists without a meaningful order.
func planForm(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	delete(m, "timestamp")
	delete(m, "terraform_version")
	if p, ok := m["prior_state"].(map[string]any); ok {
		delete(p, "terraform_version")
	}
	if list, ok := m["relevant_attributes"].([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(brief(a, true), brief(b, true)) })
	}
	if p, ok := m["planned_values"].(map[string]any); ok {
		dropForgotten(p["root_module"], addressesOf(changes(m, "forget")))
		sortModules(p["root_module"])
		dropMasks(p["root_module"], replaced(m))
	}
	return m
}

// replaced returns the addresses of the objects that a plan replaces.
func replaced(plan any) map[string]bool {
	return addressesOf(append(changes(plan, "create", "delete"), changes(plan, "delete", "create")...))
}

func addressesOf(changes []map[string]any) map[string]bool {
	out := map[string]bool{}
	for _, c := range changes {
		out[fmt.Sprint(c["address"])] = true
	}
	return out
}

// dropForgotten removes forgotten objects from the planned values of a module, and child modules that have
// nothing else. Terraform lists forgotten objects there without values; lockstep leaves them out.
func dropForgotten(module any, forgotten map[string]bool) {
	if len(forgotten) == 0 {
		return
	}
	m, _ := module.(map[string]any)
	if list, ok := m["resources"].([]any); ok {
		list = slices.DeleteFunc(list, func(x any) bool {
			r, _ := x.(map[string]any)
			return r["values"] == nil && forgotten[fmt.Sprint(r["address"])]
		})
		if m["resources"] = list; len(list) == 0 {
			delete(m, "resources")
		}
	}
	if children, ok := m["child_modules"].([]any); ok {
		children = slices.DeleteFunc(children, func(x any) bool {
			c, _ := x.(map[string]any)
			dropForgotten(c, forgotten)
			return c["resources"] == nil && c["child_modules"] == nil
		})
		if m["child_modules"] = children; len(children) == 0 {
			delete(m, "child_modules")
		}
	}
}

// dropMasks removes the masks from planned objects that are replaced: there the stock tool forgets what the
// schema declares sensitive, and lockstep does not.
func dropMasks(module any, replaced map[string]bool) {
	m, _ := module.(map[string]any)
	resources, _ := m["resources"].([]any)
	for _, x := range resources {
		if r, ok := x.(map[string]any); ok && replaced[fmt.Sprint(r["address"])] {
			delete(r, "sensitive_values")
		}
	}
	children, _ := m["child_modules"].([]any)
	for _, c := range children {
		dropMasks(c, replaced)
	}
}

// sortModules sorts the child modules of a planned module: the stock tool lists them in the random order in
// which it planned them.
func sortModules(v any) {
	m, _ := v.(map[string]any)
	children, _ := m["child_modules"].([]any)
	slices.SortFunc(children, func(a, b any) int {
		x, _ := a.(map[string]any)
		y, _ := b.(map[string]any)
		return strings.Compare(fmt.Sprint(x["address"]), fmt.Sprint(y["address"]))
	})
	for _, c := range children {
		sortModules(c)
	}
}

// stateForm normalizes a state: it removes lineage, serial and the tool's version, and
// replaces each random ID of a resource by the address of the instance. An empty state is
// nil, like a missing one.
func stateForm(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	outputs, _ := m["outputs"].(map[string]any)
	if list, _ := m["resources"].([]any); len(list)+len(outputs) == 0 && m["check_results"] == nil {
		return nil
	}
	delete(m, "lineage")
	delete(m, "serial")
	sortChecks(m["check_results"])
	delete(m, "terraform_version")
	for _, in := range instancesIn(m) { // a member since Terraform 1.12
		delete(in, "identity_schema_version")
	}
	ids := map[string]string{}
	resources, _ := m["resources"].([]any)
	for _, r := range resources {
		sortMixed(r)
		nameIDs(r, ids)
	}
	return replaceIDs(m, ids)
}

// instancesIn returns the objects of a state.
func instancesIn(state map[string]any) (out []map[string]any) {
	resources, _ := state["resources"].([]any)
	for _, r := range resources {
		r, _ := r.(map[string]any)
		list, _ := r["instances"].([]any)
		for _, in := range list {
			if in, is := in.(map[string]any); is {
				out = append(out, in)
			}
		}
	}
	return out
}

// sortChecks sorts check results: the stock tool's order is random.
func sortChecks(v any) {
	by := func(list any, name string) []any {
		l, _ := list.([]any)
		slices.SortFunc(l, func(a, b any) int {
			x, _ := a.(map[string]any)
			y, _ := b.(map[string]any)
			return strings.Compare(fmt.Sprint(x[name]), fmt.Sprint(y[name]))
		})
		return l
	}
	for _, c := range by(v, "config_addr") {
		if m, ok := c.(map[string]any); ok {
			by(m["objects"], "object_addr")
		}
	}
}

// sortMixed sorts a resource's instances by the type of their keys. After a move some keys
// may be numbers and others strings; the stock tool's order of the two is random.
func sortMixed(resource any) {
	r, _ := resource.(map[string]any)
	instances, _ := r["instances"].([]any)
	kind := func(x any) string {
		o, _ := x.(map[string]any)
		return fmt.Sprintf("%T", o["index_key"])
	}
	slices.SortStableFunc(instances, func(a, b any) int { return strings.Compare(kind(a), kind(b)) })
}

func nameIDs(resource any, ids map[string]string) {
	r, _ := resource.(map[string]any)
	instances, _ := r["instances"].([]any)
	for _, x := range instances {
		o, _ := x.(map[string]any)
		if list, ok := o["sensitive_attributes"].([]any); ok { // a set, in random order
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(brief(a, true), brief(b, true)) })
		}
		attrs, _ := o["attributes"].(map[string]any)
		if id, ok := attrs["id"].(string); ok {
			ids[id] = fmt.Sprint("ID of ", r["module"], " ", r["name"], " ", o["index_key"], " ", o["deposed"] != nil)
		}
		if o["deposed"] != nil {
			o["deposed"] = "a key" // in place of the random key
		}
	}
}

var idPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func replaceIDs(v any, ids map[string]string) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[named(k, ids)] = replaceIDs(e, ids)
		}
		return out
	case []any:
		for i := range x {
			x[i] = replaceIDs(x[i], ids)
		}
	case string:
		return named(x, ids)
	}
	return v
}

func named(s string, ids map[string]string) string {
	return idPattern.ReplaceAllStringFunc(s, func(id string) string {
		if name, ok := ids[id]; ok {
			return name
		}
		return "ID of a deleted object"
	})
}
