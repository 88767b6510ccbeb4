package render

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// comment writes the lines above an object: its action and the reasons for it. drift is set if c is not
// planned, but a difference between the object and the state.
func (p *Printer) comment(b *strings.Builder, c *plans.ResourceChange, drift bool) {
	name := p.in(bold, c.Addr.String())
	line := func(format string, args ...any) { fmt.Fprintf(b, "  # "+format+"\n", args...) }
	movedNow := c.Action == plans.NoOp && moved(c)
	importedNow := c.Action == plans.NoOp && c.Importing != nil && !movedNow
	switch {
	case movedNow:
		line("%s has moved to %s", p.in(bold, c.PrevAddr.String()), name)
	case importedNow:
		line("%s will be imported", name)
		if c.GeneratedConfig != "" {
			line("(config will be generated)")
		}
	default:
		line("%s", p.fate(name, c, drift))
		if !drift {
			for _, why := range reasons(c) {
				line("(%s)", why)
			}
		}
		if c.Addr.Deposed != addrs.NotDeposed {
			line("(left over from a partially-failed replacement of this instance)")
		}
	}
	if moved(c) && !movedNow {
		line("(moved from %s)", c.PrevAddr)
	}
	if c.Importing == nil {
		return
	}
	if !importedNow {
		line("(%s)", importedFrom(c))
	}
	if c.Action.IsReplace() && c.Destroys() {
		line("%s", p.in(yellow, "Warning: this will destroy the imported resource"))
	}
}

// importedFrom returns the ID or the identity that an object is imported by. The values in an identity repeat
// attributes of the object with the same names. A value is hidden if this attribute is sensitive.
func importedFrom(c *plans.ResourceChange) string {
	x := c.Importing
	if x.Identity != cty.NilVal {
		shown := x.Identity.AsValueMap()
		for name := range shown {
			if secret(c.Before, name) || secret(c.After, name) {
				shown[name] = cty.StringVal("(sensitive value)")
			}
		}
		return "imported by identity: " + visible(plans.IdentityText(cty.ObjectVal(shown)))
	}
	if x.ID == "" {
		return "will be imported first"
	}
	return fmt.Sprintf("imported from %q", x.ID)
}

// secret reports whether an object's attribute name has a sensitive value.
func secret(v cty.Value, name string) bool {
	if v == cty.NilVal || v.IsMarked() {
		return v != cty.NilVal
	}
	return v.IsKnown() && !v.IsNull() && v.Type().IsObjectType() && v.Type().HasAttribute(name) && marks.Contains(v.GetAttr(name), marks.Sensitive)
}

// fate returns the sentence about what happens to an object. If drift is set, it is about what has already
// happened to the object.
func (p *Printer) fate(name string, c *plans.ResourceChange, drift bool) string {
	replaced := p.in(bold, p.in(red, "replaced"))
	switch c.Action {
	case plans.Create:
		return name + " will be created"
	case plans.Read:
		return name + " will be read during apply"
	case plans.Update:
		if drift {
			return name + " has changed"
		}
		return name + " will be updated in-place"
	case plans.Delete:
		if drift {
			return name + " has been deleted"
		}
		return name + " will be " + p.in(bold, p.in(red, "destroyed"))
	case plans.Forget:
		if c.Reason == plans.ReasonForgetBecauseCurrent {
			return name + " will be forgotten, and will not be destroyed"
		}
		return name + " will no longer be managed, but will not be destroyed"
	case plans.DeleteThenCreate, plans.CreateThenDelete:
		switch c.Reason {
		case plans.ReasonReplaceBecauseTainted:
			return name + " is tainted, so must be " + replaced
		case plans.ReasonReplaceByRequest:
			return name + " will be " + replaced + ", as requested"
		case plans.ReasonReplaceByTriggers:
			return name + " will be " + replaced + " due to changes in replace_triggered_by"
		}
		return name + " must be " + replaced
	}
	return name
}

// reasons returns the reasons for an action that is not obvious.
func reasons(c *plans.ResourceChange) []string {
	in := c.Addr.Instance
	r := in.Resource.Resource
	switch {
	case c.Reason == plans.ReasonForgetBecauseCurrent:
		return []string{"because it is the current object of " + in.String()}
	case c.Reason == plans.ReasonForgetByState:
		return []string{"destroy = false was set in its block, which is not in configuration"}
	case c.Action == plans.Forget:
		return []string{"destroy = false is set in the configuration"}
	}
	if c.KeepsOld {
		return []string{"the old object will not be destroyed: destroy = false is set in the configuration"}
	}
	switch c.Reason {
	case plans.ReasonReadBecauseConfigUnknown:
		return []string{"config refers to values not yet known"}
	case plans.ReasonReadBecauseDependency:
		return []string{"depends on a resource or a module with changes pending"}
	case plans.ReasonReadBecauseCheckNested:
		return []string{"config will be reloaded to verify a check block"}
	case plans.ReasonDeleteBecauseNoConfig:
		return []string{fmt.Sprintf("because %s is not in configuration", r)}
	case plans.ReasonDeleteBecauseNoModule:
		return []string{fmt.Sprintf("because %s is not in configuration", in.Module)}
	case plans.ReasonDeleteBecauseNoMoveTarget:
		return []string{fmt.Sprintf("because %s was moved to %s, which is not in configuration", c.PrevAddr, in)}
	case plans.ReasonDeleteBecauseCountIndex:
		return []string{fmt.Sprintf("because index %s is out of range for count", in.Resource.Key)}
	case plans.ReasonDeleteBecauseEachKey:
		return []string{fmt.Sprintf("because key %s is not in for_each map", in.Resource.Key)}
	case plans.ReasonDeleteBecauseEnabledFalse:
		return []string{"because enabled is false"}
	case plans.ReasonDeleteBecauseWrongRep:
		if in.Resource.Key.IsNone() {
			return []string{"because resource uses count or for_each"}
		}
		if _, ok := in.Resource.Key.Int(); ok {
			return []string{"because resource does not use count"}
		}
		return []string{"because resource does not use for_each"}
	}
	return nil
}
