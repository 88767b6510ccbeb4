package risks

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// A policy is a text of JSON. If one ARN in it is not known, the plan does not show the text at all. The
// configuration often shows the rest: in a call of jsonencode, or in a data source whose read waits for the apply. A
// sketch is the JSON of such a policy, with [hidden] in the place of each part that is not known.

// hidden is the text in a sketch for a part that is not known. A policy that already contains this text counts as
// not known.
const hidden = "\u0000hidden"

// maxSketch is the maximum number of values in a sketch.
const maxSketch = 20_000

// sketch returns the sketch of an attribute of an object; ok is false if there is none.
func (in Input) sketch(i addrs.AbsResourceInstance, name string) (text string, ok bool) {
	r := in.block(i)
	if r == nil {
		return "", false
	}
	var doc any
	switch x := unwrapped(refs.Argument(r.Body, name)).(type) {
	case *hclsyntax.FunctionCallExpr:
		if strings.TrimPrefix(x.Name, "core::") != "jsonencode" || len(x.Args) != 1 || x.ExpandFinal {
			return "", false
		}
		left := maxSketch
		doc = literal(x.Args[0], &left, 0)
	case *hclsyntax.ScopeTraversalExpr:
		source := in.document(i.Module, x)
		if source == nil {
			return "", false
		}
		doc = statements(source)
	default:
		return "", false
	}
	data, err := json.Marshal(doc)
	return string(data), err == nil
}

// unwrapped returns an expression without what package parsing has put around it.
func unwrapped(x hcl.Expression) hcl.Expression {
	if x == nil {
		return nil
	}
	return hcl.UnwrapExpression(x)
}

// literal returns the value of an expression as far as it is written there. left is the number of values that may
// still be read.
func literal(x hcl.Expression, left *int, depth int) any {
	if *left--; *left < 0 || depth > maxNesting {
		return hidden
	}
	switch x := unwrapped(x).(type) {
	case *hclsyntax.ParenthesesExpr:
		return literal(x.Expression, left, depth+1)
	case *hclsyntax.TupleConsExpr:
		list := []any{}
		for _, e := range x.Exprs {
			list = append(list, literal(e, left, depth+1))
		}
		return list
	case *hclsyntax.ObjectConsExpr:
		object := map[string]any{}
		for _, item := range x.Items {
			key, ds := item.KeyExpr.Value(nil)
			if ds.HasErrors() || !key.IsKnown() || key.IsNull() || key.Type() != cty.String {
				return hidden
			}
			object[key.AsString()] = literal(item.ValueExpr, left, depth+1)
		}
		return object
	case *hclsyntax.LiteralValueExpr:
		return plain(x.Val)
	case *hclsyntax.TemplateExpr: // No other part of the template is evaluated, because a loop in it could take for ever.
		var b strings.Builder
		for _, p := range x.Parts {
			l, is := unwrapped(p).(*hclsyntax.LiteralValueExpr)
			if !is {
				return hidden
			}
			s, known := textOf(l.Val)
			if !known {
				return hidden
			}
			b.WriteString(s)
		}
		return b.String()
	}
	return hidden
}

// plain returns a text or a truth as JSON has it.
func plain(v cty.Value) any {
	switch {
	case !v.IsKnown():
		return hidden
	case v.IsNull():
		return nil
	case v.Type() == cty.Bool:
		return v.True()
	}
	if s, known := textOf(v); known {
		return s
	}
	return hidden
}

// document returns the planned data source aws_iam_policy_document, if the expression is exactly the JSON of this
// data source. It returns nil for any other expression.
func (in Input) document(module addrs.ModuleInstance, x *hclsyntax.ScopeTraversalExpr) object {
	steps, err := refs.Path(x.Traversal)
	if err != nil || len(steps) != 4 {
		return nil
	}
	var names []string
	for _, s := range steps {
		step, _ := s.(cty.GetAttrStep)
		names = append(names, step.Name)
	}
	if names[0] != "data" || names[1] != "aws_iam_policy_document" || names[3] != "json" {
		return nil
	}
	at := addrs.AbsResource{Module: module, Resource: addrs.Resource{Mode: addrs.Data, Type: names[1], Name: names[2]}}.Instance(addrs.NoKey)
	c := in.reads[at]
	if c == nil {
		return nil
	}
	out := object{}
	for _, n := range []string{"statement", "source_policy_documents", "override_policy_documents", "source_json", "override_json"} {
		out[n] = concealed(attribute(c.After, n))
	}
	return out
}

// statements returns the policy that a data source aws_iam_policy_document makes. Source:
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs/data-sources/iam_policy_document
func statements(source object) any {
	for _, n := range []string{"source_policy_documents", "override_policy_documents", "source_json", "override_json"} {
		if list, known := source.all(n); !known || len(list) > 0 || !source[n].IsNull() && source[n].Type() == cty.String {
			return hidden
		}
	}
	blocks, known := source.blocks("statement")
	if !known {
		return hidden
	}
	var list []any
	for _, b := range blocks {
		s := map[string]any{"Effect": "Allow"}
		if effect, known := b.text("effect"); !known {
			s["Effect"] = hidden
		} else if effect != "" {
			s["Effect"] = effect
		}
		for name, element := range map[string]string{"actions": "Action", "not_actions": "NotAction", "resources": "Resource", "not_resources": "NotResource"} {
			if texts := elements(b, name); len(texts) > 0 {
				s[element] = texts
			}
		}
		for name, element := range map[string]string{"principals": "Principal", "not_principals": "NotPrincipal"} {
			if of := parts(b, name, "type", "", "identifiers"); of != nil {
				s[element] = of
			}
		}
		if of := parts(b, "condition", "test", "variable", "values"); of != nil {
			s["Condition"] = of
		}
		list = append(list, s)
	}
	return map[string]any{"Statement": list}
}

// elements returns the texts of a list.
func elements(o object, name string) []any {
	list, known := o.all(name)
	if !known {
		return []any{hidden}
	}
	var out []any
	for _, v := range list {
		out = append(out, plain(v))
	}
	return out
}

// parts returns the blocks of a type as an object: the texts of each block, under the values of one or two of its
// attributes. It returns nil if there are no blocks.
func parts(o object, kind, by, then, texts string) any {
	list, known := o.blocks(kind)
	if !known {
		return hidden
	}
	var out map[string]any
	for _, x := range list {
		key, known := x.text(by)
		if !known {
			return hidden
		}
		if out == nil {
			out = map[string]any{}
		}
		to := out
		if then != "" {
			if to, _ = out[key].(map[string]any); to == nil {
				to = map[string]any{}
				out[key] = to
			}
			if key, known = x.text(then); !known {
				return hidden
			}
		}
		before, _ := to[key].([]any)
		to[key] = append(before, elements(x, texts)...)
	}
	if out == nil {
		return nil
	}
	return out
}
