package grammar

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestLines is the table of comments in testdata/lines.txt.
func TestLines(t *testing.T) {
	const file = "testdata/lines.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	rows, blank := 0, true
	for row := range strings.Lines(string(data)) {
		row = strings.TrimSuffix(row, "\n")
		switch {
		case strings.HasPrefix(row, "\t"):
			continue
		case row == "", strings.HasPrefix(row, "# ") && blank, strings.HasPrefix(row, "# ") && rows == 0:
			fmt.Fprintln(&got, row)
		default:
			rows++
			fmt.Fprintf(&got, "%s\n\t%s\n", row, strings.Join(understood(unescape(row)), "\n\t"))
		}
		blank = row == ""
	}
	if rows < 150 {
		t.Errorf("only %d rows", rows)
	}
	golden.File(t, file, got.String())
}

// understood returns the lines of a comment in the notation of the table.
func understood(body string) []string {
	var out []string
	for _, l := range Parse(body) {
		p := l.Problem
		if p.IsZero() {
			out = append(out, l.Command.String())
			continue
		}
		s := "! " + string(p.Kind)
		for _, x := range []string{p.Flag, p.Other, p.Want, string(p.Verb)} {
			if x != "" {
				s += ", " + x
			}
		}
		if p.Word != "" {
			s += fmt.Sprintf(", %+q", p.Word)
		}
		if p.Most != 0 {
			s += fmt.Sprintf(", %d", p.Most)
		}
		out = append(out, s+" -> "+l.Suggestion)
	}
	if out == nil {
		return []string{"nothing"}
	}
	return out
}

var characters = regexp.MustCompile(`\\u[0-9a-f]{4}`)

func unescape(row string) string {
	row = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\\`, `\`).Replace(row)
	return characters.ReplaceAllStringFunc(row, func(s string) string {
		n, err := strconv.ParseUint(s[2:], 16, 32)
		if err != nil {
			panic(err)
		}
		return string(rune(n))
	})
}

func TestLimits(t *testing.T) {
	many := func(n int, text string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, text, i)
		}
		return b.String()
	}
	for name, test := range map[string]struct{ comment, want string }{
		"a long line":   {"lockstep plan -p " + strings.Repeat("x", 5000), "! too long, 4000 -> "},
		"a long name":   {"lockstep plan -p " + strings.Repeat("x", 201), `! bad name, -p, NAME, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." -> lockstep help`},
		"many values":   {"lockstep plan" + many(51, " -target=a.b%d"), "! many values, 50 -> lockstep help"},
		"a long key":    {`lockstep plan -target=a.b["` + strings.Repeat("x", 1000) + `"]`, `! bad address, -target, ADDR, "a.b[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." -> lockstep help`},
		"a long value":  {`lockstep plan -var=x=` + strings.Repeat("x", 1000), `! bad variable, -var, NAME=VALUE, "x=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." -> lockstep help`},
		"many commands": {many(1000, "lockstep plan -p p%d\n"), strings.TrimSuffix(many(MaxCommands, "lockstep plan -p p%d\n"), "\n") + "\n! too many, 10 -> "},
		"one, often":    {strings.Repeat("lockstep plan\n", 1000), "lockstep plan"},
		"prose":         {"terraform plan " + strings.Repeat("x ", 5000), "nothing"},
	} {
		if diff := cmp.Diff(test.want, strings.Join(understood(test.comment), "\n")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTable holds that a half row of a verb is noticed: each can be typed, and takes the options
// that limit it if it acts.
func TestTable(t *testing.T) {
	for _, r := range table {
		for _, o := range choosing {
			if r.accepts(o) != r.acts {
				t.Errorf("%s: %s is taken: %v", r.verb, o.flag(), r.accepts(o))
			}
		}
	}
	seen := map[string]bool{}
	for _, o := range all {
		for _, n := range o.names {
			if seen[n] || n != strings.ToLower(n) {
				t.Errorf("-%s is twice in the table, or not in lower case", n)
			}
			seen[n] = true
		}
		if (o.stands == "") != (o.check == nil) {
			t.Errorf("%s has a value without a check, or a check without a value", o.flag())
		}
	}
	for _, n := range needless {
		if seen[n] {
			t.Errorf("-%s is needless, and in the table", n)
		}
	}
}

// TestSelects holds which projects a command is for.
func TestSelects(t *testing.T) {
	for _, test := range []struct {
		line string
		want string // of net, net-eu, live/eu/net, app
	}{
		{"plan", "net net-eu live/eu/net app"},
		{"plan -p net", "net"},
		{"plan -p net*", "net net-eu"},
		{"plan -p *", "net net-eu app"},
		{"plan -p **", "net net-eu live/eu/net app"},
		{"plan -p **/net", "net live/eu/net"},
		{"plan -p live/*/net", "live/eu/net"},
		{"plan -p NET", ""},
		{"plan -p ne", ""},
		{"plan -w default", "net net-eu live/eu/net app"},
		{"plan -w prod", ""},
		{"plan -d d/net*", "net net-eu"},
	} {
		c := Parse("lockstep " + test.line)[0].Command
		var got []string
		for _, name := range []string{"net", "net-eu", "live/eu/net", "app"} {
			if c.Selects(name, "d/"+name, "default") {
				got = append(got, name)
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %q, want %q", test.line, s, test.want)
		}
	}
}

// TestKept holds that a line comes back from a queue as it was, and that one of an earlier version,
// whose problem is a sentence, is read.
func TestKept(t *testing.T) {
	for _, s := range []string{"lockstep plan -p a -target=a.b -var x=y -destroy", "lockstep plan -x", "atlantis apply"} {
		want := Parse(s)[0]
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Line
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", data, diff)
		}
	}
}

// FuzzParse holds that whatever is understood is understood again when it is printed, that
// suggestions are commands, that no suggestion is without a limit that the line had, and that
// nothing that is kept has characters that nobody sees.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/lines.txt")
	if err != nil {
		f.Fatal(err)
	}
	for row := range strings.Lines(string(data)) {
		if !strings.HasPrefix(row, "\t") {
			f.Add(unescape(strings.TrimSuffix(row, "\n")))
		}
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, l := range Parse(body) {
			commands := []string{l.Suggestion}
			if l.Problem.IsZero() {
				commands = []string{l.Command.String()}
			}
			for _, s := range commands {
				if s == "" {
					continue
				}
				again := Parse(s)
				if len(again) != 1 || !again[0].Problem.IsZero() || again[0].Command.String() != s {
					t.Fatalf("%q: %q is read as %+v", body, s, again)
				}
				if l.Problem.IsZero() {
					if diff := cmp.Diff(l.Command, again[0].Command); diff != "" {
						t.Fatalf("%q: %s", body, diff)
					}
				}
				if limits(body) && again[0].Command.Everything() && again[0].Command.Verb != Help && again[0].Command.Options.IsZero() && again[0].Command.Plan == "" {
					t.Fatalf("%q has a limit, and %q has none", body, s)
				}
			}
			sound(t, body, l.Command)
		}
	})
}

// limits reports whether all lines of a comment have a project.
func limits(body string) bool {
	if strings.ContainsAny(body, "\r\n") {
		return false
	}
	words := strings.Fields(body)
	for i, w := range words {
		if w == "-p" && i > 1 {
			return true
		}
	}
	return false
}

// sound holds what every command promises.
func sound(t *testing.T, body string, c Command) {
	t.Helper()
	if c.Plan != "" && (c.Verb != Apply || len(c.Plan) < 7 || len(c.Plan) > 64 || strings.Trim(c.Plan, "0123456789abcdef") != "") {
		t.Errorf("%q: the plan %q", body, c.Plan)
	}
	for _, name := range []string{c.Project, c.Dir, c.Workspace} {
		if name != "" && !ValidName(strings.ReplaceAll(name, "*", "x")) || strings.Contains("/"+name+"/", "/../") {
			t.Errorf("%q: the name %q", body, name)
		}
	}
	o := c.AsPlan().Options
	addresses := slices.Concat(o.Targets, o.Excludes, o.Replaces, o.Forgets)
	for _, pair := range slices.Concat(o.Imports, o.Moves) {
		addr, rest, ok := Pair(pair)
		if !ok || addr+" "+rest != pair {
			t.Errorf("%q: the pair %q", body, pair)
		}
		if addresses = append(addresses, addr); slices.Contains(o.Moves, pair) {
			addresses = append(addresses, rest)
		}
	}
	for _, a := range addresses {
		if strings.HasPrefix(a, "-") || strings.ContainsAny(a, `\$%;&|<>`) && !strings.Contains(a, "[") {
			t.Errorf("%q: the address %q", body, a)
		}
	}
	if strings.ContainsFunc(c.String(), unicode.IsControl) {
		t.Errorf("%q: %q", body, c.String())
	}
	if !c.Options.IsZero() && c.AsPlan().Verb != Plan {
		t.Errorf("%q: %s has options of a plan", body, c.Verb)
	}
}
