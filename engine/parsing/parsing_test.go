package parsing

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sort"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A shape is a way to nest things: head, then open n times, middle, then close n times.
type shape struct{ head, open, middle, close string }

func (s shape) text(n int) []byte {
	return []byte(s.head + strings.Repeat(s.open, n) + s.middle + strings.Repeat(s.close, n))
}

// Each of these overflows the stack of HCL's parser, or of a walk over what it returns,
// at some depth.
var (
	expressions = map[string]shape{
		"parentheses":            {"", "(", "1", ")"},
		"unclosed":               {"", "(", "", ""},
		"lists":                  {"", "[", "", "]"},
		"for lists":              {"", "[for x in ", "y", ": x]"},
		"for objects":            {"", "{for\nx in y : x => ", "1", "\n}"},
		"objects":                {"", "{\na = ", "1", "\n}"},
		"object keys":            {"", "{(", "a", ") = 1}"},
		"calls":                  {"", "f(", "", ")"},
		"calls, many lines":      {"", "f(1,\n", "2", "\n)"},
		"not":                    {"", "!", "true", ""},
		"minus":                  {"", "-", "1", ""},
		"minus, many lines":      {"", "-\n", "1", ""},
		"double minus":           {"", "- -(", "1", ")"},
		"conditionals":           {"", "a ? b : ", "c", ""},
		"conditions within":      {"", "a ? ", "1", " : 2"},
		"conditional lines":      {"", "a ?\nb # and so on\n: ", "c", ""},
		"plus":                   {"", "1 + ", "1", ""},
		"minus between":          {"", "1 - ", "1", ""},
		"and, or":                {"", "a && b || ", "c", ""},
		"comparisons":            {"", "a == b != ", "c", ""},
		"indices":                {"a", "[b]", "", ""},
		"splats":                 {"a", "[*]", "", ""},
		"old splats":             {"a", ".*.b", "", ""},
		"templates":              {"", `"${`, "1", `}"`},
		"unclosed quotes":        {"", `"${`, "", ""},
		"if in a template":       {`"`, "%{ if a }", "1", "%{ endif }\""},
		"if, unclosed":           {`"`, "%{ if a }", "1", ""},
		"if and endfor":          {`"`, "%{ if a }%{ if a }%{ endfor }", "1", "%{ endif }"},
		"for in a template":      {`"`, "%{ for x in y ~}", "1", "%{ endfor }"},
		"for objects, for lines": {"{ for k, v in x :\n k => ", "a ?\nb :\n", "c", "}"},
		"closers of others":      {"", "([", "}", ")"},
		"closers in text":        {"", `[")]}", `, "", "]"},
		"closers in comments":    {"", "[ # ]\n /* ] */", "", "]"},
		"after an error":         {"", `"${(, }" ) "${`, "", ""},
	}
	files = map[string]shape{
		"arguments":        {"x = ", "!", "1", ""},
		"blocks":           {"", "b {\n", "", "}\n"},
		"blocks, one line": {"", "b { ", "", "}\n"},
		"labels":           {"", "b \"l\" {\n", "", "}\n"},
		"heredocs":         {"x = ", "<<E\n${", "1", "}\nE\n"},
		"flush heredocs":   {"x = ", "[<<-E\n  ${", "1", "}\nE\n]"},
	}
	jsons = map[string]shape{
		"arrays":           {"", "[", "", "]"},
		"objects":          {"", `{"a":`, "1", "}"},
		"keys":             {"", `{`, "", "}"},
		"unclosed":         {"", `{"a":[`, "", ""},
		"mismatched":       {"", `[`, "", "}"},
		"wrong closers":    {"", `[[}`, "", ""},
		"strings":          {"", `["]\\",`, "", "]"},
		"unclosed strings": {"", "[\"]]]\n,", "", "]"},
		"joined quotes":    {"[\"\u0600\", \",", "[", "", "]"},
		"a template":       {`{"a": "${`, "(", "1", `)}"}`},
		"an escaped one":   {`{"a": "\u0024\u007b`, `\u0028`, "1", `)}"}`},
		"a key":            {`{"${`, "!", "1", `}": 1}`},
	}
)

// shapes calls f for each shape with a function that parses it.
func shapes(f func(name string, s shape, parse func(src []byte) hcl.Diagnostics)) {
	expression := func(src []byte) hcl.Diagnostics { _, ds := Expression(src, "x", hcl.InitialPos); return ds }
	file := func(src []byte) hcl.Diagnostics { _, ds := Config(src, "x.tf"); return ds }
	template := func(src []byte) hcl.Diagnostics { _, ds := Template(src, "x.tmpl"); return ds }
	inJSON := func(src []byte) hcl.Diagnostics { _, ds := JSON(src, "x.tf.json"); return ds }
	for name, s := range expressions {
		f("expression "+name, s, expression)
		f("argument "+name, shape{"x = (" + s.head, s.open, s.middle, s.close}, file)
		if !strings.Contains(s.open, "\"") {
			f("template "+name, shape{"${" + s.head, s.open, s.middle, s.close + "}"}, template)
		}
	}
	for name, s := range files {
		f("file "+name, s, file)
	}
	for name, s := range jsons {
		f("json "+name, s, inJSON)
	}
}

// deep is how often a shape is repeated: a million times, if it is short.
func (s shape) deep() int { return min(1_000_000, 1_000_000/len(s.open)) }

// TestDeep parses what is nested as deep as nobody writes it. Without the check, most of
// these end the process.
func TestDeep(t *testing.T) {
	t.Parallel()
	shapes(func(name string, s shape, parse func([]byte) hcl.Diagnostics) {
		ds := parse(s.text(s.deep()))
		if len(ds) != 1 || ds[0].Summary != "Nested too deep" || ds[0].Subject == nil || ds[0].Subject.Filename == "" {
			t.Errorf("%s: %d diagnostics, the first %v", name, len(ds), ds[:min(len(ds), 1)])
		}
	})
}

// smallStack is what the deepest of what is let through has to be content with: a
// stack that grows beyond it ends the test's process.
const smallStack = 32 << 20

// TestLimit parses, walks and evaluates the deepest of each shape that is let through.
func TestLimit(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(smallStack))
	deepest := func(s shape, check func(src []byte) *hcl.Diagnostic) int {
		return sort.Search(MaxDepth*level, func(n int) bool { return check(s.text(n)) != nil }) - 1
	}
	for name, s := range expressions {
		n := deepest(s, func(src []byte) *hcl.Diagnostic {
			return depthOf(src, "x", hcl.InitialPos, expressionText, MaxDepth)
		})
		if n < MaxDepth/5 {
			t.Errorf("%s: only %d of them are let through", name, n)
		}
		useExpression(s.text(n))
	}
	for name, s := range files {
		n := deepest(s, func(src []byte) *hcl.Diagnostic {
			return depthOf(src, "x", hcl.InitialPos, fileText, MaxDepth)
		})
		if n < MaxDepth/5 {
			t.Errorf("%s: only %d of them are let through", name, n)
		}
		useFile(Config(s.text(n), "x"))
	}
	for _, s := range jsons {
		useFile(JSON(s.text(deepest(s, func(src []byte) *hcl.Diagnostic { return depthJSON(src, "x", MaxDepth) })), "x"))
	}
}

func refuses(ds hcl.Diagnostics) bool { return len(ds) == 1 && ds[0].Summary == "Nested too deep" }

// unknowns are the values of the names in the shapes.
var unknowns = &hcl.EvalContext{Variables: map[string]cty.Value{"a": cty.DynamicVal, "b": cty.DynamicVal, "c": cty.DynamicVal, "x": cty.DynamicVal, "y": cty.DynamicVal}}

// useExpression does with a text what happens to expressions, whatever it is.
func useExpression(src []byte) {
	e, _ := Expression(src, "x", hcl.InitialPos)
	e.Variables()
	if !bytes.Contains(src, []byte("[*]")) { // HCL takes 2^n steps for n of them
		_, _ = e.Value(unknowns)
	}
}

func useFile(f *hcl.File, _ hcl.Diagnostics) {
	attrs, _ := f.Body.JustAttributes()
	for _, a := range attrs {
		a.Expr.Variables()
		_ = Quoted(a.Expr)
	}
	if n, ok := f.Body.(*hclsyntax.Body); ok {
		_ = hclsyntax.VisitAll(n, func(hclsyntax.Node) hcl.Diagnostics { return nil })
	}
}

// FuzzDepth looks for a shape that is let through although the parser recurses.
func FuzzDepth(f *testing.F) {
	for _, list := range []map[string]shape{expressions, files, jsons} {
		for _, s := range list {
			f.Add(s.head, s.open, s.middle, s.close)
		}
	}
	f.Fuzz(func(t *testing.T, head, open, middle, end string) {
		defer debug.SetMaxStack(debug.SetMaxStack(smallStack))
		s := shape{head, open, middle, end}
		if len(open)+len(end) < 100 {
			src := s.text(3000)
			_, _ = Expression(src, "x", hcl.InitialPos)
			_, _ = Config(src, "x.tf")
			_, _ = JSON(src, "x.tf.json")
		}
	})
}

// TestFlat parses what is long and not deep.
func TestFlat(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"arguments":       strings.Repeat("a = !b[0] ? -1 : c[0][1] # -\n", 5000),
		"blocks":          strings.Repeat("b \"l\" {\n  x = [{ y = -1 }, \"${z}-${z}\"]\n}\n", 5000),
		"lists":           "a = [\n" + strings.Repeat("[1, -1, !x, y[0], a ? b : c],\n", 5000) + "]\n",
		"objects":         "a = {\n" + strings.Repeat("b = [-1]\n", 5000) + strings.Repeat("c = { d = !e }, ", 5000) + "}\n",
		"objects' colons": "a = {\n" + strings.Repeat("b : c[0] ? d : e\n", 5000) + "}\n",
		"interpolations":  "a = \"" + strings.Repeat("${b ? c : d}", 5000) + "\"\n",
		"directives":      "a = <<E\n" + strings.Repeat("%{ if a }b%{ else }c%{ endif }%{ for x in y }x%{ endfor }\n", 5000) + "E\n",
		"a long sum":      "a = " + strings.Repeat("b[0] + !c * -1 - ", 2000) + "0\n",
		"text":            "a = \"" + strings.Repeat("([{ -!? ", 5000) + "\"\n",
		"comments":        strings.Repeat("# ([{ ???\n/* ((( */\n", 5000),
	} {
		if _, ds := Config([]byte(src), "x.tf"); refuses(ds) {
			t.Errorf("%s: %v", name, ds)
		}
	}
	text := `{"a": [` + strings.Repeat(`{"b": "[[[[${c}(((("}, [1], `, 5000) + `1]}`
	if _, ds := JSON([]byte(text), "x.tf.json"); ds.HasErrors() {
		t.Error(ds)
	}
}

// TestPlace holds where a message points to.
func TestPlace(t *testing.T) {
	t.Parallel()
	_, ds := Config([]byte("# ok\nx = "+strings.Repeat("(\n", 2000)), "x.tf")
	if got, want := ds[0].Subject.String(), "x.tf:1002,1-2"; got != want {
		t.Errorf("native: %s, want %s", got, want)
	}
	_, ds = JSON([]byte("{\n\"ä\": \"${"+strings.Repeat("(", 2000)+"\"}"), "x.tf.json")
	if got, want := ds[0].Subject.String(), "x.tf.json:2,6-2010"; got != want {
		t.Errorf("json: %s, want %s", got, want)
	}
}

// TestOnlyHere holds that no other package calls HCL's parsers.
func TestOnlyHere(t *testing.T) {
	t.Parallel()
	parsers := regexp.MustCompile(`\b(hclsyntax\.Parse(Config|Expression|Template)|hclsimple\.|hclparse\.|[\s(]json\.Parse(Expression|WithStartPos)?\(|hclwrite\.ParseConfig)`)
	root := filepath.Join("..", "..")
	allowed := map[string]string{
		"cmd/lockstep/internal/authoring/fmt.go": "hclwrite.ParseConfig", // of what was parsed before
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return cmp.Or(err, fs.SkipDir)
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") || strings.HasPrefix(name, "engine/parsing/") {
			return nil
		}
		src, err := os.ReadFile(path)
		seen++
		for _, call := range parsers.FindAllString(string(src), -1) {
			if allowed[name] != strings.TrimSpace(call) {
				t.Errorf("%s calls %s: texts are parsed by package parsing, which refuses what ends the process", name, call)
			}
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files were looked at: %v", seen, err)
	}
}

// BenchmarkCheck compares the check with the parser.
func BenchmarkCheck(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "resource \"terraform_data\" \"r%d\" {\n  input = \"value-${var.x}-%d\"\n}\n", i, i)
	}
	src := []byte(text.String())
	b.Run("parse", func(b *testing.B) {
		for range b.N {
			hclsyntax.ParseConfig(src, "x.tf", hcl.InitialPos)
		}
	})
	b.Run("check", func(b *testing.B) {
		for range b.N {
			depthOf(src, "x.tf", hcl.InitialPos, fileText, MaxDepth)
		}
	})
	b.Run("bound", func(b *testing.B) {
		for range b.N {
			atMost(src)
		}
	})
}
