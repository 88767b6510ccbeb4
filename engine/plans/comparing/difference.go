package comparing

import (
	"github.com/zclconf/go-cty/cty"
)

// An Aspect is the part of a plan that a difference is about.
type Aspect string

const (
	Request     Aspect = "request"     // the options of the plan
	Variable    Aspect = "variable"    // the value of a root variable
	Action      Aspect = "action"      // with the order of a replacement
	Provider    Aspect = "provider"    // the provider configuration
	Moved       Aspect = "moved"       // the former address
	Import      Aspect = "import"      // the ID to import
	Before      Aspect = "before"      // a value before the change
	After       Aspect = "after"       // a value after the change
	Sensitivity Aspect = "sensitivity" // of an output

	// Configuration is a block that is not the same. Compare has none: its users add them.
	Configuration Aspect = "configuration"
)

// A Difference is one fact in which the plan made now is not the approved one.
type Difference struct {
	// Object is the address of a resource instance object, "output.NAME", "var.NAME", or a word
	// for an option of the plan.
	Object string
	Aspect Aspect
	// Path leads to the differing part of a value; empty for the value itself and for other
	// aspects.
	Path cty.Path
	// Approved and Now are the facts in both plans, without marks; cty.NilVal is the absence of one.
	// Facts that are no values of the configuration are strings: addresses and words for actions.
	Approved, Now cty.Value
	// Sensitive is set if neither value may be shown.
	Sensitive bool
}

// fact is a text in a Difference; "" is the absence of one.
func fact(text string) cty.Value {
	if text == "" {
		return cty.NilVal
	}
	return cty.StringVal(text)
}

// differences collects those of two plans.
type differences struct{ list []Difference }

func (d *differences) add(x Difference) { d.list = append(d.list, x) }

// texts adds a difference if two facts are not the same text.
func (d *differences) texts(object string, aspect Aspect, approved, now string) {
	if approved != now {
		d.add(Difference{Object: object, Aspect: aspect, Approved: fact(approved), Now: fact(now)})
	}
}

// values adds the differences of two values; sensitive are the paths that must not be shown.
func (d *differences) values(object string, aspect Aspect, approved, now cty.Value, sensitive []cty.Path) {
	x := &values{sensitive: sensitive}
	x.compare(nil, approved, now, false)
	for _, f := range x.found {
		f.Object, f.Aspect = object, aspect
		d.add(f)
	}
}
