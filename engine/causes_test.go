package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

const causesLab = `
provider
  region string optional
resource lab_zone
  id   string computed keep
  name string required
  tier string computed keep
resource lab_thing
  id    string computed keep
  name  string required replace
  color string optional
  tags  map(string) optional
  refs  list(string) optional
  rule  block(list) {
    port  string optional
    color string optional
  }
`

// TestCausesAreTheLinesThatMatter makes random edits of a random configuration, and plans them. The causes of
// each change must be the edits that matter for it: those without which the plan has another change, or none.
// That is found out by planning again without each edit.
func TestCausesAreTheLinesThatMatter(t *testing.T) {
	t.Parallel()
	seeds := 40
	if testing.Short() {
		seeds = 10
	}
	right, wrong, missed := 0, 0, 0
	for seed := range seeds {
		r, w, m := playCauses(t, uint64(seed))
		right, wrong, missed = right+r, wrong+w, missed+m
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("%d causes are right, %d are wrong, %d are missing: precision %.3f, recall %.3f", right, wrong, missed, precision, recall)
	if right < 5*seeds || precision < 0.95 || recall < 0.95 {
		t.Errorf("too many causes are wrong or missing")
	}
}

// A slot is a piece of a file before and after an edit. Both texts are equal if nothing is edited.
type slot struct{ before, after string }

func (s slot) edited() bool { return s.before != s.after }

// files returns the files made of slots. The slot number without is left as it was before; -1 for none. If
// before is set, all slots are.
func slotFiles(all map[string][]slot, before bool, without *slot) map[string][]byte {
	out := map[string][]byte{}
	for name, slots := range all {
		var b strings.Builder
		for i := range slots {
			if before || &slots[i] == without {
				b.WriteString(slots[i].before)
			} else {
				b.WriteString(slots[i].after)
			}
		}
		out[name] = []byte(b.String())
	}
	return out
}

// editsOf returns the edits, and for each edited slot its place.
func editsOf(all map[string][]slot) (causes.Edits, map[*slot]hcl.Range) {
	edits, places := causes.Edits{}, map[*slot]hcl.Range{}
	for name, slots := range all {
		line := 1
		for i := range slots {
			s := &slots[i]
			n := strings.Count(s.after, "\n")
			if s.edited() {
				x := causes.Edit{First: line, Last: line + n - 1}
				for l := range strings.Lines(s.before) {
					x.Removed = append(x.Removed, strings.TrimSuffix(l, "\n"))
				}
				edits[name] = append(edits[name], x)
				places[s] = hcl.Range{Filename: name, Start: hcl.Pos{Line: max(min(x.First, x.Last), 1)}, End: hcl.Pos{Line: max(x.Last, 1)}}
			}
			line += n
		}
	}
	return edits, places
}

func playCauses(t *testing.T, seed uint64) (right, wrong, missed int) {
	s := (&scenario{providers: map[string]string{"lab": causesLab}}).stage(t)
	s.inMemory = true
	all := newCausesConfig(rand.New(rand.NewPCG(seed, 7)))
	s.files = slotFiles(all, true, nil)
	if first := s.run(&order{verb: "apply"}); !first.applied {
		t.Fatalf("seed %d: the first apply fails:\n%s\n%s", seed, first, shownFiles(s.files))
	}
	plan := func(without *slot) *plans.Plan {
		s.files = slotFiles(all, false, without)
		p, ds := s.plan(t.Context(), &order{verb: "plan"})
		if ds.HasErrors() {
			return nil
		}
		return p
	}
	full := plan(nil)
	if full == nil {
		t.Fatalf("seed %d cannot be planned:\n%s", seed, shownFiles(s.files))
	}
	edits, places := editsOf(all)
	found := causesOf(t, s, full, edits)
	for edit, place := range places {
		less := plan(edit)
		if less == nil {
			continue // the rest of the edits needs this one
		}
		for _, c := range full.Changes {
			if c.Action == plans.NoOp {
				continue
			}
			matters := changeIn(less, c) != changeIn(full, c)
			said := slices.ContainsFunc(found, func(x causes.Cause) bool {
				if x.Change != c || x.Unedited != causes.Edited {
					return false
				}
				at := x.Place
				return at.Filename == place.Filename && at.Start.Line <= place.End.Line && place.Start.Line <= at.End.Line
			})
			switch {
			case matters && said:
				right++
			case said:
				wrong++
				t.Logf("seed %d: %s does not matter for %s: %q", seed, place, c.Addr, edit.after)
			case matters:
				missed++
				t.Logf("seed %d: %s is not found for %s: %q -> %q", seed, place, c.Addr, edit.before, edit.after)
			}
		}
	}
	return right, wrong, missed
}

// changeIn returns a text that is different for each change that a plan can have for the object of c.
func changeIn(p *plans.Plan, c *plans.ResourceChange) string {
	for _, x := range p.Changes {
		switch {
		case x.Addr != c.Addr || x.Action == plans.NoOp:
		case c.Action == plans.Create || c.Action == plans.Delete: // which values it has is another question
			return x.Action.String()
		default:
			return fmt.Sprintf("%s %#v %#v %s", x.Action, x.Before, x.After, x.PrevAddr)
		}
	}
	return "none"
}

func causesOf(t *testing.T, s *stage, p *plans.Plan, edits causes.Edits) []causes.Cause {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files)})
	s.fatal(ds)
	values, ds := inputs.Collect(cfg.Root.Content, s.variableFiles())
	s.fatal(ds)
	in := causes.Input{Config: cfg, Plan: p, Values: map[string]hcl.Expression{}, Edits: edits}
	for name, v := range values {
		if v.Expr != nil {
			in.Values[name] = v.Expr
		}
	}
	return causes.Find(in)
}

func shownFiles(files map[string][]byte) string {
	var b strings.Builder
	for name, text := range files {
		fmt.Fprintf(&b, "-- %s --\n%s", name, text)
	}
	return b.String()
}

// A causesConfig writes a random configuration with random edits.
type causesConfig struct {
	r     *rand.Rand
	files map[string][]slot
	file  string
	n     int
}

func newCausesConfig(r *rand.Rand) map[string][]slot {
	c := &causesConfig{r: r, files: map[string][]slot{}}
	c.write()
	return c.files
}

func (c *causesConfig) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	c.add(slot{text, text})
}

// add adds a slot. Two edits are never neighbours: they would be one.
func (c *causesConfig) add(s slot) {
	all := c.files[c.file]
	if len(all) > 0 && all[len(all)-1].edited() {
		s.after = s.before
	}
	c.files[c.file] = append(all, s)
}

// maybe writes a line that is edited with a probability of 1 in 4. Both lines are made of the format and a new
// value.
func (c *causesConfig) maybe(format string) {
	a, b := fmt.Sprintf(format, c.value())+"\n", ""
	if b = a; c.r.IntN(4) == 0 {
		b = fmt.Sprintf(format, c.value()) + "\n"
	}
	c.add(slot{a, b})
}

// optional writes lines that an edit may add or remove.
func (c *causesConfig) optional(text string) {
	s := slot{text, text}
	switch c.r.IntN(6) {
	case 0:
		s.before = ""
	case 1:
		s.after = ""
	}
	c.add(s)
}

func (c *causesConfig) value() string {
	c.n++
	return fmt.Sprintf("x%d", c.n)
}

// expr returns an expression of the root module, on one line.
func (c *causesConfig) expr() string {
	return []string{
		`local.l0`, `var.v0`, `var.v1`, `"${var.v2}-${local.l1}"`, `local.m["a"].color`, `local.m.b.color`, `upper(local.l2)`,
		`var.on ? local.l0 : local.l1`, `local.tags.team`, `local.tags["cost"]`, `jsonencode({ a = local.l1, b = var.v1 })`,
		`join(",", [for k, v in local.m : v.color])`, `try(local.m.a.color, "none")`, `local.list[0]`, `var.settings.size`,
		`[for s in local.list : s if s != ""][1]`, `lookup(local.tags, "team", "")`, `local.derived["a"]`, `local.chain`,
	}[c.r.IntN(19)]
}

func (c *causesConfig) write() {
	c.file = "terraform.tfvars"
	c.maybe(`v1 = %q`)
	c.optional("v2 = \"given\"\n")
	c.line("settings = {")
	c.maybe("  size = %q")
	c.maybe("  unused = %q")
	c.line("}")
	c.file = "variables.tf"
	for i := range 3 {
		c.line("variable \"v%d\" {", i)
		c.maybe("  default = %q")
		c.line("}")
	}
	c.line("variable \"on\" {\n  default = true\n}\nvariable \"settings\" {\n  type = map(string)\n}")
	c.file = "locals.tf"
	c.line("locals {")
	for i := range 3 {
		c.maybe(fmt.Sprintf("  l%d = %%q", i))
	}
	c.line("  m = {")
	for _, k := range []string{"a", "b"} {
		c.maybe("    " + k + " = { color = %q, size = 1 }")
	}
	c.optional("    c = { color = \"c\", size = 1 }\n")
	c.line("  }\n  base = {")
	c.maybe("    team = %q")
	c.line("  }\n  tags = merge(local.base, {")
	c.maybe("    cost = %q")
	c.optional("    extra = \"e\"\n")
	c.line("  })\n  list = [")
	c.maybe("    %q,")
	c.maybe("    %q,")
	c.line("  ]\n  derived = { for k, v in local.m : k => \"${v.color}-${local.l2}\" }")
	c.line("  chain = local.chained\n  chained = \"${var.v0}!\"\n}")
	c.file = "main.tf"
	for i := range 4 {
		c.resource(i)
	}
	c.line("resource \"lab_thing\" \"each\" {\n  for_each = local.m\n  name = \"each-${each.key}\"\n  color = each.value.color\n}")
	c.line("resource \"lab_thing\" \"set\" {\n  for_each = toset([")
	c.line("    \"k1\",")
	c.optional("    \"k2\",\n")
	c.optional("    \"k3\",\n")
	c.line("  ])\n  name = \"set-${each.key}\"")
	c.maybe("  color = %q")
	c.line("}\nresource \"lab_thing\" \"counted\" {")
	n := 1 + c.r.IntN(3)
	c.add(slot{fmt.Sprintf("  count = %d\n", n), fmt.Sprintf("  count = %d\n", 1+c.r.IntN(3))})
	c.line("  name = \"counted-${count.index}\"\n  tags = local.tags\n}")
	c.optional("resource \"lab_thing\" \"extra\" {\n  name = \"extra\"\n  color = local.l0\n}\n")
	c.line("resource \"lab_thing\" \"after\" {\n  name = \"after-${lab_thing.r0.name}\"\n  refs = [lab_thing.r1.id, lab_thing.r2.id]\n}")
	c.line("module \"net\" {\n  source = \"./net\"\n  a = %s", c.expr())
	c.maybe("  b = %q")
	c.optional("  c = \"given\"\n")
	c.line("}\nresource \"lab_thing\" \"uses\" {\n  name = \"uses\"\n  color = module.net.out\n  refs = [module.net.id]\n}")
	c.file = "net/main.tf"
	c.line("variable \"a\" {}\nvariable \"b\" {}\nvariable \"c\" {")
	c.maybe("  default = %q")
	c.line("}\nresource \"lab_thing\" \"in\" {\n  name = \"in\"\n  color = \"${var.a}-${var.b}\"\n  tags = {\n    c = var.c\n  }\n}")
	c.line("output \"out\" {")
	c.maybe("  value = \"${var.b}-%s\"")
	c.line("}\noutput \"id\" {\n  value = lab_thing.in.id\n}")
}

func (c *causesConfig) resource(i int) {
	c.line("resource \"lab_thing\" \"r%d\" {", i)
	if c.r.IntN(2) == 0 {
		c.maybe("  name = %q")
	} else {
		c.line("  name = \"r%d\"", i)
	}
	c.line("  color = %s", c.expr())
	c.line("  tags = {")
	c.maybe("    literal = %q")
	c.line("    expr = %s", c.expr())
	c.optional("    sometimes = \"s\"\n")
	c.line("  }")
	c.line("  rule {")
	c.maybe("    port = %q")
	c.line("    color = %s\n  }", c.expr())
	c.optional("  rule {\n    port = \"9\"\n  }\n")
	c.line("}")
}

// causesStories are edits with the causes that are found. In the files, lines that begin with + are added, and
// lines that begin with - are removed. Each wanted line is the change, the attribute, the way and the place.
var causesStories = []struct{ name, files, want string }{
	{"a new block, and one that is gone", `
-- main.tf --
 resource "lab_thing" "a" {
   name = "a"
 }
-resource "lab_thing" "b" {
-  name = "b"
-}
+resource "lab_thing" "c" {
+  name = "c"
+}
`, `
delete lab_thing.b: main.tf:4-6
create lab_thing.c: main.tf:4`},
	{"a file that is gone", `
-- main.tf --
 resource "lab_thing" "a" {
   name = "a"
 }
-- b.tf --
-resource "lab_thing" "b" {
-  name = "b"
-}
`, `
delete lab_thing.b: b.tf:1`},
	{"a replacement names the attribute that forces it", `
-- main.tf --
 resource "lab_thing" "a" {
-  name  = "a"
-  color = "red"
+  name  = "b"
+  color = var.color
 }
+variable "color" {
+  default = "blue"
+}
`, `
replace lab_thing.a .color: main.tf:3
replace lab_thing.a .color: var.color main.tf:6
replace lab_thing.a .name (forces replacement): main.tf:2`},
	{"a value goes through a module", `
-- main.tf --
 module "net" {
   for_each = { x = "1", y = "2" }
   source   = "./net"
   cidr     = var.cidrs[each.key]
 }
 variable "cidrs" {
   default = {
     x = "10.0.0.0/8"
-    y = "10.1.0.0/8"
+    y = "10.2.0.0/8"
   }
 }
 resource "lab_thing" "a" {
   name  = "a"
   color = module.net["y"].shown
 }
-- net/main.tf --
 variable "cidr" {}
 resource "lab_thing" "n" {
   name  = "n"
   color = var.cidr
 }
 output "shown" {
   value = upper(lab_thing.n.color)
 }
`, `
update lab_thing.a .color: module.net["y"].shown > lab_thing.n > var.cidr > var.cidrs main.tf:9
update module.net["y"].lab_thing.n .color: var.cidr > var.cidrs main.tf:9`},
	{"another value in a variables file, and one that is taken out", `
-- main.tf --
 variable "size" {
   default = "s"
 }
 variable "team" {
   default = "none"
 }
 resource "lab_thing" "a" {
   name  = "a"
   color = var.size
   tags  = { team = var.team }
 }
-- terraform.tfvars --
-size = "m"
-team = "core"
+size = "l"
`, `
update lab_thing.a .color: var.size terraform.tfvars:1
update lab_thing.a .tags["team"]: var.team terraform.tfvars:1`},
	{"the configuration of a provider", `
-- main.tf --
 provider "lab" {
-  region = "north"
+  region = "south"
 }
 resource "lab_zone" "z" {
   name = "z"
 }
-- outside --
 rule plan lab_zone bad tier="south"
`, `
update lab_zone.z: provider.lab main.tf:2`},
	{"another provider configuration", `
-- main.tf --
 provider "lab" {
   region = "north"
 }
 provider "lab" {
   alias  = "other"
   region = "south"
 }
 resource "lab_zone" "z" {
   name     = "z"
+  provider = lab.other
 }
-- outside --
 rule plan lab_zone bad tier="south"
`, `
update lab_zone.z: main.tf:10`},
	{"a move", `
-- main.tf --
-resource "lab_thing" "a" {
+resource "lab_thing" "b" {
   name = "a"
 }
+moved {
+  from = lab_thing.a
+  to   = lab_thing.b
+}
`, ``},
	{"a move with an update", `
-- main.tf --
-resource "lab_thing" "a" {
-  name = "a"
+resource "lab_thing" "b" {
+  name  = "a"
+  color = "red"
 }
+moved {
+  from = lab_thing.a
+  to   = lab_thing.b
+}
`, `
update lab_thing.b: main.tf:5
update lab_thing.b: main.tf:6
update lab_thing.b: main.tf:7
update lab_thing.b .color: main.tf:3`},
	{"count, the second of a module", `
-- main.tf --
 module "m" {
   source = "./m"
-  count  = 2
+  count  = 1
 }
-- m/main.tf --
 resource "lab_thing" "a" {
   name = "a"
 }
`, `
delete module.m[1].lab_thing.a: module.m main.tf:3`},
	{"an argument that is taken out", `
-- main.tf --
 resource "lab_thing" "a" {
   name  = "a"
-  color = "red"
   tags  = { a = "b" }
 }
`, `
update lab_thing.a .color: main.tf:2`},
	{"nothing of it was edited", `
-- main.tf --
 resource "lab_thing" "a" {
   name  = "a"
   color = "red"
 }
 resource "lab_thing" "b" {
   name  = "b"
-  color = "red"
+  color = "blue"
 }
-- outside --
 edit lab_thing a-1 { color = "green" }
`, `
update lab_thing.a: drift
update lab_thing.b .color: main.tf:7`},
	{"JSON", `
-- main.tf.json --
 {
   "locals": {
-    "color": "red"
+    "color": "blue"
   },
   "resource": {"lab_thing": {"a": {
     "name": "a",
     "color": "${local.color}"
   }}}
 }
`, `
update lab_thing.a .color: local.color main.tf.json:3`},
	{"a dynamic block", `
-- main.tf --
 locals {
   ports = [
     "80",
-    "443",
+    "8443",
   ]
 }
 resource "lab_thing" "a" {
   name = "a"
   dynamic "rule" {
     for_each = local.ports
     content {
       port = rule.value
     }
   }
 }
`, `
update lab_thing.a .rule[1].port: local.ports main.tf:4`},
	{"a file that a function reads", `
-- main.tf --
 module "m" {
   source = "./m"
 }
-- m/main.tf --
 resource "lab_thing" "a" {
   name  = "a"
   color = jsondecode(file("${path.module}/colors.json")).first
 }
-- m/colors.json --
 {
-  "first": "red"
+  "first": "blue"
 }
`, `
update module.m.lab_thing.a .color: file m/colors.json:2`},
	{"another version of the provider", `
-- main.tf --
 resource "lab_zone" "z" {
   name = "z"
 }
-- .terraform.lock.hcl --
 provider "registry.terraform.io/hashicorp/lab" {
-  version = "1.0.0"
+  version = "2.0.0"
 }
-- outside --
 rule plan lab_zone bad tier="south"
`, `
update lab_zone.z: provider version .terraform.lock.hcl:2`},
	{"an output", `
-- main.tf --
 output "o" {
-  value = "a"
+  value = "b"
 }
-output "p" {
-  value = "c"
-}
`, `
update output.o: main.tf:2
delete output.p: main.tf:3`},
}

func TestCauses(t *testing.T) {
	for _, c := range causesStories {
		t.Run(c.name, func(t *testing.T) {
			s := (&scenario{providers: map[string]string{"lab": causesLab}}).stage(t)
			s.inMemory = true
			all, outside := readSlots(c.files)
			s.files = slotFiles(all, true, nil)
			if first := s.run(&order{verb: "apply"}); !first.applied {
				t.Fatal(first)
			}
			for line := range strings.Lines(outside) {
				switch verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb {
				case "edit":
					s.edit(rest)
				case "rule":
					s.misbehave(rest)
				}
			}
			s.files = slotFiles(all, false, nil)
			p, ds := s.plan(t.Context(), &order{verb: "plan"})
			s.fatal(ds)
			edits, _ := editsOf(all)
			var got []string
			for _, x := range causesOf(t, s, p, edits) {
				got = append(got, causeLine(x))
			}
			if diff := cmp.Diff(strings.TrimSpace(c.want), strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// readSlots reads files with marked lines. outside has the lines of what happens outside of
// the configuration: edits of objects, and rules of the provider.
func readSlots(text string) (all map[string][]slot, outside string) {
	all = map[string][]slot{}
	file := ""
	for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
		if name, is := strings.CutPrefix(line, "-- "); is {
			file = strings.TrimSuffix(strings.TrimSpace(name), " --")
			continue
		}
		mark, rest := line[:1], line[1:]
		if file == "outside" {
			outside += rest
			continue
		}
		x := slot{rest, rest}
		switch mark {
		case "+":
			x.before = ""
		case "-":
			x.after = ""
		}
		n := len(all[file])
		if n > 0 && mark != " " && all[file][n-1].edited() {
			last := &all[file][n-1]
			last.before, last.after = last.before+x.before, last.after+x.after
			continue
		}
		all[file] = append(all[file], x)
	}
	return all, outside
}

func causeLine(x causes.Cause) string {
	var b strings.Builder
	if x.Change != nil {
		fmt.Fprintf(&b, "%s %s", x.Change.Action, x.Change.Addr)
	} else {
		fmt.Fprintf(&b, "%s output.%s", x.Output.Action, x.Output.Name)
	}
	if len(x.Attribute) > 0 {
		b.WriteString(" " + schema.FormatPath(x.Attribute))
	}
	if x.Replaces {
		b.WriteString(" (forces replacement)")
	}
	b.WriteString(":")
	if x.Unedited != causes.Edited {
		return b.String() + " " + string(x.Unedited)
	}
	var names []string
	for _, s := range x.Steps {
		names = append(names, s.Name)
	}
	if len(names) > 0 {
		b.WriteString(" " + strings.Join(names, " > "))
	}
	at := x.Place
	fmt.Fprintf(&b, " %s:%d", at.Filename, at.Start.Line)
	if at.End.Line != at.Start.Line {
		fmt.Fprintf(&b, "-%d", at.End.Line)
	}
	return b.String()
}

// TestCausesOfThousands holds that a map with thousands of elements is not searched once for each instance.
func TestCausesOfThousands(t *testing.T) {
	const n = 3000
	s := (&scenario{providers: map[string]string{"lab": causesLab}}).stage(t)
	s.inMemory = true
	all := map[string][]slot{}
	add := func(before, after string) { all["main.tf"] = append(all["main.tf"], slot{before, after}) }
	add("locals {\n  m = {\n", "locals {\n  m = {\n")
	all["main.tf"][0].before = all["main.tf"][0].after
	for i := range n {
		add(fmt.Sprintf("    k%d = \"a\"\n", i), fmt.Sprintf("    k%d = \"b\"\n", i))
	}
	end := "  }\n}\nresource \"lab_thing\" \"a\" {\n  for_each = local.m\n  name = each.key\n  color = each.value\n}\n"
	add(end, end)
	s.files = slotFiles(all, true, nil)
	p, ds := s.plan(t.Context(), &order{verb: "plan"})
	s.fatal(ds)
	edits, _ := editsOf(all)
	found := causesOf(t, s, p, edits)
	if len(found) != n || found[0].Unedited != causes.Edited || found[n-1].Unedited != causes.Edited {
		t.Fatalf("%d causes of %d changes; the last one is %q", len(found), n, causeLine(found[len(found)-1]))
	}
}

// TestCausesOfRandomConfigurations holds that the search ends, and that each change has a cause or a reason: whether
// each line was edited, none was, or it is not known.
func TestCausesOfRandomConfigurations(t *testing.T) {
	for seed := range uint64(40) {
		s := (&scenario{providers: map[string]string{"lab": randomLab}}).stage(t)
		s.inMemory = true
		everything := causes.Edits{}
		for name, text := range randomConfig(seed) {
			s.files[name] = text
			lines := strings.Split(string(text), "\n")
			everything[name] = []causes.Edit{{First: 1, Last: len(lines), Added: lines, Removed: lines}}
		}
		p, ds := s.plan(t.Context(), &order{verb: "plan"})
		s.fatal(ds)
		changes := 0
		for _, c := range p.Changes {
			if c.Action != plans.NoOp && c.Action != plans.Read {
				changes++
			}
		}
		for _, edits := range []causes.Edits{everything, {}, nil} {
			with := map[*plans.ResourceChange]bool{}
			for _, x := range causesOf(t, s, p, edits) {
				if x.Change != nil {
					with[x.Change] = true
				}
				if (x.Unedited == causes.Edited) != (x.Place.Filename != "") {
					t.Errorf("seed %d: %s has the place %s", seed, causeLine(x), x.Place)
				}
			}
			if len(with) != changes {
				t.Errorf("seed %d: %d of %d changes have causes", seed, len(with), changes)
			}
		}
	}
}

// TestCausesOfBombs holds that expressions that ask for a search without end are not followed to their end, and that
// a condition of an ephemeral variable, which the plan does not have, is no obstacle.
func TestCausesOfBombs(t *testing.T) {
	loops := "{ a = \"x\" }"
	for range 24 {
		loops = "{ for k, v in " + loops + " : k => \"${v}${v}\" }"
	}
	conditions := "locals {\n  c0 = true\n"
	for i := range 300 {
		conditions += fmt.Sprintf("  c%d = local.c%d == local.c%d\n", i+1, i, i)
	}
	for name, text := range map[string]string{
		"loops":      "resource \"lab_thing\" \"a\" {\n  name  = \"a\"\n  color = length(" + loops + "[\"a\"]) > 0 ? \"x\" : " + loops + "[\"a\"]\n}\n",
		"conditions": conditions + "}\nresource \"lab_thing\" \"a\" {\n  name  = \"a\"\n  color = local.c300 ? \"x\" : \"y\"\n}\n",
		"ephemeral":  "variable \"e\" {\n  ephemeral = true\n  default = true\n}\nlocals {\n  x = (\n    var.e\n    ? \"x\"\n    : \"y\"\n  )\n}\nresource \"lab_thing\" \"a\" {\n  name = \"a\"\n  color = ephemeralasnull(local.x) == null ? \"x\" : \"y\"\n}\n",
	} {
		s := (&scenario{providers: map[string]string{"lab": causesLab}}).stage(t)
		s.inMemory = true
		s.files["main.tf"] = []byte("resource \"lab_thing\" \"a\" {\n  name = \"a\"\n}\n")
		if first := s.run(&order{verb: "apply"}); !first.applied {
			t.Fatal(first)
		}
		s.files["main.tf"] = []byte(text)
		p, ds := s.plan(t.Context(), &order{verb: "plan"})
		if ds.HasErrors() {
			t.Fatalf("%s: %s", name, ds)
		}
		line := strings.Count(text, "\n") - 1
		if before, _, found := strings.Cut(text, "    ? "); found {
			line = strings.Count(before, "\n") + 1
		}
		edits := causes.Edits{"main.tf": {{First: line, Last: line}}}
		if found := causesOf(t, s, p, edits); len(found) != 1 || found[0].Unedited != causes.Edited {
			t.Errorf("%s: %d causes", name, len(found))
		}
	}
}
