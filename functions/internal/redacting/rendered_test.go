package redacting

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// alphabet is what secrets of the property are made of: what is escaped by anything, seen
// by nobody, broken at, or part of a margin.
var alphabet = strings.Split("a b c d e f A Z 0 7 9 \" \\ ' ` < > & % $ { } [ ] = + - ~ ! / : , . # é ü 😀 漢", " ")

var unseenOnes = []string{" ", "\n", "\t", "\r\n", "\x00", "\x1b[31m", "\u200b", "\u200d", "\ufeff", "\u202e", "\u00ad", "\u2028", "\ufe0f"}

// randomSecret returns a text; one of five has many characters that nobody sees.
func randomSecret(r *rand.Rand) string {
	var b strings.Builder
	every := 8
	if r.Intn(5) == 0 {
		every = 2
	}
	for range 10 + r.Intn(60) {
		if r.Intn(every) == 0 {
			b.WriteString(unseenOnes[r.Intn(len(unseenOnes))])
		}
		b.WriteString(alphabet[r.Intn(len(alphabet))])
	}
	return cty.NormalizeString(b.String())
}

// leaking returns a plan with the values everywhere where nothing marks them.
func leaking(r *rand.Rand, text, key string, number cty.Value) *plans.Plan {
	encoded, _ := json.Marshal(map[string]any{"deep": []string{text}, text: 1})
	twice, _ := json.Marshal([]string{string(encoded)})
	v := cty.ObjectVal(map[string]cty.Value{
		"text":   cty.StringVal(text),
		"within": cty.StringVal("before " + text + " after"),
		"json":   cty.StringVal(string(encoded)),
		"twice":  cty.StringVal(string(twice)),
		"map":    cty.MapVal(map[string]cty.Value{text: cty.StringVal("x"), key: cty.StringVal("y")}),
		"list":   cty.ListVal([]cty.Value{cty.StringVal("first"), cty.StringVal(text)}),
		"number": number,
		"lines":  cty.StringVal("one\n" + text + "\nthree"),
	})
	block := &schema.Block{Attributes: map[string]*schema.Attribute{}}
	for name, ty := range v.Type().AttributeTypes() {
		block.Attributes[name] = &schema.Attribute{Type: ty, Optional: true}
	}
	other := map[string]cty.Value{}
	for name, x := range v.AsValueMap() {
		other[name] = cty.NullVal(x.Type())
	}
	other["lines"], other["text"] = cty.StringVal("one\nthree\nfour"), cty.StringVal("other")
	a := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: "n"}}.Instance(addrs.StringKey(text))
	c := &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: a}, PrevAddr: a, Schema: &schema.Schema{Block: block}}
	c.Action, c.Before, c.After = plans.Create, block.NullValue(), v
	switch r.Intn(3) {
	case 0:
		c.Action, c.Before = plans.Update, cty.ObjectVal(other)
	case 1:
		c.Action, c.Before, c.After = plans.Delete, v, block.NullValue()
	}
	out := &plans.OutputChange{Name: "all"}
	out.Action, out.Before, out.After = plans.Update, v, cty.ObjectVal(other)
	return &plans.Plan{Mode: plans.NormalMode, Complete: true, Applyable: true, Changes: []*plans.ResourceChange{c}, Drift: []*plans.ResourceChange{c}, Outputs: []*plans.OutputChange{out}}
}

// diagnostic says a text in each of its parts, its source and the values there included.
func diagnostic(text string) string {
	src := []byte("x = " + strconv.Quote(text) + " + var.secret\n# " + text + "\n")
	file, _ := hclsyntax.ParseConfig(src, "main.tf", hcl.InitialPos)
	expr, _ := hclsyntax.ParseExpression([]byte("var.secret"), "main.tf", hcl.InitialPos)
	d := diags.Diagnostic{
		Summary: "No " + text, Detail: "The value is " + text + ", and long enough so that some words of it have to go to the next line.",
		Address: "t.n[" + strconv.Quote(text) + "]", Subject: &hcl.Range{Filename: "main.tf", Start: hcl.InitialPos, End: hcl.Pos{Line: 1, Column: 4, Byte: 3}},
		Expression: expr, EvalContext: &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{"secret": cty.StringVal(text)})}},
	}
	return (&render.Printer{}).Diagnostic(d, map[string]*hcl.File{"main.tf": file})
}

// written returns all texts that people see of the values.
func written(r *rand.Rand, text, key string, number cty.Value) map[string]string {
	p := leaking(r, text, key, number)
	s := rendertest.StateOf(p)
	var plan, state, outputs strings.Builder
	printer := &render.Printer{}
	printer.Plan(&plan, p, nil, nil)
	printer.State(&state, s, nil)
	printer.Outputs(&outputs, s)
	var messages []render.Message
	for _, c := range p.Changes {
		if m, ok := render.PlannedChangeMessage(c); ok {
			messages = append(messages, m)
		}
	}
	events, _ := json.Marshal(append(messages, render.PlannedOutputsMessage(p), render.OutputsMessage(s)))
	return map[string]string{
		"Markdown": render.PlanMarkdown(p, nil), "text": plan.String(), "state": state.String(),
		"outputs": outputs.String(), "events": string(events), "diagnostic": diagnostic(text),
	}
}

// TestRendered holds that random values, which the renderer writes where it does not know
// that they are secret, are in nothing that it writes after.
func TestRendered(t *testing.T) {
	t.Parallel()
	for seed := range int64(120) {
		r := rand.New(rand.NewSource(seed))
		text, key := randomSecret(r), "key-"+strconv.Itoa(r.Int())
		digits := strconv.Itoa(1000 + r.Intn(1e9))
		if r.Intn(3) == 0 {
			digits += "." + strconv.Itoa(1+r.Intn(1e6))
		}
		number := cty.MustParseNumberVal(digits)
		if reduced := reduceAll(text); len(reduced) < 8 || isVocabulary(reduced) {
			continue
		}
		var s Secrets
		s.Text(text)
		s.Key(key)
		s.Number(digits)
		for name, whole := range written(r, text, key, number) {
			got := s.From(whole)
			if what := leak(got, text, key, digits); what != "" {
				t.Fatalf("seed %d: %s shows %s of %q, %q, %s:\n%s\n\nIt was:\n%s", seed, name, what, text, key, digits, got, whole)
			}
			if name != "Markdown" {
				continue
			}
			for _, want := range []string{"**Plan:**", "</details>"} {
				if strings.Count(got, want) != strings.Count(whole, want) {
					t.Fatalf("seed %d: %q is taken out:\n%s", seed, want, got)
				}
			}
		}
	}
}

// leak says what is found in a text, without the means of this package: as it is, without
// blank space and what is not seen, in all forms, and numbers without what groups digits.
func leak(got, text, key, digits string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, got)
	for _, form := range forms {
		x := form.of(text)
		for _, x := range []string{x, strings.Trim(x, `"`)} {
			if strings.Contains(got, x) || strings.Contains(bare, reduceAll(x)) {
				return fmt.Sprintf("%s: %q", form.name, x)
			}
		}
	}
	if strings.Contains(bare, key) {
		return key
	}
	if strings.Contains(strings.NewReplacer(",", "", "_", "").Replace(got), digits) {
		return digits
	}
	return ""
}
