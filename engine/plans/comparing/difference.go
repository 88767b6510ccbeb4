package comparing

import (
	"github.com/zclconf/go-cty/cty"
)

// An Aspect is the part of a plan that a difference affects.
type Aspect string

const (
	Request     Aspect = "request"     // the options of the plan
	Variable    Aspect = "variable"    // the value of a root variable
	Action      Aspect = "action"      // the action, with the order of a replacement
	Provider    Aspect = "provider"    // the provider configuration
	Moved       Aspect = "moved"       // the former address
	Import      Aspect = "import"      // the ID to import
	Before      Aspect = "before"      // a value before the change
	After       Aspect = "after"       // a value after the change
	Sensitivity Aspect = "sensitivity" // whether an output is sensitive

	// Configuration is the text of a block. Compare returns no such difference: its callers add them.
	Configuration Aspect = "configuration"
)

// A Difference is one fact that differs between the approved plan and the new plan.
type Difference struct {
	// Object is the address of a resource instance object, "output.NAME", "var.NAME", or a word
	// for an option of the plan.
	Object string
	Aspect Aspect
	// Path leads to the part of a value that differs. It is empty for a whole value and for aspects that are
	// not values.
	Path cty.Path
	// Approved and Now are the fact in each plan, without marks; cty.NilVal means that the plan does not have
	// it. Facts that are not values of the configuration are strings: addresses, and words for actions.
	Approved, Now cty.Value
	// Sensitive is set if neither value may be shown.
	Sensitive bool
}

// fact returns a text as the value of a fact; cty.NilVal for "".
func fact(text string) cty.Value {
	if text == "" {
		return cty.NilVal
	}
	return cty.StringVal(text)
}

// differences collects the differences of two plans.
type differences struct{ list []Difference }

func (d *differences) add(x Difference) { d.list = append(d.list, x) }

// texts adds a difference if the two texts are not equal.
func (d *differences) texts(object string, aspect Aspect, approved, now string) {
	if approved != now {
		d.add(Difference{Object: object, Aspect: aspect, Approved: fact(approved), Now: fact(now)})
	}
}

// values adds the differences of two values. sensitive lists the paths whose values must not be shown.
func (d *differences) values(object string, aspect Aspect, approved, now cty.Value, sensitive []cty.Path) {
	x := &values{sensitive: sensitive}
	x.compare(nil, approved, now, false)
	for _, f := range x.found {
		f.Object, f.Aspect = object, aspect
		d.add(f)
	}
}
