package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A module writes the blocks of an outline. An item refers only to earlier items, so there are no cycles.
type module struct {
	scope
	dir    string
	path   string // address of the module, followed by a dot; "" for the root module
	blocks []Block
	places []string // addresses for depends_on and the like
	// targets are the addresses in the module, and in the modules that it calls, from which a test chooses its -target
	// options.
	targets []string

	// The fields below are for modules with objects of the lab provider.
	things    bool
	seed      uint64
	providers []string // names of provider configurations
	proxies   []string // names of provider configurations that a caller must pass
	single    []string // addresses of things without count and for_each
}

func (m *module) reseed(seed, stream uint64) { m.r = rand.New(rand.NewPCG(seed, stream)) }

func (m *module) block(format string, args ...any) {
	m.blocks = append(m.blocks, Block{m.dir + "main.tf", fmt.Sprintf(format, args...)})
}

func (m *module) write(items []item) {
	if m.things {
		m.reseed(m.seed, 30+uint64(len(m.dir)))
		m.header()
	}
	configured := !m.things || m.dir != ""
	for _, x := range items {
		if !configured && x.kind != "variable" {
			m.reseed(m.seed, 31)
			m.configurations()
			configured = true
		}
		// Each item has its own random numbers: an edit of one item does not change the others, as long as
		// they can refer to the same values.
		m.r = rand.New(rand.NewPCG(x.seed, 9))
		switch x.kind {
		case "variable":
			m.variable(x)
		case "local":
			m.local(x)
		case "resource":
			m.resource(x)
		case "thing":
			m.thing(x)
		case "data":
			m.data(x)
		case "call":
			m.call(x)
		case "check":
			m.check(x)
		case "output":
			m.output(x)
		case "moved":
			m.block("moved {\n  from = %s\n  to   = %s\n}\n", x.was, x.name)
		}
	}
}

func (m *module) variable(x item) {
	k := []kind{text, number, list, dict, record}[m.r.IntN(5)]
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
	if k == record || m.chance(2) {
		extra += "\n  type = " + map[kind]string{text: "string", number: "number", list: "list(string)", dict: "map(string)", record: recordType}[k]
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

// repeat returns a count or for_each argument, or nothing. key has the values that differ between the
// instances, such as each.key. all is an expression with the attribute attr of all instances.
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
	address := "terraform_data." + x.name
	if x.gone != "" {
		m.removed(address, x)
		return
	}
	m.r = rand.New(rand.NewPCG(x.shape, 11))
	arg, key, ids := m.repeat(address, "id")
	m.r = rand.New(rand.NewPCG(x.seed, 9))
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
	m.r = rand.New(rand.NewPCG(x.shape, 12))
	inner.r = m.r
	if len(m.places) > 0 && m.chance(5) {
		body += "\n  depends_on = [" + m.places[m.r.IntN(len(m.places))] + "]"
	}
	body += m.provisioner() + m.lifecycle(&inner)
	m.block("resource \"terraform_data\" %q {%s\n}\n", x.name, body)
	m.moved(x, "terraform_data.", arg)
	m.imported(address, arg)
	m.add(value{expr: ids, kind: opaque, unknown: true})
	if arg == "" && input.kind != opaque {
		m.add(value{expr: address + ".output", kind: input.kind, sensitive: input.sensitive, unknown: true})
	}
	m.places = append(m.places, address)
	m.targets = append(m.targets, m.path+address)
}

func (m *module) removed(address string, x item) {
	m.block("removed {\n  from = %s\n  lifecycle {\n    destroy = %t\n  }\n}\n", address, x.gone == "removed")
}

func (m *module) place(prefix string) (string, bool) {
	for _, p := range m.places {
		if strings.HasPrefix(p, prefix) {
			return p, true
		}
	}
	return "", false
}

func (m *module) call(x item) {
	address := "module." + x.name
	if x.gone != "" {
		m.removed(address, x)
		return
	}
	// A change of the name does not change the directory.
	dir := m.dir + "mod-" + strings.TrimRight(x.name, "x") + "/"
	child := &module{scope: scope{r: m.r}, dir: dir, path: m.path + address + ".", things: m.things, seed: m.seed + 1}
	child.write(x.in)
	m.r = rand.New(rand.NewPCG(x.shape, 10))
	out := ""
	for _, y := range x.in {
		if y.kind == "output" {
			out = y.name
		}
	}
	arg, key, all := m.repeat(address, out)
	if m.things { // one instance only: two would have objects with the same name
		arg, key, all = "", nil, address+"."+out
	}
	m.r = rand.New(rand.NewPCG(x.seed, 10))
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
	if m.things {
		body += m.passed(child)
	}
	m.block("module %q {\n  source = \"./mod-%s\"%s\n}\n", x.name, strings.TrimRight(x.name, "x"), body)
	m.moved(x, "module.", arg)
	m.blocks = append(m.blocks, child.blocks...)
	if out != "" {
		m.add(value{expr: all, kind: opaque, unknown: true, sensitive: true})
	}
	m.places = append(m.places, address)
	m.targets = append(append(m.targets, m.path+address), child.targets...)
}

func (m *module) check(x item) {
	// A condition needs a reference; variables come first, so the first value is one.
	m.block("check %q {\n  assert {\n    condition     = can(%s) && %s\n    error_message = \"no\"\n  }\n}\n", x.name, m.known[0].expr, m.value(truth, 2, false).expr)
}

func (m *module) output(x item) {
	v := m.any(2)
	extra := ""
	// In a called module Terraform 1.11.4 forgets that an output is declared sensitive, and
	// shows it; lockstep does not.
	if (v.sensitive || m.chance(8)) && m.dir == "" {
		extra = "\n  sensitive = true"
	}
	if m.dir == "" && m.chance(6) {
		extra += "\n  precondition {\n    condition     = " + m.value(truth, 1, true).expr + " || can(" + m.known[0].expr + ")\n    error_message = \"pre\"\n  }"
	}
	if len(m.places) > 0 && m.chance(8) {
		extra += "\n  depends_on = [" + m.places[m.r.IntN(len(m.places))] + "]"
	}
	m.block("output %q {\n  value = %s%s\n}\n", x.name, v.expr, extra)
}
