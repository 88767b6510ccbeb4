package differential

import (
	"fmt"
	"strings"
)

// labProvider is the test provider of the cases with providers; see [generateThings].
const labProvider = "registry.terraform.io/lockstep/lab"

// generateThings returns a random case, as [Generate] does, that also has objects of the lab provider. It makes
// provider configurations, used and unused, that depend on other values; modules that get them under other
// names; provider_meta; data sources; and imports of objects that another block has forgotten. Each object's
// name comes from a seed, so that its ID is the same in both tools.
func generateThings(seed uint64) Case { return generate(seed, true) }

// sketchThings adds the outlines of lab provider objects to a module's outline.
func (m *module) sketchThings(items []item) []item {
	for i := range items {
		if items[i].in != nil {
			items[i].in = m.sketchThings(items[i].in)
		}
	}
	var things []item
	for i := range 1 + m.r.IntN(3) {
		things = append(things, item{kind: "thing", name: fmt.Sprintf("t%d", i), seed: m.r.Uint64(), shape: m.r.Uint64()})
	}
	if m.chance(3) {
		things = append(things, item{kind: "data", name: "d0", seed: m.r.Uint64()})
	}
	// Outputs come last, so that they may refer to things.
	at := len(items)
	for at > 0 && items[at-1].kind == "output" {
		at--
	}
	return append(append(append([]item{}, items[:at]...), things...), items[at:]...)
}

// header writes the requirements of a module, and its provider configurations.
func (m *module) header() {
	aliases := ""
	if m.dir != "" {
		m.providers = []string{"lab"}
		if m.r.IntN(2) == 0 {
			m.proxies = []string{"lab.inner"}
			aliases = "\n      configuration_aliases = [lab.inner]"
			m.providers = append(m.providers, "lab.inner")
		}
	}
	meta := ""
	if m.chance(3) {
		meta = fmt.Sprintf("\n  provider_meta \"lab\" {\n    module = %q\n  }", "meta of "+m.path)
	}
	m.block("terraform {\n  required_providers {\n    lab = {\n      source = %q%s\n    }\n  }%s\n}\n", labProvider, aliases, meta)
}

// configurations writes the root module's provider configurations. They come after the variables and local
// values that they refer to. At least one always stays.
func (m *module) configurations() {
	region := func() string {
		if m.chance(4) {
			return ""
		}
		return "\n  region = tostring(" + m.value(text, 1, false).expr + ")"
	}
	if !m.chance(5) {
		m.block("provider \"lab\" {%s\n}\n", region())
	}
	m.providers = []string{"lab", "lab.other"}
	m.block("provider \"lab\" {\n  alias = \"other\"%s\n}\n", region())
	if m.chance(2) {
		m.block("provider \"lab\" {\n  alias   = \"unused\"\n  trouble = %q%s\n}\n", m.pick("configure", "validate", "none"), region())
	}
	if m.chance(4) {
		m.block("provider \"lab\" {\n  alias = \"third\"%s\n}\n", region())
		m.providers = append(m.providers, "lab.third")
	}
}

// passed returns the providers argument for the call of a module, if the module needs one.
func (m *module) passed(child *module) string {
	if len(child.proxies) == 0 && !m.chance(3) {
		return ""
	}
	lines := []string{"lab = " + m.pick(m.providers...)}
	for _, p := range child.proxies {
		lines = append(lines, p+" = "+m.pick(m.providers...))
	}
	return "\n  providers = {\n    " + strings.Join(lines, "\n    ") + "\n  }"
}

// thing writes the resource block of an object of the lab provider.
func (m *module) thing(x item) {
	address := "lab_thing." + x.name
	if x.gone != "" {
		m.removed(address, x)
		return
	}
	m.reseed(x.shape, 21)
	arg, key, _ := m.repeat(address, "id")
	unique := ""
	if arg != "" {
		unique = "-${" + key[0].expr + "}"
	}
	m.reseed(x.seed, 22)
	name := fmt.Sprintf("t%05x", x.seed&0xfffff) + unique
	inner := scope{r: m.r, known: append(key, m.known...)}
	body := arg + fmt.Sprintf("\n  name = \"%s\"", name)
	for _, set := range []struct {
		in   int
		text func() string
	}{
		{2, func() string { return "color = tostring(" + inner.value(text, 1, false).expr + ")" }},
		{4, func() string { return "region = \"" + m.pick("east", "west") + "\"" }},
		{4, func() string { return "secret = tostring(" + inner.value(text, 1, false).expr + ")" }},
		{4, func() string { return "password_wo = \"w\"" }},
		{4, func() string { return "tags = " + inner.value(dict, 1, false).expr }},
		{5, func() string { return "anything = " + inner.any(1).expr }},
		{5, func() string { return "shape = { width = " + m.pick("1", "2", "3") + " }" }},
		{5, func() string { return "parts = [for s in " + inner.value(set, 1, true).expr + " : { label = s }]" }},
		{5, func() string { return "rule {\n    port = " + m.pick("1", "2", "-3") + "\n  }" }},
		{6, func() string { return "box {\n    depth = 3\n  }" }},
		{16, func() string {
			return "trouble = \"" + m.pick("create", "after-create", "update", "delete", "plan", "read") + "\""
		}},
	} {
		if m.chance(set.in) {
			body += "\n  " + set.text()
		}
	}
	if m.chance(3) {
		body += "\n  provider = " + m.pick(m.providers...)
	}
	if len(m.places) > 0 && m.chance(5) {
		body += "\n  depends_on = [" + m.places[m.r.IntN(len(m.places))] + "]"
	}
	body += m.provisioner() + m.thingLifecycle()
	m.block("resource \"lab_thing\" %q {%s\n}\n", x.name, body)
	m.moved(x, "lab_thing.", arg)
	if m.dir == "" && m.chance(10) {
		m.block("import {\n  to = %s%s\n  id = %q\n}\n", address, m.keyFor(arg), m.pick(fmt.Sprintf("t%05x-1", x.seed&0xfffff), "nothing-1"))
	}
	if arg == "" {
		for _, attr := range []string{"id", "tier", "region", "name"} {
			m.add(value{expr: address + "." + attr, kind: text, unknown: true})
		}
		m.single = append(m.single, address)
	}
	m.places = append(m.places, address)
	m.targets = append(m.targets, m.path+address)
}

func (m *module) thingLifecycle() string {
	var lines []string
	if m.chance(4) {
		lines = append(lines, "create_before_destroy = true")
	}
	if m.chance(7) {
		lines = append(lines, "ignore_changes = "+m.pick("[color]", "[tags]", "[name]", "all"))
	}
	if at, ok := m.place("lab_thing."); ok && m.chance(7) {
		lines = append(lines, "replace_triggered_by = ["+at+m.pick("", ".id", ".color")+"]")
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n  lifecycle {\n    " + strings.Join(lines, "\n    ") + "\n  }"
}

// data writes a data block that reads an object which the module has.
func (m *module) data(x item) {
	if len(m.single) == 0 {
		return
	}
	of := m.pick(m.single...)
	body := "\n  name = " + of + m.pick(".name", ".name", ".name == \"\" ? \"\" : "+of+".name")
	if m.chance(3) {
		body += "\n  depends_on = [" + of + "]"
	}
	if m.chance(3) {
		body += "\n  provider = " + m.pick(m.providers...)
	}
	m.block("data \"lab_thing\" %q {%s\n}\n", x.name, body)
	m.add(value{expr: "data.lab_thing." + x.name + ".id", kind: text, unknown: true})
	m.add(value{expr: "data.lab_thing." + x.name + ".secret", kind: text, unknown: true, sensitive: true})
}
