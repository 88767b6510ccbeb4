package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A kind is the type of an expression, as precisely as the generator knows types.
type kind byte

const (
	text   kind = 's'
	number kind = 'n'
	truth  kind = 'b'
	list   kind = 'l' // of strings
	dict   kind = 'm' // map of strings
	set    kind = 'e' // of strings
	record kind = 'r' // of recordType; only variables have it
	// opaque is the kind of values with random IDs of resources. The IDs differ between two applies. So these
	// values are used only where the comparison can find the ID and replace it.
	opaque kind = 'o'
)

// recordType is an object type with attributes that may be left out.
const recordType = "object({ a = string, b = optional(number, 2), c = optional(list(string)) })"

// A value is an expression of known kind.
type value struct {
	expr      string
	kind      kind
	sensitive bool
	unknown   bool // the value may be unknown until the apply
}

// A scope makes expressions from the values that a module can refer to.
type scope struct {
	r     *rand.Rand
	known []value
}

func (s *scope) chance(n int) bool { return s.r.IntN(n) == 0 }

// pick returns one of the texts at random.
func (s *scope) pick(texts ...string) string { return texts[s.r.IntN(len(texts))] }

// add makes v available for references.
func (s *scope) add(v value) { s.known = append(s.known, v) }

// reference returns the expression of a random existing value of the kind k. If certain is set, the value is
// never unknown or sensitive. The second result is false if there is no such value.
func (s *scope) reference(k kind, certain bool) (value, bool) {
	var of []value
	for _, v := range s.known {
		if v.kind == k && !(certain && (v.unknown || v.sensitive)) {
			of = append(of, v)
		}
	}
	if len(of) == 0 {
		return value{}, false
	}
	return of[s.r.IntN(len(of))], true
}

// any returns an expression of any kind.
func (s *scope) any(depth int) value {
	k := []kind{text, number, truth, list, dict, set, opaque}[s.r.IntN(7)]
	return s.value(k, depth, false)
}

// value returns an expression of a kind, with calls nested at most depth deep. If certain is set, its value is
// never unknown or sensitive.
func (s *scope) value(k kind, depth int, certain bool) value {
	if v, ok := s.reference(k, certain); ok && s.chance(3) {
		return v
	}
	if depth == 0 || k == opaque && s.chance(2) {
		return s.simple(k, certain)
	}
	return s.compound(k, depth-1, certain)
}

// simple returns a reference or a literal; see [scope.value].
func (s *scope) simple(k kind, certain bool) value {
	if v, ok := s.reference(k, certain); ok && s.chance(2) {
		return v
	}
	v := value{kind: k}
	switch k {
	case number:
		v.expr = s.pick("0", "1", "2", "3", "-1", "2.5", "1e3", "100000000000000000000")
	case truth:
		v.expr = s.pick("true", "false")
	case list:
		v.expr = s.pick(`[]`, `["a"]`, `["b", "a"]`, `["a", "b", "c d"]`, `["x", "x"]`)
	case dict:
		v.expr = s.pick(`{}`, `{ a = "1" }`, `{ a = "1", b = "2" }`, `{ "c d" = "x", a = "y" }`)
	case set:
		v.expr = s.pick(`toset([])`, `toset(["a"])`, `toset(["b", "a"])`)
	case record:
		v.expr = s.pick(`{ a = "x" }`, `{ a = "y", b = 3 }`, `{ a = "10", c = ["p", "q"] }`, `{ a = null, b = null }`)
	default:
		v.kind = text
		v.expr = s.pick(`""`, `"a"`, `"b"`, `"hello world"`, `"ünï"`, `"x,y"`, `"10"`, `"a\nb"`, `"$${x}"`)
		if k == opaque {
			v.kind = opaque
		}
	}
	return v
}

// A form makes an expression from other expressions: it replaces the i-th %s in text by an expression of the
// kind of[i].
type form struct {
	text string
	of   string
}

// forms are the ways to make an expression of a kind. None depends on time, chance, the machine, or the order
// of opaque values.
var forms = map[kind][]form{
	text: {
		{"coalesce(%s.a, \"n\")", "r"}, {"join(\"/\", %s)", "e"}, {"jsonencode(%s)", "e"}, {"jsonencode(%s)", "r"},
		{"upper(%s)", "s"}, {"lower(%s)", "s"}, {"title(%s)", "s"}, {"trimspace(%s)", "s"}, {"strrev(%s)", "s"},
		{"join(%s, %s)", "sl"}, {"format(\"%%s-%%s\", %s, %s)", "sn"}, {"replace(%s, \"a\", %s)", "ss"}, {"substr(%s, 0, 1)", "s"},
		{"\"x${%s}y\"", "s"}, {"\"${%s}${%s}\"", "nb"}, {"(%s ? %s : %s)", "bss"}, {"sha1(%s)", "s"}, {"md5(%s)", "s"}, {"base64encode(%s)", "s"},
		{"jsonencode(%s)", "m"}, {"jsonencode(%s)", "l"}, {"jsonencode([%s, %s])", "bn"}, {"try(%s[0], %s)", "ls"}, {"try(%s.a, %s)", "ms"}, {"lookup(%s, \"a\", %s)", "ms"},
		{"coalesce(%s, \"z\")", "s"}, {"tostring(%s)", "n"}, {"tostring(%s)", "b"}, {"\"%%{ if %s }yes%%{ else }${%s}%%{ endif }\"", "bs"},
		{"\"%%{ for x in %s }<${x}>%%{ endfor }\"", "l"}, {"indent(2, %s)", "s"}, {"chomp(%s)", "s"}, {"trimprefix(%s, \"a\")", "s"}, {"yamlencode(%s)", "m"}, {"urlencode(%s)", "s"},
		{"templatestring(%s, {})", ""}, {"one([%s])", "s"}, {"element(concat(%s, [\"e\"]), 0)", "l"}, {"formatdate(\"YYYY\", \"2020-01-02T03:04:05Z\")", ""},
	},
	number: {
		{"%s.b", "r"}, {"length(%s)", "e"}, {"length(%s)", "l"}, {"length(%s)", "m"}, {"length(%s)", "s"}, {"(%s + %s)", "nn"}, {"(%s * 2)", "n"}, {"max(%s, %s)", "nn"}, {"min(%s, 3)", "n"},
		{"abs(%s)", "n"}, {"floor(%s)", "n"}, {"ceil(%s)", "n"}, {"(%s ? %s : %s)", "bnn"}, {"(-%s)", "n"}, {"abs(-%s)", "n"}, {"try(tonumber(%s), 7)", "s"}, {"sum([%s, 1])", "n"},
		{"(%s %% 3)", "n"}, {"parseint(\"ff\", 16)", ""}, {"try(index(%s, \"a\"), -1)", "l"},
	},
	// No && and ||: since Terraform 1.12 one operand may decide, where 1.11 needs both.
	truth: {
		{"!%s", "b"}, {"(%s == %s)", "bb"}, {"(%s != %s)", "bb"}, {"(%s == %s)", "ss"}, {"(%s != %s)", "nn"}, {"(%s < %s)", "nn"}, {"(%s >= %s)", "nn"},
		{"contains(%s, %s)", "ls"}, {"can(tonumber(%s))", "s"}, {"(%s == null)", "s"}, {"startswith(%s, \"a\")", "s"}, {"alltrue([%s, %s])", "bb"}, {"anytrue([%s])", "b"},
		{"(%s == tolist([\"a\"]))", "l"}, {"can(regex(\"^a\", %s))", "s"}, {"(length(%s) > 0)", "m"},
	},
	list: {
		{"coalesce(%s.c, [\"d\"])", "r"}, {"tolist(%s)", "e"}, {"sort(%s)", "e"}, {"[for x in %s : lower(x)]", "e"},
		{"concat(%s, %s)", "ll"}, {"[for x in %s : upper(x)]", "l"}, {"[for x in %s : x if x != %s]", "ls"}, {"[for k, v in %s : \"${k}=${v}\"]", "m"}, {"keys(%s)", "m"}, {"values(%s)", "m"},
		{"sort(%s)", "l"}, {"reverse(%s)", "l"}, {"distinct(%s)", "l"}, {"compact(%s)", "l"}, {"split(\",\", %s)", "s"}, {"tolist([%s, %s])", "ss"}, {"[%s, %s]", "ss"}, {"flatten([%s, [%s]])", "ls"},
		{"tolist(toset(%s))", "l"}, {"(%s ? %s : tolist(%s))", "bll"}, {"[for i in range(2) : tostring(i)]", ""}, {"slice(concat(%s, [\"p\", \"q\"]), 0, 2)", "l"}, {"coalescelist(%s, [\"z\"])", "l"},
		{"tolist(setunion(%s, %s))", "ll"}, {"matchkeys([\"1\", \"2\"], [\"a\", \"b\"], %s)", "l"}, {"(%s)[*]", "s"}, {"regexall(\"[a-z]\", %s)", "s"}, {"formatlist(\"<%%s>\", %s)", "l"},
	},
	dict: {
		{"merge(%s, %s)", "mm"}, {"{ for k, v in %s : upper(k) => v }", "m"}, {"{ for x in distinct(%s) : x => length(x) }", "l"}, {"zipmap([\"a\", \"b\"], [%s, %s])", "ss"}, {"tomap({ a = %s })", "s"},
		{"{ a = %s, \"b\" = %s }", "ss"}, {"{ (%s) = \"v\" }", "s"}, {"{ for k, v in %s : k => v if v != %s }", "ms"}, {"{ for i, x in %s : i => x }", "l"},
	},
	set: {
		{"toset(%s)", "l"}, {"setunion(%s, %s)", "ee"}, {"setintersection(%s, %s)", "el"}, {"setsubtract(%s, %s)", "ee"}, {"toset(keys(%s))", "m"}, {"(%s ? %s : %s)", "bee"},
	},
	opaque: {
		{"\"<${%s}>\"", "o"}, {"[%s, %s]", "os"}, {"{ a = %s, b = %s }", "on"}, {"jsonencode(%s)", "o"}, {"[for x in [%s] : x]", "o"}, {"(%s ? %s : null)", "bo"}, {"try(%s, null)", "o"},
		{"merge({ z = %s }, %s)", "om"}, {"tolist([%s])", "o"}, {"{ (%s) = %s }", "so"}, {"toset([%s])", "o"}, {"coalesce(null, %s)", "o"}, {"one([%s])", "o"},
	},
}

// compound returns an expression made from other expressions; see [scope.value].
func (s *scope) compound(k kind, depth int, certain bool) value {
	all := forms[k]
	if len(all) == 0 {
		return s.simple(k, certain)
	}
	f := all[s.r.IntN(len(all))]
	if strings.Count(f.text, "%s")-strings.Count(f.text, "%%s") != len(f.of) {
		return s.simple(k, certain)
	}
	out := value{kind: k}
	args := make([]any, len(f.of))
	for i, of := range []byte(f.of) {
		v := s.value(kind(of), depth, certain)
		args[i] = v.expr
		out.sensitive = out.sensitive || v.sensitive
		out.unknown = out.unknown || v.unknown
	}
	out.expr = fmt.Sprintf(f.text, args...)
	if !certain && s.chance(40) {
		out.expr, out.sensitive = "sensitive("+out.expr+")", true
	}
	return out
}
