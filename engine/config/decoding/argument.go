package decoding

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
)

// expr returns an argument's expression; nil if the argument is absent.
func expr(a *hcl.Attribute) hcl.Expression {
	if a == nil {
		return nil
	}
	return a.Expr
}

// literal decodes an argument without references into target, a *bool or *string. It reports
// whether the argument is there and valid.
func (r *reader) literal(a *hcl.Attribute, target any) bool {
	if a == nil {
		return false
	}
	ds := gohcl.DecodeExpression(a.Expr, nil, target)
	r.add(ds)
	return !ds.HasErrors()
}

// givenArgs returns the names of the arguments that are present in a block of an override file: only these
// replace arguments of the original block. It returns nil for other files.
func (r *reader) givenArgs(c *hcl.BodyContent) map[string]bool {
	if !r.override {
		return nil
	}
	out := make(map[string]bool, len(c.Attributes))
	for n := range c.Attributes {
		out[n] = true
	}
	return out
}

// keyword reads an argument that is a bare word. A word in quotes, as in old configurations, is accepted with
// a warning.
func (r *reader) keyword(a *hcl.Attribute) string {
	e, ds := traversals.UnquotedKeyword(a.Expr)
	r.add(ds)
	return hcl.ExprAsKeyword(e)
}

// versionConstraint reads a literal version constraint. The second result is false if the constraint is null or
// invalid.
func (r *reader) versionConstraint(a *hcl.Attribute) (config.VersionConstraint, bool) {
	v, ds := a.Expr.Value(nil)
	r.add(ds)
	if ds.HasErrors() {
		return config.VersionConstraint{}, false
	}
	if v.IsNull() {
		return config.VersionConstraint{}, false // as if the argument were missing
	}
	out, ds := config.NewVersionConstraint(v, a.Name, a.Expr.Range())
	r.add(ds)
	return out, !ds.HasErrors()
}

// dependsOn reads a depends_on argument; nil if it is absent. Its entries name whole objects: a dependency on
// an attribute would be a dependency on the object anyway. Whether the objects exist is not checked here.
func (r *reader) dependsOn(a *hcl.Attribute) []hcl.Traversal {
	if a == nil {
		return nil
	}
	list, ds := hcl.ExprList(a.Expr)
	r.add(ds)
	var out []hcl.Traversal
	for _, e := range list {
		e, ds := traversals.Unquoted(e)
		r.add(ds)
		t, ds := hcl.AbsTraversalForExpr(e)
		r.add(ds)
		if len(t) == 0 {
			continue
		}
		if n := traversals.ObjectSteps(t); n < len(t) {
			r.lateErrorf(t[n:].SourceRange().Ptr(), "Invalid depends_on reference", "An entry of depends_on names an object as a whole, such as a resource or a module. Remove the rest of the reference.")
			continue
		}
		if t.RootName() == "self" {
			r.lateErrorf(t.SourceRange().Ptr(), "Invalid \"self\" reference", "self has no meaning in depends_on: nothing can wait for itself.")
			continue
		}
		out = append(out, t)
	}
	return out
}

// deprecated reads the deprecated argument of a variable or output: advice for those who use it.
func (r *reader) deprecated(a *hcl.Attribute, target *string) {
	if r.literal(a, target) && strings.TrimSpace(*target) == "" {
		r.errorf(a.Expr.Range().Ptr(), "Invalid `deprecated` value", "The argument must not be empty: it is shown with the warning, and should name a replacement.")
	}
}

// repetition reads count and for_each.
func (r *reader) repetition(attrs hcl.Attributes) config.Repetition {
	if attrs["count"] != nil && attrs["for_each"] != nil {
		r.errorf(&attrs["for_each"].NameRange, `Invalid combination of "count" and "for_each"`,
			`The arguments "count" and "for_each" exclude each other: both determine the number of instances.`)
	}
	return config.Repetition{Count: expr(attrs["count"]), ForEach: expr(attrs["for_each"])}
}

// enabled reads the argument enabled of a lifecycle block. In OpenTofu, it gives a resource or a module call
// one instance or none.
func (r *reader) enabled(x *config.Repetition, a *hcl.Attribute) {
	if a == nil {
		return
	}
	x.Enabled = a.Expr
	other := "count"
	if x.ForEach != nil {
		other = "for_each"
	}
	if x.Count != nil || x.ForEach != nil {
		r.errorf(&a.NameRange, `Invalid combination of "`+other+`" and "enabled"`,
			"The arguments %q and \"enabled\" exclude each other: both determine the number of instances.", other)
	}
}

// isString reports whether v is the known string s.
func isString(v cty.Value, s string) bool {
	return v.Type() == cty.String && v.IsKnown() && !v.IsNull() && v.AsString() == s
}
