package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A workload is a configuration, and the commands that run on it, one after another. The state stays from one
// command to the next.
type workload struct {
	name     string
	huge     bool
	files    func() map[string]string
	edited   func() map[string]string // the files that a command with edit finds changed
	commands []command
}

// A command is a command line of a tool.
type command struct {
	name string
	args []string
	edit bool // the configuration is edited before
}

var (
	initCommand = command{name: "init", args: []string{"init", "-input=false", "-no-color"}}
	plan        = command{name: "plan", args: []string{"plan", "-input=false", "-no-color"}}
	apply       = command{name: "apply", args: []string{"apply", "-input=false", "-no-color", "-auto-approve"}}
	noop        = command{name: "no-op plan", args: plan.args}
	stored      = command{name: "no-op, -refresh=false", args: append([]string{"plan", "-refresh=false"}, plan.args[1:]...)}
	change      = command{name: "apply of 100 changes", args: apply.args, edit: true}
	jq          = command{name: "jq -c . of the state", args: []string{"jq", "-c", ".", "terraform.tfstate"}}
	version     = command{name: "version", args: []string{"version"}}
)

// workloads are the lines of the table.
var workloads = []workload{
	{name: "empty", files: func() map[string]string { return map[string]string{"main.tf": ""} }, commands: []command{version}},
	{name: "flat-1000", files: flat(1000), commands: usual()},
	{name: "count-1000", files: counted(1000, 0), edited: counted(1000, 100), commands: usual(stored, change)},
	{name: "modules-20x50", files: modules(20, 50), commands: usual()},
	{name: "chain-500", files: chain(500), commands: usual()},
	{name: "count-10000", files: counted(10000, 0), edited: counted(10000, 100), commands: usual(stored, jq, change)},
	{name: "giant-700x20", files: giant(700, 20), commands: usual(stored, jq)},
	{name: "count-100000", huge: true, files: counted(100000, 0), edited: counted(100000, 100), commands: usual(stored, jq, change)},
	{name: "count-400000", huge: true, files: counted(400000, 0), commands: usual(stored, jq)},
	{name: "giant-14000x20", huge: true, files: giant(14000, 20), commands: usual(stored, jq)},
}

func usual(more ...command) []command {
	return append([]command{initCommand, plan, apply, noop}, more...)
}

func (w workload) write(dir string) error { return writeFiles(dir, w.files()) }

func (w workload) writeEdited(dir string) error { return writeFiles(dir, w.edited()) }

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// flat returns n blocks without references between them.
func flat(n int) func() map[string]string {
	return func() map[string]string {
		var b strings.Builder
		b.WriteString("variable \"env\" {\n  default = \"prod\"\n}\nlocals {\n  base = 7\n}\n")
		for i := range n {
			fmt.Fprintf(&b, "resource \"terraform_data\" \"r%05d\" {\n  input = {\n    name  = \"${var.env}-item-%[1]d\"\n    index = %[1]d + local.base\n    tags  = [\"a\", \"b\", upper(var.env)]\n  }\n  triggers_replace = [var.env, %[1]d]\n}\n", i)
		}
		return map[string]string{"main.tf": b.String()}
	}
}

// counted returns one block with n instances, of which the first ones are changed.
func counted(n, changed int) func() map[string]string {
	return func() map[string]string {
		return map[string]string{"main.tf": fmt.Sprintf(`variable "env" {
  default = "prod"
}
resource "terraform_data" "r" {
  count = %d
  input = {
    name  = "${var.env}-item-${count.index}${count.index < %d ? "-changed" : ""}"
    index = count.index + 7
    tags  = ["a", "b", upper(var.env)]
  }
  triggers_replace = [var.env, count.index]
}
output "n" {
  value = length(terraform_data.r)
}
`, n, changed)}
	}
}

// chain returns n blocks each of which refers to the one before.
func chain(n int) func() map[string]string {
	return func() map[string]string {
		var b strings.Builder
		b.WriteString("resource \"terraform_data\" \"r0\" {\n  input = \"seed\"\n}\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = \"${length(terraform_data.r%d.output) %% 50}-%[1]d\"\n}\n", i, i-1)
		}
		return map[string]string{"main.tf": b.String()}
	}
}

// modules returns a module with n instances, each of k blocks.
func modules(n, k int) func() map[string]string {
	return func() map[string]string {
		var b strings.Builder
		b.WriteString("variable \"name\" {\n  type = string\n}\n")
		for i := range k {
			before := "var.name"
			if i%5 > 0 {
				before = fmt.Sprintf("terraform_data.s%d.output.id", i-1)
			}
			fmt.Fprintf(&b, "resource \"terraform_data\" \"s%d\" {\n  input = {\n    id = \"${var.name}-%[1]d\"\n    up = %s\n  }\n}\n", i, before)
		}
		return map[string]string{
			"main.tf":      fmt.Sprintf("module \"unit\" {\n  source   = \"./unit\"\n  for_each = toset([for i in range(%d) : format(\"u%%04d\", i)])\n  name     = each.key\n}\n", n),
			"unit/main.tf": b.String(),
		}
	}
}

// giant returns n blocks with k instances and 5 KB of text each. Each fifth block refers to the one before.
func giant(n, k int) func() map[string]string {
	return func() map[string]string {
		files := map[string]string{"locals.tf": fmt.Sprintf("locals {\n  keys = toset([for i in range(%d) : format(\"k%%03d\", i)])\n  env  = \"prod\"\n}\n", k)}
		for part := 0; part < n; part += 200 {
			var b strings.Builder
			for i := part; i < min(part+200, n); i++ {
				giantBlock(&b, i)
			}
			files[fmt.Sprintf("part%04d.tf", part/200)] = b.String()
		}
		return files
	}
}

func giantBlock(b *strings.Builder, i int) {
	before := `"none"`
	if i%5 == 4 {
		before = fmt.Sprintf("terraform_data.r%06d[each.key].output.name", i-1)
	}
	fmt.Fprintf(b, "resource \"terraform_data\" \"r%06d\" {\n  for_each = local.keys\n  input = {\n    name  = \"${local.env}-%[1]d-${each.key}\"\n    up    = %s\n    notes = sha256(jsonencode({\n", i, before)
	for j := range 56 {
		fmt.Fprintf(b, "      n%03d = \"%d-%[1]d lorem ipsum dolor sit amet consetetur sadipscing elitr %d\"\n", j, i, (i*7919+j)%100003)
	}
	fmt.Fprintf(b, "    }))\n    tags = { owner = \"team-%d\", zone = \"z%d\", tier = each.key, cost = \"c%d\", extra = %q }\n  }\n}\n", i%40, i%3, i%100, strings.Repeat("x", 300))
}
