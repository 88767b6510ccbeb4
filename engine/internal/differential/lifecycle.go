package differential

import (
	"fmt"
	"strings"
)

// lifecycle returns a random lifecycle block, or nothing.
func (m *module) lifecycle(inner *scope) string {
	var lines []string
	if m.chance(5) {
		lines = append(lines, "create_before_destroy = "+m.pick("true", "true", "false"))
	}
	if m.chance(25) {
		lines = append(lines, "prevent_destroy = true")
	}
	if m.chance(7) {
		lines = append(lines, "ignore_changes = "+m.pick("[input]", "[triggers_replace]", "all"))
	}
	if at, ok := m.place("terraform_data."); ok && m.chance(7) {
		lines = append(lines, "replace_triggered_by = ["+at+m.pick("", ".id", ".input")+"]")
	}
	if m.chance(7) {
		lines = append(lines, "precondition {\n      condition     = "+inner.value(truth, 1, true).expr+m.mostly()+"\n      error_message = \"pre\"\n    }")
	}
	if m.chance(7) {
		about := m.pick("anytrue([self.id != \"\", ", "anytrue([self.id != \"\", ", "anytrue([self.id != \"\", ", "alltrue([self.output == self.input, ")
		lines = append(lines, "postcondition {\n      condition     = "+about+inner.value(truth, 1, true).expr+"])\n      error_message = \"post\"\n    }")
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n  lifecycle {\n    " + strings.Join(lines, "\n    ") + "\n  }"
}

// mostly returns the end of a condition that is true most of the time.
func (m *module) mostly() string {
	if m.chance(6) {
		return " && can(" + m.known[0].expr + ")" // a condition needs a reference
	}
	return " || can(" + m.known[0].expr + ")"
}

// provisioner returns a provisioner block that may fail, or nothing.
func (m *module) provisioner() string {
	if !m.chance(14) {
		return ""
	}
	extra := ""
	if m.chance(3) {
		extra += "\n    when = destroy"
	}
	if m.chance(4) {
		extra += "\n    on_failure = continue"
	}
	return fmt.Sprintf("\n  provisioner \"local-exec\" {\n    command = %q%s\n  }", m.pick("true", "true", "false"), extra)
}

// keyFor returns an instance key that fits a count or for_each argument.
func (m *module) keyFor(arg string) string {
	switch {
	case strings.Contains(arg, "count ="):
		return m.pick("[0]", "[1]")
	case strings.Contains(arg, "for_each ="):
		return m.pick(`["a"]`, `["b"]`)
	}
	return ""
}

// moved adds moved blocks for an item's former name, or for other instance keys.
func (m *module) moved(x item, prefix, arg string) {
	if x.was != "" {
		m.block("moved {\n  from = %s%s\n  to   = %s%s\n}\n", prefix, x.was, prefix, x.name)
	}
	if !x.reshaped || m.chance(2) || prefix == "module." && m.chance(2) {
		return
	}
	from, to := m.pick("", "[0]", "[1]", `["a"]`), m.keyFor(arg)
	if from != to {
		m.block("moved {\n  from = %s%s%s\n  to   = %s%s%s\n}\n", prefix, x.name, from, prefix, x.name, to)
	}
}

// imported sometimes adds an import block for an instance.
func (m *module) imported(address, arg string) {
	if m.dir != "" || !m.chance(14) {
		return
	}
	id := func() string {
		return fmt.Sprintf("%08x-1111-4111-8111-%012x", m.r.Uint32(), m.r.Uint32())
	}
	if strings.Contains(arg, "for_each =") && m.chance(2) {
		m.block("import {\n  for_each = { a = %q }\n  to       = %s[each.key]\n  id       = each.value\n}\n", id(), address)
		return
	}
	m.block("import {\n  to = %s%s\n  id = %q\n}\n", address, m.keyFor(arg), id())
}
