package project

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// syntax has the expressions of one module's files, with override files merged as when the module is loaded.
type syntax struct {
	calls    []placed // all calls of functions
	mentions []placed // what providers see
	locals   map[string]hclsyntax.Expression
	inputs   map[string]map[string]hclsyntax.Expression // arguments of module blocks, by the names of the block and the argument
	remote   []map[string]hclsyntax.Expression          // arguments of data sources that read other states
}

// A placed is a node with the for_each of its block. The field each is nil if the block has no for_each.
type placed struct {
	node hclsyntax.Node
	each hclsyntax.Expression
}

// in returns the syntax of the module in a directory.
func (r *staticReader) in(dir string) *syntax {
	if s := r.dirs[dir]; s != nil {
		return s
	}
	s := &syntax{locals: map[string]hclsyntax.Expression{}, inputs: map[string]map[string]hclsyntax.Expression{}}
	r.dirs[dir] = s
	var primary, overrides []string
	for _, name := range slices.Sorted(maps.Keys(r.cfg.Files)) {
		stem := strings.TrimSuffix(path.Base(name), ".json")
		stem = strings.TrimSuffix(stem, path.Ext(stem))
		switch {
		case path.Dir(name) != dir:
		case stem == "override" || strings.HasSuffix(stem, "_override"):
			overrides = append(overrides, name)
		default:
			primary = append(primary, name)
		}
	}
	for _, name := range append(primary, overrides...) {
		src := r.cfg.Files[name].Bytes
		if strings.HasSuffix(name, ".json") {
			s.json(src, name)
		} else if b := parsing.Syntax(src, name); b != nil {
			for _, x := range b.Blocks {
				s.block(x)
			}
		}
	}
	return s
}

// block adds the expressions in a block.
func (s *syntax) block(x *hclsyntax.Block) {
	args := map[string]hclsyntax.Expression{}
	for n, a := range x.Body.Attributes {
		args[n] = a.Expr
	}
	s.called(x, args["for_each"])
	switch {
	case x.Type == "locals":
		maps.Copy(s.locals, args)
	case x.Type == "module" && len(x.Labels) == 1:
		s.input(x.Labels[0], args)
	case provided(x.Type):
		if x.Type == "data" && len(x.Labels) == 2 && x.Labels[0] == remoteState {
			s.remote = append(s.remote, args)
		}
		s.mentions = append(s.mentions, placed{x.Body, args["for_each"]})
	}
}

// provided reports whether a provider sees the content of a type of block.
func provided(blockType string) bool {
	return slices.Contains([]string{"resource", "data", "ephemeral", "provider"}, blockType)
}

// input sets arguments of a module call. It replaces earlier ones with the same name.
func (s *syntax) input(call string, args map[string]hclsyntax.Expression) {
	if s.inputs[call] == nil {
		s.inputs[call] = map[string]hclsyntax.Expression{}
	}
	maps.Copy(s.inputs[call], args)
}

// called adds the function calls in a node.
func (s *syntax) called(n hclsyntax.Node, each hclsyntax.Expression) {
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, is := n.(*hclsyntax.FunctionCallExpr); is {
			s.calls = append(s.calls, placed{call, each})
		}
		return nil
	})
}

// json adds the blocks of a JSON file.
func (s *syntax) json(src []byte, name string) {
	if !json.Valid(src) { // which bounds the depth, too
		return
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	eachObject(expression(d, name), func(blockType string, x hclsyntax.Expression) {
		switch {
		case blockType == "locals":
			s.called(x, nil)
			eachObject(x, func(n string, x hclsyntax.Expression) { s.locals[n] = x })
		case blockType == "module":
			eachObject(x, func(call string, body hclsyntax.Expression) {
				args := map[string]hclsyntax.Expression{}
				eachObject(body, func(n string, x hclsyntax.Expression) { args[n] = x })
				s.called(body, args["for_each"])
				s.input(call, args)
			})
		case blockType == "resource" || blockType == "data" || blockType == "ephemeral":
			eachObject(x, func(kind string, x hclsyntax.Expression) {
				eachObject(x, func(_ string, body hclsyntax.Expression) {
					args := map[string]hclsyntax.Expression{}
					eachObject(body, func(n string, x hclsyntax.Expression) { args[n] = x })
					if blockType == "data" && kind == remoteState {
						s.remote = append(s.remote, args)
					}
					each := args["for_each"]
					s.called(body, each)
					eachObject(body, func(n string, x hclsyntax.Expression) {
						if n != "provisioner" && n != "connection" {
							s.mentions = append(s.mentions, placed{x, each})
						}
					})
				})
			})
		default:
			s.called(x, nil)
			if provided(blockType) {
				s.mentions = append(s.mentions, placed{x, nil})
			}
		}
	})
}

// eachObject calls f for each attribute of an object, or of the objects in a list. In JSON, blocks have these
// two forms.
func eachObject(x hclsyntax.Expression, f func(name string, x hclsyntax.Expression)) {
	switch x := x.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range x.Items {
			f(item.KeyExpr.(*hclsyntax.LiteralValueExpr).Val.AsString(), item.ValueExpr)
		}
	case *hclsyntax.TupleConsExpr:
		for _, e := range x.Exprs {
			eachObject(e, f)
		}
	}
}

// expression reads a valid JSON value as an expression. Its strings are templates.
func expression(d *json.Decoder, name string) hclsyntax.Expression {
	t, _ := d.Token()
	switch t := t.(type) {
	case json.Delim:
		list, object := &hclsyntax.TupleConsExpr{}, &hclsyntax.ObjectConsExpr{}
		for d.More() {
			if t == '[' {
				list.Exprs = append(list.Exprs, expression(d, name))
				continue
			}
			key, _ := d.Token()
			k, _ := key.(string)
			object.Items = append(object.Items, hclsyntax.ObjectConsItem{
				KeyExpr: &hclsyntax.LiteralValueExpr{Val: cty.StringVal(k)}, ValueExpr: expression(d, name),
			})
		}
		_, _ = d.Token()
		if t == '[' {
			return list
		}
		return object
	case string:
		if !strings.Contains(t, "${") && !strings.Contains(t, "%{") {
			return &hclsyntax.LiteralValueExpr{Val: cty.StringVal(t)}
		}
		if x, ds := parsing.TemplateTree([]byte(t), name); !ds.HasErrors() {
			return x
		}
	case json.Number:
		return &hclsyntax.LiteralValueExpr{Val: cty.StringVal(t.String())}
	}
	return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal}
}
