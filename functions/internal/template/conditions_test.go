package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// worlds calls f with the values of some conditions, for every combination of outcomes of the
// comparisons in them. It takes comparisons to be independent of each other: an assertion that
// holds in all combinations holds in all possible ones. A mistake in any condition is an error.
func worlds(conditions map[string]any, about []string, f func(holds map[string]bool)) error {
	all := comparer{conditions: conditions}
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		all.holds(name)
	}
	if all.wrong != "" {
		return fmt.Errorf("Conditions: %s", all.wrong)
	}
	c := comparer{conditions: conditions}
	// The first evaluation of each collects all comparisons.
	for _, name := range about {
		c.holds(name)
	}
	if len(c.atoms) > 16 {
		return fmt.Errorf("Conditions: %d comparisons are too many to try all", len(c.atoms))
	}
	for c.world = 0; c.world < 1<<len(c.atoms); c.world++ {
		holds := map[string]bool{}
		for _, name := range about {
			holds[name] = c.holds(name)
		}
		f(holds)
	}
	return nil
}

// A comparer evaluates conditions in one world: bit i is the outcome of comparison i.
type comparer struct {
	conditions map[string]any
	atoms      []string
	world      int
	asked      []string
	wrong      string
}

func (c *comparer) holds(name string) bool {
	x, ok := c.conditions[name]
	if !ok || slices.Contains(c.asked, name) {
		c.wrong = fmt.Sprintf("%s is not defined, or by itself", name)
		return false
	}
	c.asked = append(c.asked, name)
	v := c.eval(x)
	c.asked = c.asked[:len(c.asked)-1]
	return v
}

// eval evaluates every part, so that every comparison is collected.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-conditions.html
func (c *comparer) eval(x any) bool {
	m, _ := x.(map[string]any)
	for name, arg := range m {
		args, _ := arg.([]any)
		switch {
		case name == "Condition":
			return c.holds(fmt.Sprint(arg))
		case name == "Fn::Equals" && len(args) == 2:
			return c.atom(args)
		case name == "Fn::Not" && len(args) == 1:
			return !c.eval(args[0])
		case name == "Fn::And" || name == "Fn::Or":
			all, some := true, false
			for _, a := range args {
				v := c.eval(a)
				all, some = all && v, some || v
			}
			return name == "Fn::And" && all || name == "Fn::Or" && some
		}
	}
	c.wrong = fmt.Sprintf("%v is no condition", x)
	return false
}

func (c *comparer) atom(args []any) bool {
	text, err := json.Marshal(args)
	if err != nil {
		c.wrong = err.Error()
	}
	i := slices.Index(c.atoms, string(text))
	if i < 0 {
		i = len(c.atoms)
		c.atoms = append(c.atoms, string(text))
	}
	return c.world&(1<<i) != 0
}
