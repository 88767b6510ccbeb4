package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A randomModule writes the files of a random configuration: resources of both
// providers, single, counted and with for_each, locals, and calls of further modules.
// Everything mentions only what stands before it, so there are no cycles.
type randomModule struct {
	r     *rand.Rand
	files map[string][]byte
	dir   string
	depth int
	text  strings.Builder
	known []string // expressions of what was declared so far, of any type
	names []string // addresses for depends_on
}

// randomConfig returns the files of a configuration. Configurations of different seeds
// use the same names, so that one is a change of the other.
func randomConfig(seed uint64) map[string][]byte {
	files := map[string][]byte{}
	m := &randomModule{r: rand.New(rand.NewPCG(seed, 1)), files: files}
	m.write()
	return files
}

func (m *randomModule) line(format string, args ...any) { fmt.Fprintf(&m.text, format+"\n", args...) }

// chance is true once in n times.
func (m *randomModule) chance(n int) bool { return m.r.IntN(n) == 0 }

// value returns an expression made of something known; short, whatever that is.
func (m *randomModule) value() string {
	if len(m.known) == 0 || m.chance(5) {
		return fmt.Sprintf("%q", string(rune('p'+m.r.IntN(3))))
	}
	return fmt.Sprintf("md5(jsonencode(%s))", m.known[m.r.IntN(len(m.known))])
}

func (m *randomModule) write() {
	m.line("variable \"path\" {\n  default = \"\"\n}\nvariable \"in\" {\n  default = null\n}\nvariable \"n\" {\n  default = %d\n}", m.r.IntN(3))
	m.known = append(m.known, "var.in", "var.n")
	for i := range 3 + m.r.IntN(4) {
		switch k := m.r.IntN(8); {
		case k == 0:
			m.local(i)
		case k < 2 && m.depth < 2:
			m.call(i)
		default:
			m.resource(i)
		}
	}
	m.line("output \"out\" {\n  value = [%s, %s]\n}", m.value(), m.value())
	m.files[m.dir+"main.tf"] = []byte(m.text.String())
}

func (m *randomModule) local(i int) {
	m.line("locals {\n  l%d = [%s, %s]\n}", i, m.value(), m.value())
	m.known = append(m.known, fmt.Sprintf("local.l%d", i))
}

// repeat writes count or for_each or neither, and returns what tells the instances
// apart, and how all of them are written as one value.
func (m *randomModule) repeat(address, attr string) (key, all string) {
	switch m.r.IntN(4) {
	case 0:
		n := fmt.Sprint(m.r.IntN(4))
		if m.chance(3) {
			n = "var.n"
		}
		m.line("  count = %s", n)
		return "${count.index}", fmt.Sprintf("%s[*].%s", address, attr)
	case 1:
		keys := []string{}
		for _, k := range []string{"a", "b", "c d"} {
			if !m.chance(3) {
				keys = append(keys, fmt.Sprintf("%q", k))
			}
		}
		m.line("  for_each = toset([%s])", strings.Join(keys, ", "))
		return "${each.key}", fmt.Sprintf("values(%s)[*].%s", address, attr)
	}
	return "", address + "." + attr
}

func (m *randomModule) resource(i int) {
	kind := "lab_thing"
	if m.chance(3) {
		kind = "terraform_data"
	}
	address := fmt.Sprintf("%s.r%d", kind, i)
	m.line("resource %q \"r%d\" {", kind, i)
	key, all := m.repeat(address, "id")
	if kind == "lab_thing" {
		m.line("  name = \"${var.path}r%d%s\"", i, key)
		m.line("  color = %s", m.value())
		if m.chance(2) {
			m.line("  kind = %s", m.value())
		}
		if refs := m.ids(); refs != "" {
			m.line("  refs = %s", refs)
		}
	} else {
		m.line("  input = [%s]", m.value())
		m.line("  triggers_replace = [%s]", m.value())
	}
	if len(m.names) > 0 && m.chance(4) {
		m.line("  depends_on = [%s]", m.names[m.r.IntN(len(m.names))])
	}
	if m.chance(4) {
		m.line("  lifecycle {\n    create_before_destroy = true\n  }")
	}
	m.line("}")
	m.known = append(m.known, all)
	m.names = append(m.names, address)
}

// ids returns an expression for a list of IDs of things declared before, or "".
func (m *randomModule) ids() string {
	var lists []string
	for _, x := range m.known {
		if strings.Contains(x, "lab_thing.") && m.chance(2) {
			lists = append(lists, "["+x+"]")
		}
	}
	if len(lists) == 0 {
		return ""
	}
	return "flatten([" + strings.Join(lists, ", ") + "])"
}

func (m *randomModule) call(i int) {
	name := fmt.Sprintf("m%d", i)
	m.line("module %q {\n  source = \"./%s\"", name, name)
	key, all := m.repeat("module."+name, "out")
	m.line("  path = \"${var.path}%s%s-\"", name, key)
	m.line("  n = %d", m.r.IntN(3))
	m.line("  in = %s", m.value())
	if len(m.names) > 0 && m.chance(4) {
		m.line("  depends_on = [%s]", m.names[m.r.IntN(len(m.names))])
	}
	m.line("}")
	m.known = append(m.known, all)
	m.names = append(m.names, "module."+name)
	child := &randomModule{r: m.r, files: m.files, dir: m.dir + name + "/", depth: m.depth + 1}
	child.write()
}
