package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A bomb is a small configuration that takes all there is, where nobody stops it.
type bomb struct {
	name  string
	main  string            // main.tf
	files map[string]string // others; they stand in the directory of file functions, too
	// says is the headline, and part of the text, of the diagnostic that ends it.
	says []string
	// at is the line of main.tf that it names; 0: that of another file, or none.
	at int
}

// doubled makes local values that each hold the one before twice.
func doubled(n int, first, format string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locals {\n  l0 = %s\n", first)
	for i := range n {
		fmt.Fprintf(&b, "  l%d = "+format+"\n", i+1, fmt.Sprintf("local.l%d", i))
	}
	b.WriteString("}\n")
	return b.String()
}

// large is a list of 100,000 numbers, local.large, and a text of 1 MB, local.text.
const large = `locals {
  k = range(1000)
  large = flatten([for i in range(100) : local.k])
  text = format("%1000000s", "x")
}
`

const (
	tooLarge = "Value too large"
	tooLong  = "Evaluation takes too long"
)

var bombs = []bomb{
	{"jsondecode of brackets", `locals { x = jsondecode(file("b.json")) }`, map[string]string{"b.json": strings.Repeat("[", 6_000_000)}, []string{tooLarge, "levels deep"}, 1},
	{"jsondecode of objects", `locals { x = jsondecode(file("b.json")) }`, map[string]string{"b.json": strings.Repeat(`{"a":`, 600_000)}, []string{tooLarge, "levels deep"}, 1},
	{"jsondecode of many values", `locals { x = jsondecode(file("b.json")) }`, map[string]string{"b.json": "[" + strings.Repeat("1,", 3_000_000) + "1]"}, []string{tooLarge, "values"}, 1},
	{"jsondecode of a long number", `locals { x = jsondecode(file("b.json")) }`, map[string]string{"b.json": "[" + strings.Repeat("9", 6_000_000) + "]"}, []string{tooLarge, "digits"}, 1},
	{"yamldecode of aliases", `locals { x = yamldecode(file("b.yaml")) }`, map[string]string{"b.yaml": laughs(9)}, []string{"aliases stand for more than"}, 1},
	{"yamldecode of brackets", `locals { x = yamldecode(file("b.yaml")) }`, map[string]string{"b.yaml": strings.Repeat("[", 6_000_000)}, []string{tooLarge}, 1},
	{"yamldecode of dashes", `locals { x = yamldecode(file("b.yaml")) }`, map[string]string{"b.yaml": strings.Repeat("- ", 100_000)}, []string{"max depth"}, 1},
	{"csvdecode of commas", `locals { x = csvdecode(file("b.csv")) }`, map[string]string{"b.csv": "a,b\n" + strings.Repeat(",\n", 1_000_000)}, []string{tooLarge, "values"}, 1},
	{"csvdecode of one long line", `locals { x = csvdecode(file("b.csv")) }`, map[string]string{"b.csv": strings.Repeat("a,", 1_000_000)}, []string{tooLarge, "values"}, 1},
	{"count", "resource \"terraform_data\" \"x\" {\n  count = 10000000\n}", nil, []string{"Too many instances", "10,000,000 instances"}, 2},
	{"counts of modules", "module \"m\" {\n  source = \"./m\"\n  count = 10000\n}", map[string]string{"m/main.tf": "resource \"terraform_data\" \"x\" {\n  count = 10000\n}"}, []string{"Too many instances", "the configuration would have"}, 0},
	{"for_each", large + "resource \"terraform_data\" \"x\" {\n  for_each = { for i, v in local.large : i => v }\n}", nil, []string{"Too many instances", "100,000 instances"}, 7},
	{"format, a width", `locals { x = format("%2000000000s", "x") }`, nil, []string{tooLarge, "The result of format would have 2,000,000,01", "at most 8 MiB"}, 1},
	{"format, a precision", `locals { x = format("%.1000000000f", 1.5) }`, nil, []string{tooLarge, "format"}, 1},
	{"format, many verbs", large + `locals { x = format(join("", [for i in range(1000) : "%[1]s"]), local.text) }`, nil, []string{tooLarge, "format"}, 6},
	{"formatlist", large + `locals { x = formatlist("%s%s", local.large, local.text) }`, nil, []string{tooLarge, "formatlist"}, 6},
	{"setproduct", large + `locals { x = setproduct(local.large, local.large) }`, nil, []string{tooLarge, "The result of setproduct"}, 6},
	{"setproduct of many", `locals { x = setproduct(range(100), range(100), range(100), range(100), range(100)) }`, nil, []string{tooLarge, "setproduct"}, 1},
	{"replace", large + `locals { x = replace(local.text, " ", local.text) }`, nil, []string{tooLarge, "replace"}, 6},
	{"replace of nothing", large + `locals { x = replace(local.text, "", local.text) }`, nil, []string{tooLarge, "replace"}, 6},
	{"replace by groups", large + `locals { x = replace(local.text, "/(.*)/", "$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1") }`, nil, []string{tooLarge, "replace"}, 6},
	{"join", large + `locals { x = join(local.text, local.large) }`, nil, []string{tooLarge, "join"}, 6},
	{"split", `locals { x = split("", replace(format("%1000000s", "x"), " ", "y")) }`, nil, []string{tooLarge, "split"}, 1},
	{"indent", large + `locals { x = indent(100000, replace(local.text, " ", "\n")) }`, nil, []string{tooLarge, "indent"}, 6},
	{"regexall of nothing", large + `locals { x = regexall("", local.text) }`, nil, []string{tooLarge, "regexall"}, 6},
	{"regexall of groups", large + `locals { x = regexall(join("", [for i in range(500) : "()"]), local.text) }`, nil, []string{"regexall"}, 6},
	{"regex, repeated", large + `locals { x = regex(join("", [for i in range(1000) : "(.{1000})"]), local.text) }`, nil, []string{tooLong, "regex"}, 6},
	{"regex, long", large + `locals { x = regex(replace(local.text, " ", "a?"), local.text) }`, nil, []string{tooLarge, "The regular expression"}, 6},
	{"jsonencode", large + `locals { x = jsonencode([for i in range(1000) : local.large]) }`, nil, []string{tooLarge}, 6},
	{"jsonencode of escapes", large + `locals { x = jsonencode([for i in range(10) : replace(local.text, " ", "<")]) }`, nil, []string{tooLarge, "jsonencode"}, 6},
	{"yamlencode of lines", large + `locals { x = yamlencode([for i in range(10) : replace(local.text, " ", "\n")]) }`, nil, []string{tooLarge, "yamlencode"}, 6},
	{"concat", large + `locals { x = concat([for i in range(1000) : local.large]...) }`, nil, []string{tooLarge}, 6},
	{"chunklist", large + `locals { x = [for i in range(10) : chunklist(local.large, 1)] }`, nil, []string{tooLarge}, 6},
	{"transpose", large + `locals { x = transpose({ for i in range(50) : format("%d%s", i, local.text) => local.large }) }`, nil, []string{tooLarge}, 6},
	{"toset of the unknown", `
resource "terraform_data" "a" {
  count = 400
}
locals { x = toset(flatten([for i in range(100) : terraform_data.a[*].id])) }
`, nil, []string{tooLong, "toset"}, 5},
	{"distinct of objects", large + `locals { x = distinct([for i in local.large : { a = i }]) }`, nil, []string{tooLong, "distinct"}, 6},
	{"bcrypt", `output "x" { value = bcrypt("x", 31) }`, nil, []string{tooLong, "bcrypt"}, 1},
	{"rsadecrypt", large + `output "x" { value = rsadecrypt("x", local.text) }`, nil, []string{tooLong, "rsadecrypt"}, 6},
	{"parseint", large + `locals { x = parseint(replace(local.text, " ", "9"), 10) }`, nil, []string{tooLarge, "digits"}, 6},
	{"a text that is a number", large + `locals { x = 1 + format("%0200000d", 1) }`, nil, []string{tooLarge, "digits"}, 6},
	{"a number as text", "locals {\n  x = \"${1e600000000}\"\n}", nil, []string{tooLarge, "digits"}, 2},
	{"floor of a number", `locals { x = floor(1e600000000) % 7 }`, nil, []string{tooLarge, "digits"}, 1},
	{"a small number as text", "locals {\n  x = \"a${1e-600000000}b\"\n}", nil, []string{tooLarge, "digits"}, 2},
	{"a number in JSON", `locals { x = jsonencode(jsondecode("1e600000000")) }`, nil, []string{tooLarge, "digits"}, 1},
	{"base64gunzip", `locals { x = base64gunzip(` + strings.Repeat("base64gzip(", 1) + `format("%8000000s", "x"))) }`, nil, nil, 0},
	{"doubled lists", doubled(40, "1", "[%[2]s, %[2]s]"), nil, []string{tooLarge, "values in it"}, 0},
	{"doubled maps", doubled(40, "1", "{ a = %[2]s, b = %[2]s }"), nil, []string{tooLarge, "values in it"}, 0},
	{"doubled lists of one type", doubled(40, "[1]", "tolist([%[2]s, %[2]s])"), nil, []string{tooLarge, "values in it"}, 0},
	{"doubled texts", doubled(40, `"x"`, `"${%[2]s}${%[2]s}"`), nil, []string{tooLarge, "The text of the template would have"}, 0},
	{"a template of many parts", large + "locals { x = \"" + strings.Repeat("${local.text}", 2000) + "\" }", nil, []string{tooLarge, "The text of the template would have 9,000,000 characters"}, 6},
	{"doubled types", doubled(40, "terraform_data.a.id == \"\" ? [1] : [2]", "terraform_data.a.id == \"\" ? [%[2]s, %[2]s] : [%[2]s, %[2]s]") + "resource \"terraform_data\" \"a\" {}\n", nil, []string{tooLarge}, 0},
	{"doubled in modules", "module \"m\" {\n  source = \"./m\"\n  in = [1, 1]\n}", chainOfModules(30), []string{tooLarge}, 0},
	{"doubled within an expression", "locals { x = " + nested(40, "[for a%[1]d in [", "1", "] : [a%[1]d, a%[1]d]][0]") + " }", nil, []string{tooLarge}, 1},
	{"joined", large + "locals {\n" + joined(10) + "}", nil, []string{tooLarge}, 0},
	{"loops in loops", large + `locals { x = [for a in local.large : a if length([for b in local.large : b if length([for c in local.large : c if c < 0]) > 0]) > 0] }`, nil, []string{tooLong, "steps"}, 6},
	{"loops that keep all", large + `locals { x = [for a in local.large : [for b in local.large : b]] }`, nil, []string{tooLarge, "for expression"}, 6},
	{"loops behind try", large + `locals { x = try([for a in local.large : [for b in local.large : b]], "small") }`, nil, []string{tooLarge}, 6},
	{"loops behind can", large + `locals { x = can([for a in local.large : [for b in local.large : b]]) }`, nil, []string{tooLarge}, 6},
	{"loops in a check", large + "check \"c\" {\n  assert {\n    condition = length([for a in local.large : [for b in local.large : b]]) > 0\n    error_message = \"x\"\n  }\n}", nil, []string{tooLarge}, 0},
	{"a template's loop", large + "locals { x = \"%{ for a in local.large }${local.text}%{ endfor }\" }", nil, []string{tooLarge, "template's loop"}, 6},
	{"templatefile", large + `locals { x = templatefile("t.tpl", { l = local.large, t = local.text }) }`, map[string]string{"t.tpl": "%{ for a in l }${t}%{ endfor }"}, []string{"template's loop"}, 6},
	{"templatefile of tokens", `locals { x = templatefile("t.tpl", {}) }`, map[string]string{"t.tpl": strings.Repeat("${1}", 1_000_000)}, []string{"words and signs"}, 1},
	{"templatefile of brackets", `locals { x = templatefile("t.tpl", {}) }`, map[string]string{"t.tpl": "${" + strings.Repeat("(", 400_000)}, []string{"Nested too deep"}, 1},
	{"templatestring", large + "locals {\n  t = \"%%{ for a in l }$${t}%%{ endfor }\"\n  x = templatestring(local.t, { l = local.large, t = local.text })\n}", nil, []string{"template's loop"}, 8},
	{"a large file", `locals { x = file("b") }`, map[string]string{"b": strings.Repeat("x", 20_000_000)}, []string{"too large"}, 1},
	{"many large texts", large + "locals {\n" + manyTexts(40) + "}", nil, []string{tooLarge, "all that the expressions of this run have made"}, 0},
	{"large objects", large + "resource \"terraform_data\" \"x\" {\n  count = 1000\n  input = local.text\n}", nil, []string{tooLarge, "all that the expressions of this run have made"}, 0},
	{"a configuration of tokens", `locals { x = "` + strings.Repeat("${1}", 1_000_000) + `" }`, nil, []string{"Configuration too large", "words and signs"}, 1},
	{"a large configuration", "#" + strings.Repeat("x", 9_000_000), nil, []string{"Configuration too large", "bytes"}, 1},
	{"a configuration of brackets", "locals { x = " + strings.Repeat("(", 300_000), nil, []string{"Nested too deep"}, 1},
	{"a configuration of lists", "locals { x = " + strings.Repeat("[", 300_000), nil, []string{"Nested too deep"}, 1},
	{"a configuration of negations", "locals { x = " + strings.Repeat("!", 300_000), nil, []string{"Nested too deep"}, 1},
	{"a configuration of blocks", strings.Repeat("a {\n", 90_000), nil, []string{"Nested too deep"}, 0},
	{"a long number", "locals { x = " + strings.Repeat("9", 400_000) + " }", nil, []string{"digits"}, 1},
	{"a configuration in JSON", "", map[string]string{"x.tf.json": strings.Repeat(`{"a":`, 90_000)}, []string{"Nested too deep"}, 0},
	{"a long number in JSON", "", map[string]string{"x.tf.json": `{"locals": {"x": ` + strings.Repeat("9", 400_000) + `}}`}, []string{"digits"}, 0},
	{"loops in JSON", large, map[string]string{"x.tf.json": `{"locals": {"x": "${[for a in local.large : [for b in local.large : b]]}"}}`}, []string{tooLarge, "for expression"}, 0},
	{"loops within objects in JSON", large, map[string]string{"x.tf.json": `{"locals": {"x": {"y": ["${[for a in local.large : [for b in local.large : b]]}"]}}}`}, []string{tooLarge, "for expression"}, 0},
	{"fileset over links", `locals { x = fileset(".", "**/y") }`, nil, []string{"files and directories"}, 1},
}

// laughs is a YAML document of n levels, each with nine aliases of the one before.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 lol\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	return b.String()
}

func chainOfModules(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		dir := strings.Repeat("m/", i+1)
		files[dir+"main.tf"] = "variable \"in\" {}\nmodule \"m\" {\n  source = \"./m\"\n  in = [var.in, var.in]\n}\n"
	}
	files[strings.Repeat("m/", n+1)+"main.tf"] = "variable \"in\" {}\n"
	return files
}

func nested(n int, open, middle, end string) string {
	s := middle
	for i := range n {
		s = strings.ReplaceAll(open, "%[1]d", fmt.Sprint(i)) + s + strings.ReplaceAll(end, "%[1]d", fmt.Sprint(i))
	}
	return s
}

func joined(n int) string {
	var b strings.Builder
	b.WriteString("  j0 = [local.text]\n")
	for i := range n {
		fmt.Fprintf(&b, "  j%d = [join(\"\", local.j%d), join(\"\", local.j%d), join(\"\", local.j%d)]\n", i+1, i, i, i)
	}
	return b.String()
}

func manyTexts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  t%d = format(\"%%d%%7000000s\", %d, \"x\")\n", i, i)
	}
	return b.String()
}

// memory is what a run in the pipeline has, and mostHeap what a bomb may take of it.
const (
	memory   = 1 << 30
	mostHeap = 450 << 20 // the collector may be behind
)

// Every bomb ends soon with an error at its place, and takes little.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			start := time.Now()
			var ds diags.Diagnostics
			limits := budget.ForMemory(memory)
			limits.Steps = min(limits.Steps, 2_000_000) // or it would take minutes
			peak := heapPeak(func() { ds = b.explode(t, budget.New(limits)) })
			t.Logf("%v, %d MiB", time.Since(start).Round(time.Millisecond), peak>>20)
			if peak > mostHeap {
				t.Errorf("%d MiB were taken", peak>>20)
			}
			if d := time.Since(start); d > 2*time.Minute {
				t.Errorf("it took %v", d)
			}
			b.check(t, ds)
		})
	}
}

func (b bomb) check(t *testing.T, ds diags.Diagnostics) {
	t.Helper()
	if b.says == nil {
		if ds.HasErrors() {
			t.Errorf("an error: %v", ds[0])
		}
		return
	}
	var elsewhere []*hcl.Range // once a limit is exceeded, what is evaluated beside it ends, too
	for _, d := range ds {
		text := d.Summary + ": " + d.Detail
		found := d.Severity == diags.Error
		for _, s := range b.says {
			found = found && strings.Contains(text, s)
		}
		if !found {
			continue
		}
		if b.at > 0 && (d.Subject == nil || d.Subject.Filename != "main.tf" || d.Subject.Start.Line != b.at) {
			elsewhere = append(elsewhere, d.Subject)
			continue
		}
		return
	}
	if elsewhere != nil {
		t.Errorf("the places are %v, want main.tf:%d", elsewhere, b.at)
		return
	}
	var got strings.Builder
	for _, d := range ds[:min(3, len(ds))] {
		fmt.Fprintf(&got, "%s: %.300s\n", d.Summary, d.Detail)
	}
	t.Errorf("no error says %q:\n%s", b.says, got.String())
}

// explode plans the configuration.
func (b bomb) explode(t *testing.T, limits *budget.Budget) diags.Diagnostics {
	dir := t.TempDir()
	files := map[string][]byte{"main.tf": []byte(b.main)}
	for name, text := range b.files {
		files[name] = []byte(text)
	}
	writeAll(t, dir, files)
	if strings.HasPrefix(b.name, "fileset") {
		linkAll(t, dir)
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files), Budget: limits})
	if ds.HasErrors() {
		return ds
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
	})
	defer pool.Close()
	run := engine.Run{Config: cfg, Providers: pool, WorkingDir: dir, Files: funcs.OSFiles{}, Budget: limits}
	_, more := engine.Plan(context.Background(), run, states.Empty(), engine.PlanOptions{})
	return append(ds, more...)
}

// heapPeak returns how much more of the heap is in use at most while f runs than before.
func heapPeak(f func()) uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, peak := read(), uint64(0)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if n := read(); n > before {
				peak = max(peak, n-before)
			}
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-ended
	return peak
}

// writeAll writes files below a directory.
func writeAll(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// linkAll makes thirty directories, each with two links to the next one.
func linkAll(t *testing.T, dir string) {
	t.Helper()
	for i := range 30 {
		at := filepath.Join(dir, fmt.Sprintf("d%d", i))
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, link := range []string{"a", "b"} {
			if err := os.Symlink(fmt.Sprintf("../d%d", i+1), filepath.Join(at, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d30"), 0o755); err != nil {
		t.Fatal(err)
	}
}
