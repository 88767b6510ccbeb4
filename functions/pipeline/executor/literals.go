package executor

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// maxLiterals is the maximum number of changed lines that a look for drift proposes. It is also the maximum
// number of reasons why other lines are not proposed.
const maxLiterals = 50

// literals returns the changes of the configuration that keep drift: the lines whose literals get the present values of
// objects. A changed attribute has such a line if its expression is a literal, and if its resource block is in the root
// module and has one instance. All other attributes are left out, with the reason. An attribute whose drift the settings
// ignore is left out without a reason.
func (o *checkout) literals(plan *plans.Plan, hide *secrets) (out comment.Literals) {
	if o.Config == nil || o.unit != nil || o.job.Dir == "" {
		return out
	}
	w := literalWriter{resources: o.Config.Root.Content.Resources, ignored: o.job.IgnoredDrift, read: func(name string) ([]byte, error) {
		return fs.ReadFile(o.root.FS(), path.Join(o.job.Dir, name))
	}}
	for _, c := range plan.Drift {
		w.change(c)
	}
	all := w.Lines
	w.Lines = nil
	for _, l := range all {
		l.Path = path.Join(o.job.Dir, l.Path)
		if hide.From(l.Before) != l.Before || hide.From(l.After) != l.After {
			w.leave(fmt.Sprintf("line %d of %s", l.Line, l.Path), "it contains a secret")
			continue
		}
		w.Lines = append(w.Lines, l)
	}
	for i, text := range w.Left {
		w.Left[i] = hide.From(text)
	}
	return w.Literals
}

type literalWriter struct {
	comment.Literals
	resources map[addrs.Resource]*config.Resource
	ignored   []project.IgnoredDrift // the rules for drift that stays as it is
	read      func(name string) ([]byte, error)
}

// leave notes an attribute or an object that is left out.
func (w *literalWriter) leave(what, why string) {
	if w.Left = append(w.Left, what+": "+why); len(w.Left) > maxLiterals {
		w.Left = w.Left[:maxLiterals]
		w.More++
	}
}

func (w *literalWriter) change(c *plans.ResourceChange) {
	at := c.Addr.Instance
	r := w.resources[at.Resource.Resource]
	switch {
	case c.Action == plans.Delete || c.Addr.Deposed != "":
		w.leave(c.Addr.String(), "the object is gone")
	case !at.Module.IsRoot():
		w.leave(c.Addr.String(), "it is in a module")
	case at.Resource.Key != addrs.NoKey:
		w.leave(c.Addr.String(), "its block has several instances")
	case r == nil:
		w.leave(c.Addr.String(), "the configuration does not have it")
	default:
		object := driftedObject(c)
		for _, name := range object.Changed {
			if object.Changed = [][]string{name}; project.IgnoresDrift(w.ignored, object) {
				continue
			}
			if why := w.attribute(r, c, name); why != "" {
				w.leave(c.Addr.String()+"."+strings.Join(shownPath(c, name), "."), why)
			}
		}
	}
}

// shownPath returns the part of a changed path that people may read: only the attribute if its value is sensitive, because the keys of a
// map may be secrets, too.
func shownPath(c *plans.ResourceChange, at []string) []string {
	if len(at) > 1 && (c.Before.GetAttr(at[0]).ContainsMarked() || c.After.GetAttr(at[0]).ContainsMarked()) {
		return at[:1]
	}
	return at
}

// attribute adds the line of one attribute. If there can be no such line, why is the reason. An attribute that the
// configuration does not set needs no line: the object keeps its value anyway.
func (w *literalWriter) attribute(r *config.Resource, c *plans.ResourceChange, at []string) (why string) {
	if len(at) != 1 {
		return "it is a part of an attribute"
	}
	content, _, ds := r.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: at[0]}}})
	if content == nil || content.Attributes[at[0]] == nil || ds.HasErrors() {
		return ""
	}
	x := content.Attributes[at[0]].Expr
	before, after := c.Before.GetAttr(at[0]), c.After.GetAttr(at[0])
	if before.ContainsMarked() || after.ContainsMarked() {
		return "it is sensitive"
	}
	if !isLiteral(x) {
		return "its expression is no literal"
	}
	v, ds := x.Value(nil)
	v, err := convert.Convert(v, before.Type())
	switch {
	case ds.HasErrors() || err != nil || !before.Type().IsPrimitiveType() || !after.IsKnown() || after.IsNull():
		return "its value is no text, number or boolean"
	case v.RawEquals(after):
		return ""
	case !v.RawEquals(before):
		return "the configuration has another value, which is not applied"
	}
	if strings.ContainsAny(fmt.Sprint(after.GoString()), "\n\r") || after.Type() == cty.String && strings.ContainsAny(after.AsString(), "\n\r") {
		return "its value has several lines"
	}
	return w.line(x.Range(), hclwrite.TokensForValue(after).Bytes())
}

// isLiteral reports whether an expression is one text, number or boolean on one line.
func isLiteral(x hcl.Expression) bool {
	if r := x.Range(); r.Start.Line != r.End.Line {
		return false
	}
	switch x := x.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return x.IsStringLiteral()
	}
	return false
}

// line adds a line, in which text replaces the range at.
func (w *literalWriter) line(at hcl.Range, text []byte) (why string) {
	src, err := w.read(at.Filename)
	if err != nil || at.End.Byte > len(src) {
		return "its file cannot be read"
	}
	begin := bytes.LastIndexByte(src[:at.Start.Byte], '\n') + 1
	end := len(src)
	if i := bytes.IndexByte(src[at.End.Byte:], '\n'); i >= 0 {
		end = at.End.Byte + i
	}
	if len(w.Lines) == maxLiterals {
		w.More++
		return ""
	}
	w.Lines = append(w.Lines, comment.LiteralLine{
		Path: at.Filename, Line: at.Start.Line, Before: strings.TrimRight(string(src[begin:end]), "\r"),
		After: strings.TrimRight(string(src[begin:at.Start.Byte])+string(text)+string(src[at.End.Byte:end]), "\r"),
	})
	return ""
}
