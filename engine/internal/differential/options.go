package differential

import "strings"

// options returns the options that a round is planned with; usually none.
func (m *module) options() []string {
	if len(m.targets) == 0 {
		return nil
	}
	at := func() string { return m.targets[m.r.IntN(len(m.targets))] }
	switch m.r.IntN(20) {
	case 0, 1:
		return []string{"-target=" + at()}
	case 2:
		return []string{"-target=" + at(), "-target=" + at() + m.pick("", "[0]", `["a"]`)}
	case 3, 4:
		if a := at(); strings.Contains(a, "terraform_data.") { // the address of a resource, not of a module
			return []string{"-replace=" + a + m.pick("", "[0]", `["a"]`)}
		}
	case 5:
		return []string{"-refresh-only"}
	case 6:
		return []string{"-destroy"}
	case 7:
		return []string{"-destroy", "-target=" + at()}
	case 8:
		return []string{"-refresh=false"}
	}
	return nil
}

// mistakes are expressions that make every plan fail.
var mistakes = []string{
	`tonumber("a")`, `["a"][3]`, `1 / 0`, `{}.a`, `upper(null)`, `local.nothing`, `terraform_data.nothing.id`, `nothing(1)`,
	`"a" + 1`, `tomap({ a = 1 }).b`, `element([], 0)`, `regex("x", "y")`, `jsondecode("{")`, `module.nothing.x`, `var.nothing`,
	`each.key`, `count.index`, `self.id`, `one([1, 2])`, `file("nothing")`, `"${[]}"`, `substr("a", 0)`, `slice([], 0, 1)`, `[for x in 3 : x]`,
	`{ for x in ["a", "a"] : x => 1 }`, `true ? [] : 1 + {}`, `terraform.nothing`, `path.nothing`, `data.nothing.x`, `!"a"`, `-"a"`, `null.x`,
}

// mistake sometimes adds a mistake.
func (m *module) mistake() {
	if m.chance(14) {
		m.block("locals {\n  mistake = %s\n}\n", m.pick(mistakes...))
	}
}
