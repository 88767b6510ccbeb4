package render

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// TestNamesAboveTheFoldAreCode holds that the names of what is destroyed, which stand
// outside of any code block, are code to a reader of Markdown, whatever is in them.
func TestNamesAboveTheFoldAreCode(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"plain", "` @evil `", "``@evil``", "`", "a`b", "<b>", "</details>", "![x](https://evil.example/x)", "*bold* _it_", "a\n\n# b"} {
		block := &schema.Block{Attributes: map[string]*schema.Attribute{"a": {Type: cty.String, Optional: true}}}
		at := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: "n"}}.Instance(addrs.StringKey(key))
		c := &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: at}, PrevAddr: at, Schema: &schema.Schema{Block: block}}
		c.Action, c.Before, c.After = plans.Delete, cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")}), block.NullValue()
		md := PlanMarkdown(&plans.Plan{Mode: plans.NormalMode, Complete: true, Applyable: true, Changes: []*plans.ResourceChange{c}}, nil)
		src := []byte(md[strings.Index(md, "Destroys or replaces"):strings.Index(md, "<details")])
		code, plain := "", ""
		doc := goldmark.DefaultParser().Parse(gmtext.NewReader(src))
		ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch x := n.(type) {
			case *ast.CodeSpan:
				if entering {
					code += spanText(x, src)
				}
				return ast.WalkSkipChildren, nil
			case *ast.Text:
				if entering {
					plain += string(x.Segment.Value(src))
				}
			case *ast.Document, *ast.Paragraph:
			default:
				t.Errorf("%q becomes %s", key, n.Kind())
			}
			return ast.WalkContinue, nil
		})
		if plain != "Destroys or replaces ." || code != at.String() {
			t.Errorf("%q: the text is %q, the code %q:\n%s", key, plain, code, src)
		}
	}
}

func spanText(span ast.Node, src []byte) string {
	out := ""
	for c := span.FirstChild(); c != nil; c = c.NextSibling() {
		out += string(c.(*ast.Text).Segment.Value(src))
	}
	return out
}
