// Package bombs lists configurations that use memory, time or disk without end. With them, tests check
// everything that runs configurations.
//
// The package does not know the limits that stop them. Start reading at [All].
package bombs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// A Bomb is a pull request that uses up a resource: a few bytes that become many, or a program that never ends.
type Bomb struct {
	Name string
	// Files are the files that make a project a bomb. The names are relative to the project's directory.
	Files map[string]string
	// Apply is set if the bomb has its effect only in an apply, so that its plan succeeds.
	Apply bool
	// Usual is set if every test run tries the bomb. Other bombs are tried only with LOCKSTEP_BOMBS=all.
	Usual bool
}

// Placed reports whether an error text names one of the bomb's files, so that a reader can find the cause.
func (b Bomb) Placed(text string) bool {
	for name := range b.Files {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// All returns the bombs to try: the usual ones, or all of them with LOCKSTEP_BOMBS=all in the environment.
func All() []Bomb {
	var out []Bomb
	for _, b := range append(planBombs(), applyBombs()...) {
		if b.Usual || os.Getenv("LOCKSTEP_BOMBS") == "all" {
			out = append(out, b)
		}
	}
	return out
}

// input returns a configuration with one resource, whose input is an expression.
func input(expression string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"bomb\" {\n  input = %s\n}\n", expression)
}

// doubling returns a configuration with a chain of locals, and with a resource that uses the last one. The
// first local has the expression first. n more locals follow, each with the expression each, in which "@"
// stands for the previous local.
func doubling(first, each string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locals {\n  l0 = %s\n", first)
	for i := range n {
		fmt.Fprintf(&b, "  l%d = %s\n", i+1, strings.ReplaceAll(each, "@", fmt.Sprintf("local.l%d", i)))
	}
	return b.String() + "}\n" + input(fmt.Sprintf("local.l%d", n))
}

// commanding returns a configuration with a resource whose provisioner runs a script.
func commanding(script string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"bomb\" {\n  provisioner \"local-exec\" {\n    command = %q\n  }\n}\n", script)
}

// zeros returns n zero bytes, compressed, in base64.
func zeros(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(make([]byte, n))
	z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

const deep = 4 << 20

func planBombs() []Bomb {
	one := func(name, main string) Bomb { return Bomb{Name: name, Files: map[string]string{"bomb.tf": main}} }
	usual := func(b Bomb) Bomb { b.Usual = true; return b }
	with := func(b Bomb, name, text string) Bomb { b.Files[name] = text; return b }
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		laughs += fmt.Sprintf("a%d: &a%[1]d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return []Bomb{
		usual(one("strings", doubling(`"0123456789abcdef"`, `"${@}${@}"`, 40))),
		usual(one("lists", doubling(`[1]`, `[@, @]`, 40))),
		usual(one("format", input(`format("%2000000000s", "x")`))),
		usual(one("count", "resource \"terraform_data\" \"bomb\" {\n  count = 10000000\n}\n")),
		usual(one("discovery", "locals {\n  x = \""+strings.Repeat("${1}", 1<<20)+"\"\n}\n")),
		usual(with(one("stack", input(`jsondecode(file("${path.module}/deep.json"))`)), "deep.json", strings.Repeat("[", 6<<20))),
		one("maps", doubling(`{ a = 1 }`, `{ a = @, b = @ }`, 40)),
		one("sets", doubling(`toset(["a"])`, `setproduct(@, toset(["a", "b"]))`, 40)),
		one("texts of lists", doubling(`[1]`, `[jsonencode(@), jsonencode(@)]`, 40)),
		one("setproduct", input(`length(setproduct(range(1000), range(1000), range(1000), range(1000)))`)),
		one("replace", input(`replace(replace(format("%100000s", "x"), " ", format("%10000s", "y")), " ", format("%10000s", "z"))`)),
		one("replace by expression", input(`replace(format("%1000000s", "x"), "/ /", format("%10000s", "y"))`)),
		one("join", input(`join(format("%100000s", ","), range(1000))`)),
		one("loops", input(`length(flatten([for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a + b + c]]]))`)),
		with(one("instances", "module \"m\" {\n  count  = 1000\n  source = \"./m\"\n}\n"), "m/main.tf", "resource \"terraform_data\" \"bomb\" {\n  count = 1000\n}\n"),
		one("for_each", "resource \"terraform_data\" \"bomb\" {\n  for_each = toset([for i in setproduct(range(1000), range(1000)) : join(\"-\", i)])\n}\n"),
		with(one("aliases", input(`yamldecode(file("${path.module}/laughs.yaml"))`)), "laughs.yaml", laughs),
		with(one("deep YAML", input(`yamldecode(file("${path.module}/deep.yaml"))`)), "deep.yaml", strings.Repeat("[", deep)),
		one("parentheses", input(strings.Repeat("(", deep)+"1"+strings.Repeat(")", deep))),
		one("brackets", input(strings.Repeat("[", deep)+strings.Repeat("]", deep))),
		one("negations", input(strings.Repeat("!", deep)+"true")),
		one("blocks", strings.Repeat("a {\n", deep/4)),
		{Name: "deep JSON configuration", Files: map[string]string{"bomb.tf.json": `{"locals": {"x": ` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}}"}},
		with(one("templates", input(`templatefile("${path.module}/a.tftpl", { n = 1000 })`)), "a.tftpl", "%{ for a in range(n) }%{ for b in range(n) }%{ for c in range(n) }x%{ endfor }%{ endfor }%{ endfor }"),
		one("regexall", input(`length(regexall("", format("%8000000s", "x")))`)),
		one("bcrypt", input(`bcrypt("x", 31)`)),
		one("gunzip", input(`length(base64gunzip("`+zeros(1<<30)+`"))`)),
		one("numbers", input(`parseint(format("%08000000d", 1), 10)`)),
		one("subnets", input(`length([for i in range(1000) : cidrsubnets("fd00::/8", [for j in range(1000) : 60]...)])`)),
		one("csv", input(`csvdecode(join("\n", [for i in range(1000) : join(",", range(1000))]))`)),
		one("formatlist", input(`formatlist("%1000000s", range(1000))`)),
		one("indent", input(`indent(1000000, join("\n", range(1000)))`)),
		one("default", "variable \"x\" {\n  default = ["+strings.Repeat("[[1,2],[3,4]],", 300000)+"]\n}\n"+input("var.x")),
	}
}

func applyBombs() []Bomb {
	command := func(name, script string) Bomb {
		return Bomb{Name: name, Files: map[string]string{"bomb.tf": commanding(script)}, Apply: true, Usual: true}
	}
	return []Bomb{
		// This bomb ends by itself if nothing stops it, because tests run on shared machines.
		command("forks", "b() { [ $1 -lt 10 ] && { b $(($1+1)) | b $(($1+1)) & }; sleep 100; }; b 0"),
		command("disk", "while :; do head -c 10000000 /dev/zero >> fill; done"),
		command("output", "yes a line of output that never ends"),
		command("spinning", "while :; do :; done"),
	}
}
