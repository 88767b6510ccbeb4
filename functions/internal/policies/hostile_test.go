package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// policy is a directory with one file of the package main.
func policy(rules string) map[string][]byte {
	return map[string][]byte{"policy.rego": []byte("package main\n" + rules)}
}

func compiled(t testing.TB, rules string, opts Options) *Set {
	t.Helper()
	s, err := Compile(policy(rules), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// doubled are 40 definitions, each of two of the one before: a value with 2^40 parts.
func doubled(first, next string) string {
	b := strings.Builder{}
	b.WriteString("s0 := " + first + "\n")
	for i := range 40 {
		fmt.Fprintf(&b, "s%d := "+next+"\n", i+1, i)
	}
	return b.String()
}

// TestTime stops policies that would take years, within the steps of Rego and within functions.
func TestTime(t *testing.T) {
	for name, rules := range map[string]string{
		"a long range":        `deny contains "x" if count(numbers.range(1, 1000000000000)) == 1`,
		"a range in steps":    `deny contains "x" if count(numbers.range_step(1, 1000000000000, 2)) == 1`,
		"a loop over ranges":  `deny contains "x" if { a := numbers.range(1, 10000)[_]; b := numbers.range(1, 10000)[_]; a * b < 0 }`,
		"a comprehension":     `deny contains "x" if count({[a, b, c] | some a in numbers.range(1, 1000); some b in numbers.range(1, 1000); some c in numbers.range(1, 1000)}) == 1`,
		"findings":            `deny contains sprintf("%d", [a * b]) if { some a in numbers.range(1, 10000); some b in numbers.range(1, 10000) }`,
		"every":               `deny contains "x" if every a in numbers.range(1, 5000) { every b in numbers.range(1, 5000) { a + b > 0 } }`,
		"an exception":        "deny contains `x`\nexception contains [``] if { a := numbers.range(1, 10000)[_]; b := numbers.range(1, 10000)[_]; a * b < 0 }",
		"a network's hosts":   `deny contains "x" if count(net.cidr_expand("2001:db8::/32")) == 1`,
		"a walk":              `deny contains "x" if { walk([numbers.range(1, 1000), input], [_, a]); walk([numbers.range(1, 1000), input], [_, b]); walk([numbers.range(1, 1000), input], [_, c]); a == b; b == c; a == "none" }`,
		"calls of a function": "f(n) := n + 1\ndeny contains `x` if { some a in numbers.range(1, 10000); some b in numbers.range(1, 10000); f(a) == f(b) * -1 }",
		"texts":               doubled(`"0123456789abcdef"`, `concat("", [s%[2]d, s%[2]d])`) + `deny contains "x" if count(s40) == 1`,
		"numbers":             doubled(`12345678901234567890`, `s%[2]d * s%[2]d`) + `deny contains "x" if s40 == 1`,
		"a walk of parts":     doubled(`[1, 2]`, `[s%[2]d, s%[2]d]`) + `deny contains "x" if { walk(s40, [_, a]); a == 3 }`,
	} {
		t.Run(name, func(t *testing.T) {
			s := compiled(t, rules, Options{Limit: 100 * time.Millisecond})
			start := time.Now()
			_, err := s.Judge(t.Context(), []byte(somePlan))
			took := time.Since(start)
			e, ok := errors.AsType[*Error](err)
			if !ok || len(e.Problems) != 1 || !strings.Contains(err.Error(), "when the time was over, which is 100ms") {
				t.Errorf("%v", err)
			}
			if took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			runtime.GC()
		})
	}
}

// TestParts lets a value pass that is small in memory, and would be exponentially large as JSON.
func TestParts(t *testing.T) {
	s := compiled(t, doubled(`[1, 2]`, `[s%[2]d, s%[2]d]`)+`deny contains {"msg": "x", "parts": s40}`, Options{})
	v, err := s.Judge(t.Context(), []byte(somePlan))
	if err != nil || text(v) != "fail main deny \"x\"\n" {
		t.Errorf("%v, %v", v, err)
	}
}

// TestContext tells the caller's end from that of the limit: it is no mistake in policies.
func TestContext(t *testing.T) {
	s := compiled(t, `deny contains "x" if count(numbers.range(1, 1000000000000)) == 1`, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	v, err := s.Judge(ctx, []byte(somePlan))
	if _, ok := errors.AsType[*Error](err); ok || !errors.Is(err, context.DeadlineExceeded) || v.Failures != nil {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("the process is told to stop")
	stop(cause)
	easy := compiled(t, `deny contains "x" if input.nothing`, Options{})
	if _, err := easy.Judge(ctx, []byte(somePlan)); !errors.Is(err, cause) {
		t.Errorf("a judgement without time: %v", err)
	}
}

// TestTextsOfPlans gives texts of a plan to functions that could compute with them for long.
func TestTextsOfPlans(t *testing.T) {
	plan := `{"format_version": "1.2", "n": "1e1000000000", "k": 1e300, "cidr": "::/0", "re": "` + strings.Repeat("(a*)*", 200) + `b", "a": "` + strings.Repeat("a", 100000) + `"}`
	for _, expr := range []string{
		`to_number(input.n) + 1 > 5`, `units.parse_bytes(input.n) > 1`, `json.unmarshal(input.n) > 1`, `numbers.range(1, input.k)`, `net.cidr_expand(input.cidr)`,
		`round(input.k) % 7 == 8`, `regex.match(input.re, input.a)`, `sprintf("%999999999d %*d", [input.k, 999999999, 1]) == ""`, `bits.rsh(1, input.k) == 5`,
		`yaml.unmarshal(input.a) == 1`, `format_int(input.k, 2) == ""`, `glob.match(input.re, [], input.a)`,
	} {
		s := compiled(t, `deny contains "x" if `+expr, Options{Limit: 200 * time.Millisecond})
		start := time.Now()
		_, err := s.Judge(t.Context(), []byte(plan))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %v: %v", expr, took, err)
		}
	}
}

// TestPanics makes a panic of the evaluator and of the compiler mistakes.
func TestPanics(t *testing.T) {
	s := compiled(t, "deny contains `x` if true\nwarn contains `y` if true", Options{})
	s.rules[0].evaluate.Eval(t.Context())
	broken := *s
	broken.rules = slices.Clone(s.rules)
	broken.rules[0].evaluate = query{}.evaluate
	v, err := broken.Judge(t.Context(), []byte(somePlan))
	if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), "while the rule deny of the package main was evaluated, OPA broke down") || v.Warnings != nil {
		t.Errorf("%v, %v", v, err)
	}
	var ps problems
	ps.guard("during the test", func() { panic("at once") })
	if len(ps) != 1 || !strings.Contains(ps[0].Message, "at once") {
		t.Errorf("%v", ps)
	}
}

// TestNoSet lets no plan pass by a set that was not compiled.
func TestNoSet(t *testing.T) {
	for _, s := range []*Set{nil, {}} {
		if _, err := s.Judge(t.Context(), []byte(somePlan)); err == nil {
			t.Error("a plan passed")
		}
	}
}

// TestBounds holds the limits of findings, messages and problems.
func TestBounds(t *testing.T) {
	s := compiled(t, `deny contains sprintf("%03d", [i]) if some i in numbers.range(1, 250)
warn contains sprintf("%03d%s", [i, input.long]) if some i in numbers.range(1, 101)`, Options{})
	plan, err := json.Marshal(map[string]string{"format_version": "1.2", "long": strings.Repeat("ä", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Judge(t.Context(), plan)
	if err != nil || len(v.Failures) != 10 || v.MoreFailures != 240 || v.Failures[0].Message != "001" || len(v.Warnings) != 10 || v.MoreWarnings != 91 {
		t.Errorf("%d and %d failures, %d and %d warnings, %v", len(v.Failures), v.MoreFailures, len(v.Warnings), v.MoreWarnings, err)
	}
	for _, f := range v.Warnings {
		if len(f.Message) > maxMessage+len("…") || !utf8.ValidString(f.Message) || !strings.HasSuffix(f.Message, "ä…") {
			t.Fatalf("%d bytes: %q", len(f.Message), f.Message)
		}
	}
	_, err = Compile(policy(strings.Repeat("deny contains `x` if nothing\n", 70)), Options{})
	if e, ok := errors.AsType[*Error](err); !ok || len(e.Problems) != 20 || e.More != 50 {
		t.Errorf("%v", err)
	}
	_, err = Compile(policy(strings.Repeat("deny contains `x` if "+strings.Repeat("long", 2000)+"\n", 70)), Options{})
	if err == nil || len(err.Error()) > 60*(maxMessage+100) {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// TestTooMuch refuses directories whose compilation could take long, and does so soon.
func TestTooMuch(t *testing.T) {
	many := map[string][]byte{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf("%d.rego", i)] = []byte("package main")
	}
	large := map[string][]byte{}
	for i := range 6 {
		large[fmt.Sprintf("%d.json", i)] = []byte(fmt.Sprintf(`{"a%d": "%s"}`, i, strings.Repeat("x", maxFile-20)))
	}
	nested := func(open, inner, end string, n int) map[string][]byte {
		return policy("deny contains `x` if {\nx := " + strings.Repeat(open, n) + inner + strings.Repeat(end, n) + "\ncount([x]) == 1 }")
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"files":          {many, "at most 1000 are allowed"},
		"bytes":          {large, "more than 5242880 bytes"},
		"one file":       {policy("#" + strings.Repeat("x", maxFile)), "at most 1048576 are allowed"},
		"path":           {map[string][]byte{"../x.rego": []byte("package main")}, "not a slash-separated path"},
		"absolute":       {map[string][]byte{"/x.json": []byte("{}")}, "not a slash-separated path"},
		"arrays":         {nested("[", "1", "]", 20000), "more than 100 brackets"},
		"open":           {nested("[", "", "", 300000), "more than 100 brackets"},
		"calls":          {nested("1+(", "", "", 80000), "more than 100 brackets"},
		"comprehensions": {nested("[1 | x1 := ", "1", "]", 30), "nested too deeply"},
		"sets":           {nested("{1 | x1 := ", "1", "}", 30), "nested too deeply"},
		"objects":        {nested("{1: 1 | x1 := ", "1", "}", 30), "nested too deeply"},
		"templates":      {nested("$\"{", "1", "}\"", 30), "nested too deeply"},
		"negations":      {nested("[1 | not {1 == ", "2", "}]", 30), "nested too deeply"},
		"keys":           {nested("[1][[0 | x1 := ", "1", "][0]]", 30), "nested too deeply"},
		"hidden":         {nested("$\"{[", "1", "]}\"", 60), "more than 100 brackets"},
		"sums":           {nested("1 + ", "1", "", 60000), "nested too deeply"},
		"every":          {policy("deny contains `x` if {" + strings.Repeat("every a in [1] {", 30) + "true" + strings.Repeat("}", 31)), "nested too deeply"},
		"else":           {policy("deny := {`x`} if {false}" + strings.Repeat(" else := {`y`} if {false}", 5000)), "nested too deeply"},
		"data":           {map[string][]byte{"a.json": []byte(strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000))}, "exceeded max depth"},
		"yaml":           {map[string][]byte{"a.yaml": []byte(strings.Repeat(`[`, 100000))}, "exceeded max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Compile(c.files, Options{})
			if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	for name, files := range map[string]map[string][]byte{
		"arrays":         nested("[", "1", "]", 95),
		"sums":           nested("1 + ", "1", "", 200),
		"comprehensions": nested("count([1 | x1 := ", "1", "])", 6),
		"in texts":       policy("deny contains `" + strings.Repeat("(", 1000) + "\n` if true\nwarn contains \"" + strings.Repeat(`\"[`, 1000) + "\" if true #" + strings.Repeat("{", 1000)),
	} {
		if _, err := Compile(files, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBuiltins lists the functions that policies have, so that a later version of OPA brings no
// other without a reader's consent.
func TestBuiltins(t *testing.T) {
	var names []string
	for _, b := range capabilities(ast.RegoV1).Builtins {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	golden.File(t, "testdata/builtins.txt", strings.Join(names, "\n")+"\n")
}
