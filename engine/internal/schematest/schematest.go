// Package schematest is a notation for schemas and their values, for tests. A schema takes a few lines. A
// value is an HCL expression with only the attributes that matter.
//
//	id     string computed
//	name   string required
//	tags   map(string) optional
//	secret string optional sensitive
//	spec   single optional {
//	  size number required
//	}
//	disk   block list 0..2 {
//	  gb number optional
//	}
//
// Each line is an attribute or a block. An attribute has a name, a type as in a variable block (or single,
// list, set or map and a body, for nested attributes), and flags: required, optional, computed, sensitive,
// wo, deprecated. A block has a name, the word block, a nesting (one of the above, or group), and optionally
// the least and largest number of blocks. # begins a comment.
//
// It refuses to know what the schemas are for. Start at [Block] and [Value].
package schematest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Block returns the schema that text describes. The test fails if text is invalid.
func Block(t testing.TB, text string) *schema.Block {
	t.Helper()
	b, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Parse returns the schema that text describes.
func Parse(text string) (*schema.Block, error) {
	p := &parser{lines: strings.Split(text, "\n")}
	b, err := p.body(false)
	if err != nil {
		return nil, fmt.Errorf("schema line %d: %w", p.at, err)
	}
	return b, nil
}

type parser struct {
	lines []string
	at    int
}

// body reads lines up to a closing brace; if braced is false, up to the end.
func (p *parser) body(braced bool) (*schema.Block, error) {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{}, Blocks: map[string]*schema.NestedBlock{}}
	for p.at < len(p.lines) {
		line, _, _ := strings.Cut(p.lines[p.at], "#")
		words := strings.Fields(line)
		p.at++
		switch {
		case len(words) == 0:
			continue
		case words[0] == "}" && braced:
			return b, nil
		case words[0] == "}":
			return nil, fmt.Errorf("a } too many")
		case len(words) > 1 && words[1] == "block":
			n, err := p.block(words[2:])
			if err != nil {
				return nil, err
			}
			b.Blocks[words[0]] = n
		default:
			a, err := p.attribute(words[1:])
			if err != nil {
				return nil, err
			}
			b.Attributes[words[0]] = a
		}
	}
	if braced {
		return nil, fmt.Errorf("a } too few")
	}
	return b, nil
}

var nestings = map[string]schema.Nesting{
	"single": schema.NestingSingle, "group": schema.NestingGroup,
	"list": schema.NestingList, "set": schema.NestingSet, "map": schema.NestingMap,
}

// block reads the words after `name block`, and the body.
func (p *parser) block(words []string) (*schema.NestedBlock, error) {
	if len(words) < 2 || words[len(words)-1] != "{" || nestings[words[0]] == 0 {
		return nil, fmt.Errorf("want `name block NESTING [MIN..MAX] {`")
	}
	n := &schema.NestedBlock{Nesting: nestings[words[0]]}
	if len(words) == 3 {
		least, most, ok := strings.Cut(words[1], "..")
		var err1, err2 error
		n.MinItems, err1 = strconv.Atoi(least)
		n.MaxItems, err2 = strconv.Atoi(most)
		if !ok || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("want MIN..MAX rather than %s", words[1])
		}
	}
	var err error
	n.Block, err = p.body(true)
	return n, err
}

// attribute reads the words after the name, and the body of a nested attribute.
func (p *parser) attribute(words []string) (*schema.Attribute, error) {
	a := &schema.Attribute{}
	nested := len(words) > 0 && words[len(words)-1] == "{"
	if nested {
		words = words[:len(words)-1]
	}
	for len(words) > 0 && setFlag(a, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	what := strings.Join(words, " ")
	if nested {
		b, err := p.body(true)
		if err != nil {
			return nil, err
		}
		a.Nested = &schema.Object{Attributes: b.Attributes, Nesting: nestings[what]}
		return a, nil
	}
	expr, ds := hclsyntax.ParseExpression([]byte(what), "type", hcl.InitialPos)
	if ds.HasErrors() {
		return nil, ds
	}
	var err error
	if a.Type, ds = typeexpr.TypeConstraint(expr); ds.HasErrors() {
		err = ds
	}
	return a, err
}

// Value returns the value of b that text, an HCL expression, describes. The test fails if text is invalid.
// Attributes that are left out are null. Only blocks that are written exist, required or not. Expressions may
// use the variable unknown, the functions sensitive and ephemeral, which add marks, and tolist, toset and
// tomap. An empty text is null.
func Value(t testing.TB, b *schema.Block, text string) cty.Value {
	t.Helper()
	v, err := ParseValue(b, text)
	if err != nil {
		t.Fatalf("value %s: %v", text, err)
	}
	return v
}

// ParseValue returns the same as [Value]. If text is invalid, it returns an error instead of failing a test.
func ParseValue(b *schema.Block, text string) (cty.Value, error) {
	if strings.TrimSpace(text) == "" {
		return b.NullValue(), nil
	}
	expr, ds := hclsyntax.ParseExpression([]byte(strings.TrimSpace(text)), "value", hcl.InitialPos)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, ds := expr.Value(&Context)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	return relaxed(b).Coerce(v)
}

// relaxed returns a copy of b in which nothing is required.
func relaxed(b *schema.Block) *schema.Block {
	out := &schema.Block{Attributes: relaxedAttributes(b.Attributes), Blocks: map[string]*schema.NestedBlock{}}
	for name, n := range b.Blocks {
		out.Blocks[name] = &schema.NestedBlock{Block: relaxed(n.Block), Nesting: n.Nesting}
	}
	return out
}

func relaxedAttributes(attrs map[string]*schema.Attribute) map[string]*schema.Attribute {
	out := map[string]*schema.Attribute{}
	for name, a := range attrs {
		c := &schema.Attribute{Type: a.Type, Optional: true, Computed: true}
		if a.Nested != nil {
			c.Nested = &schema.Object{Attributes: relaxedAttributes(a.Nested.Attributes), Nesting: a.Nested.Nesting}
		}
		out[name] = c
	}
	return out
}
