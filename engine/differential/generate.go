package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Block is one top-level block of a configuration.
type Block struct {
	File string // slash-separated
	Text string
}

// A Case is a configuration and what it becomes by edits: the blocks of each round.
type Case struct {
	Seed   uint64
	Rounds [][]Block
}

// rounds is how many versions of its configuration a case has.
const rounds = 3

// Generate returns the case of a seed.
func Generate(seed uint64) Case {
	c := Case{Seed: seed}
	base := rand.New(rand.NewPCG(seed, 1))
	plan := sketch(base, 0)
	for i := range rounds {
		m := &module{scope: scope{r: rand.New(rand.NewPCG(seed, uint64(i+2)))}, dir: ""}
		if i > 0 {
			plan = m.edit(plan)
		}
		m.write(plan)
		c.Rounds = append(c.Rounds, m.blocks)
	}
	return c
}

// An item is something that a module declares, in outline: it keeps its name and its
// seed through edits that are not about it.
type item struct {
	what string // "local", "resource", "call", "output", "check", "variable"
	name string
	seed uint64
	was  string // the former name, for a moved block
	gone string // "removed": only a removed block is left; "forgotten": one that keeps the object
	in   []item // of a call
}

// sketch outlines a module.
func sketch(r *rand.Rand, depth int) []item {
	var items []item
	for i := range 1 + r.IntN(2) {
		items = append(items, item{what: "variable", name: fmt.Sprintf("v%d", i), seed: r.Uint64()})
	}
	for i := range 3 + r.IntN(4) {
		x := item{what: "resource", name: fmt.Sprintf("r%d", i), seed: r.Uint64()}
		switch k := r.IntN(10); {
		case k < 3:
			x.what, x.name = "local", fmt.Sprintf("l%d", i)
		case k == 3 && depth < 2:
			x.what, x.name = "call", fmt.Sprintf("m%d", i)
			x.in = sketch(r, depth+1)
		case k == 4 && depth == 0:
			x.what, x.name = "check", fmt.Sprintf("c%d", i)
		}
		items = append(items, x)
	}
	for i := range 1 + r.IntN(2) {
		items = append(items, item{what: "output", name: fmt.Sprintf("o%d", i), seed: r.Uint64()})
	}
	return items
}

// edit changes an outline: other contents, other names, things that come and go.
func (m *module) edit(items []item) []item {
	var out []item
	for _, x := range items {
		x.was = ""
		if x.gone != "" {
			continue
		}
		if x.in != nil {
			x.in = m.edit(x.in)
		}
		movable := x.what == "resource" || x.what == "call"
		switch k := m.r.IntN(14); {
		case k < 4:
			x.seed = m.r.Uint64()
		case k == 4 && movable:
			x.was, x.name = x.name, x.name+"x"
		case k == 5 && x.what == "resource":
			x.gone = m.pick("removed", "forgotten")
		case k == 6 && x.what != "variable":
			continue
		}
		out = append(out, x)
	}
	if m.chance(3) {
		out = append(out, item{what: "resource", name: fmt.Sprintf("n%d", m.r.IntN(100)), seed: m.r.Uint64()})
	}
	return out
}

// A module writes the blocks of an outline. What an item mentions comes before it, so
// that there are no cycles.
type module struct {
	scope
	dir    string
	blocks []Block
	places []string // addresses for depends_on and the like
}

func (m *module) block(format string, args ...any) {
	m.blocks = append(m.blocks, Block{m.dir + "main.tf", fmt.Sprintf(format, args...)})
}

func (m *module) write(items []item) {
	for _, x := range items {
		// Each item has its own chances: an edit of one leaves the others alone, as long as
		// they know the same.
		m.r = rand.New(rand.NewPCG(x.seed, 9))
		switch x.what {
		case "variable":
			m.variable(x)
		case "local":
			m.local(x)
		case "resource":
			m.resource(x)
		case "call":
			m.call(x)
		case "check":
			m.check(x)
		case "output":
			m.output(x)
		}
	}
}

func (m *module) variable(x item) {
	k := []kind{text, number, list, dict}[m.r.IntN(4)]
	v := (&scope{r: m.r}).simple(k, true)
	v.expr, v.sensitive = strings.TrimSpace(v.expr), m.chance(6)
	extra := ""
	if v.sensitive {
		extra += "\n  sensitive = true"
	}
	if m.chance(3) {
		extra += "\n  nullable = false"
	}
	if m.chance(4) {
		extra += fmt.Sprintf("\n  validation {\n    condition     = can(jsonencode(var.%s))\n    error_message = \"bad\"\n  }", x.name)
	}
	if m.chance(2) {
		extra += "\n  type = " + map[kind]string{text: "string", number: "number", list: "list(string)", dict: "map(string)"}[k]
	}
	m.block("variable %q {\n  default = %s%s\n}\n", x.name, v.expr, extra)
	m.add(value{expr: "var." + x.name, kind: k, sensitive: v.sensitive})
}

func (m *module) local(x item) {
	v := m.any(3)
	m.block("locals {\n  %s = %s\n}\n", x.name, v.expr)
	v.expr = "local." + x.name
	m.add(v)
}

// repeat returns count or for_each, or nothing, with what tells the instances apart and
// how all of them are one value.
func (m *module) repeat(address, attr string) (arg string, key []value, all string) {
	switch m.r.IntN(4) {
	case 0:
		n := m.pick("0", "1", "2", "3")
		if m.chance(3) {
			n = fmt.Sprintf("min(length(%s), 3)", m.value(list, 1, true).expr)
		}
		return "\n  count = " + n, []value{{expr: "count.index", kind: number}}, address + "[*]." + attr
	case 1:
		e := fmt.Sprintf("toset(%s)", m.value(list, 1, true).expr)
		if m.chance(2) {
			e = m.value(dict, 1, true).expr
		}
		return "\n  for_each = " + e, []value{{expr: "each.key", kind: text}, {expr: "tostring(each.value)", kind: text}},
			fmt.Sprintf("{ for k, v in %s : k => v.%s }", address, attr)
	}
	return "", nil, address + "." + attr
}

func (m *module) resource(x item) {
	if x.gone != "" {
		m.block("removed {\n  from = terraform_data.%s\n  lifecycle {\n    destroy = %t\n  }\n}\n", x.name, x.gone == "removed")
		return
	}
	address := "terraform_data." + x.name
	arg, key, ids := m.repeat(address, "id")
	inner := scope{r: m.r, known: append(key, m.known...)}
	input := inner.any(2)
	body := arg
	if !m.chance(6) {
		body += "\n  input = " + input.expr
	} else {
		input = value{kind: opaque}
	}
	if m.chance(3) {
		t := inner.any(1)
		body += "\n  triggers_replace = " + t.expr
	}
	if len(m.places) > 0 && m.chance(5) {
		body += "\n  depends_on = [" + m.places[m.r.IntN(len(m.places))] + "]"
	}
	body += m.lifecycle(&inner)
	m.block("resource \"terraform_data\" %q {%s\n}\n", x.name, body)
	m.moved(x, "terraform_data.")
	m.add(value{expr: ids, kind: opaque, unknown: true})
	if arg == "" && input.kind != opaque {
		m.add(value{expr: address + ".output", kind: input.kind, sensitive: input.sensitive, unknown: true})
	}
	m.places = append(m.places, address)
}

func (m *module) lifecycle(inner *scope) string {
	var lines []string
	if m.chance(5) {
		lines = append(lines, "create_before_destroy = "+m.pick("true", "true", "false"))
	}
	if m.chance(7) {
		lines = append(lines, "ignore_changes = "+m.pick("[input]", "[triggers_replace]", "all"))
	}
	if at, ok := m.place("terraform_data."); ok && m.chance(7) {
		lines = append(lines, "replace_triggered_by = ["+at+m.pick("", ".id", ".input")+"]")
	}
	if m.chance(7) {
		lines = append(lines, "precondition {\n      condition     = "+inner.value(truth, 1, true).expr+" || can("+m.known[0].expr+")\n      error_message = \"pre\"\n    }")
	}
	if m.chance(7) {
		lines = append(lines, "postcondition {\n      condition     = self.id != \"\" || "+inner.value(truth, 1, true).expr+"\n      error_message = \"post\"\n    }")
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n  lifecycle {\n    " + strings.Join(lines, "\n    ") + "\n  }"
}

func (m *module) place(prefix string) (string, bool) {
	for _, p := range m.places {
		if strings.HasPrefix(p, prefix) {
			return p, true
		}
	}
	return "", false
}

func (m *module) moved(x item, prefix string) {
	if x.was != "" {
		m.block("moved {\n  from = %s%s\n  to   = %s%s\n}\n", prefix, x.was, prefix, x.name)
	}
}

func (m *module) call(x item) {
	address := "module." + x.name
	// The directory stays through a change of the name.
	dir := m.dir + "mod-" + strings.TrimRight(x.name, "x") + "/"
	child := &module{scope: scope{r: m.r}, dir: dir}
	child.write(x.in)
	m.r = rand.New(rand.NewPCG(x.seed, 10))
	out := ""
	for _, y := range x.in {
		if y.what == "output" {
			out = y.name
		}
	}
	arg, key, all := m.repeat(address, out)
	inner := scope{r: m.r, known: append(key, m.known...)}
	body := arg
	for _, v := range child.known {
		if name, ok := strings.CutPrefix(v.expr, "var."); ok && m.chance(2) {
			body += "\n  " + name + " = " + inner.value(v.kind, 1, false).expr
		}
	}
	if len(m.places) > 0 && m.chance(6) {
		body += "\n  depends_on = [" + m.places[m.r.IntN(len(m.places))] + "]"
	}
	m.block("module %q {\n  source = \"./mod-%s\"%s\n}\n", x.name, strings.TrimRight(x.name, "x"), body)
	m.moved(x, "module.")
	m.blocks = append(m.blocks, child.blocks...)
	if out != "" {
		m.add(value{expr: all, kind: opaque, unknown: true, sensitive: true})
	}
	m.places = append(m.places, address)
}

func (m *module) check(x item) {
	// A condition must mention something; variables come first.
	m.block("check %q {\n  assert {\n    condition     = can(%s) && %s\n    error_message = \"no\"\n  }\n}\n", x.name, m.known[0].expr, m.value(truth, 2, false).expr)
}

func (m *module) output(x item) {
	v := m.any(2)
	extra := ""
	// In a called module Terraform 1.11.4 forgets that an output is said to be sensitive,
	// and shows it; lockstep does not.
	if (v.sensitive || m.chance(8)) && m.dir == "" {
		extra = "\n  sensitive = true"
	}
	if m.dir == "" && m.chance(6) {
		extra += "\n  precondition {\n    condition     = " + m.value(truth, 1, true).expr + " || can(" + m.known[0].expr + ")\n    error_message = \"pre\"\n  }"
	}
	m.block("output %q {\n  value = %s%s\n}\n", x.name, v.expr, extra)
}
