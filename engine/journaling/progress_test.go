package journaling

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// TestResume is a table of journals in the notation of fold_test.go, of a plan with the name "p", and
// the progress in them: the state, and the calls for a and b.
func TestResume(t *testing.T) {
	for _, c := range []struct{ name, stored, steps, want string }{
		{"nothing is begun", "a=1", "begin a=1", "a=1"},
		{"a call is done, and another one open", "a=1", "begin a=1; update a; a=2; done a; create b", "a=2; update a done; create b open; in doubt b"},
		{"a call has failed", "", "begin; create a; failed a", "; create a failed: refused"},
		{"a call was begun again", "a=1", "begin a=1; update a; update a; a=2; done a", "a=2; update a done"},
		{"the plan has seen more than was stored", "a=1", "begin a=2 b=1; delete b; b=gone; done b", "a=2; delete b done"},
		{"a state was stored on the way", "a=1", "begin a=2; create b; b=1; save; done b; update a", "a=2 b=1; update a open; create b done"},
		{"the stored state was first to have an object", "a=1", "begin a=1; create b; overtake b=1", "a=1 b=1; create b open"},
		{"and to lack one", "a=1", "begin a=1; delete a; overtake a=gone", "; delete a open"},
		{"a state was announced, and not stored", "a=1", "begin a=1; create b; b=1; done b; announce", "a=1 b=1; create b done"},
		{"somebody else has stored a state", "a=1", "begin a=1; update a; a=2; done a; foreign a=1 x=1", "none"},
		{"another plan came after it", "a=1", "begin a=1; update a; a=2; done a; save; plan q; begin a=2; update a", "none"},
		{"the same plan was begun twice", "a=1", "begin a=1; update a; plan p; begin a=1; create b", "a=1; create b open; in doubt b"},
		{"it is another plan's", "a=1", "plan q; begin a=1; update a", "none"},
		{"nobody has kept the plan", "a=1", "plan ; begin a=1; update a", "none"},
		{"an action is done, and another one open", "a=1", "begin a=1; invoke a; done invoke a; invoke b", "a=1; invoke a done; invoke b open; in doubt b"},
		{"an action has failed", "a=1", "begin a=1; update a; a=2; done a; invoke a; failed invoke a", "a=2; update a done; invoke a failed: refused"},
		{"there is none", "a=1", "", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNotation(t, c.stored)
			n.plan, n.prior = "p", n.stored
			for step := range strings.SplitSeq(c.steps, ";") {
				word, rest, _ := strings.Cut(strings.TrimSpace(step), " ")
				switch word {
				case "":
				case "plan":
					n.plan = rest
				case "overtake": // a save comes before the record
					name, value, _ := strings.Cut(rest, "=")
					n.now.SetObject(parseAddr(name), providerConfig, object(value))
					n.step("save")
				default:
					n.step(strings.TrimSpace(step))
				}
			}
			p, err := Resume(Start{Plan: "p", Stored: n.stored, Prior: n.prior, Sum: sumOf(n.stored)}, n.lines)
			if err != nil {
				t.Fatal(err)
			}
			if got := progressOf(p); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func progressOf(p *Progress) string {
	if p == nil {
		return "none"
	}
	words := []string{show(p.State)}
	for _, name := range []string{"a", "b"} {
		calls := map[string]func() (Call, bool){"invoke": func() (Call, bool) { return p.Invocation(invocation(name)) }}
		for _, action := range []plans.Action{plans.Create, plans.Update, plans.Delete} {
			calls[action.String()] = func() (Call, bool) { return p.Call(parseAddr(name), action) }
		}
		for _, action := range []string{"create", "update", "delete", "invoke"} {
			call, ok := calls[action]()
			switch {
			case !ok:
			case call.Open:
				words = append(words, fmt.Sprintf("%s %s open", action, name))
			case call.Failed:
				words = append(words, fmt.Sprintf("%s %s failed: %s", action, name, call.Problem))
			default:
				words = append(words, fmt.Sprintf("%s %s done", action, name))
			}
		}
	}
	for _, o := range p.Open {
		words = append(words, "in doubt "+strings.TrimPrefix(o.Address, "thing."))
	}
	return strings.Join(words, "; ")
}

// TestValuesAreKept: with their marks and types, the first of a name for good, and none that is ephemeral.
func TestValuesAreKept(t *testing.T) {
	n := newNotation(t, "")
	n.plan = "p"
	n.step("begin")
	mixed := cty.ObjectVal(map[string]cty.Value{
		"list": cty.ListVal([]cty.Value{cty.StringVal("x").Mark(marks.Sensitive), cty.StringVal("y")}),
		"map":  cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(3).Mark(marks.Sensitive)}),
		"none": cty.NullVal(cty.String),
	})
	n.journal.Keep("local.a", mixed)
	n.journal.Keep("local.b", cty.StringVal("first"))
	n.journal.Keep("local.token", cty.StringVal("t").Mark(marks.Ephemeral))
	n.journal.Keep("local.later", cty.UnknownVal(cty.String))
	n.step("create a")
	n.journal.Keep("local.b", cty.StringVal("second"))
	n.step("create b")
	if text := string(n.lines[1]); !strings.Contains(text, "first") || strings.Contains(string(n.lines[2]), "first") {
		t.Errorf("the values are not in the record of the first intent alone: %s", n.lines)
	}
	p, err := Resume(Start{Plan: "p", Stored: n.stored, Prior: n.prior, Sum: sumOf(n.stored)}, n.lines)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := p.Value("local.a"); !ok || !v.RawEquals(mixed) {
		t.Errorf("local.a is %#v", v)
	}
	if v, _ := p.Value("local.b"); !v.RawEquals(cty.StringVal("first")) {
		t.Errorf("local.b is %#v", v)
	}
	for _, name := range []string{"local.token", "local.later"} {
		if v, ok := p.Value(name); ok {
			t.Errorf("%s was kept: %#v", name, v)
		}
	}
}

// TestDeposedIsKept: a creation's record has the key of the object that it replaces.
func TestDeposedIsKept(t *testing.T) {
	n := newNotation(t, "a=1")
	n.plan = "p"
	n.step("begin a=1")
	at, deposed := parseAddr("a"), parseAddr("a!1234abcd")
	n.journal.Move(at, deposed, providerConfig, object("1"))
	if _, err := n.journal.Intent(t.Context(), Intent{Address: at.Instance.String(), Action: "create", Deposes: "1234abcd"}); err != nil {
		t.Fatal(err)
	}
	p, err := Resume(Start{Plan: "p", Stored: n.stored, Prior: n.prior, Sum: sumOf(n.stored)}, n.lines)
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := p.Deposed(at.Instance); !ok || key != addrs.DeposedKey("1234abcd") || show(p.State) != "a!1234abcd=1" || !p.Edited(deposed) {
		t.Errorf("deposed as %q, in the state %s", key, show(p.State))
	}
}

// TestUnanswered: calls without outcome are those that a person may have to settle, each with its record.
func TestUnanswered(t *testing.T) {
	n := newNotation(t, "")
	for _, step := range []string{"begin", "create a", "create b", "done a"} {
		n.step(step)
	}
	left := n.journal.Unanswered()
	if len(left) != 1 || left[0].Address != "thing.b" {
		t.Fatalf("%v", left)
	}
	f, err := Fold(n.stored, sumOf(n.stored), [][]byte{left[0].Record})
	if err != nil || len(f.Open) != 1 || !f.Open[0].Started.Equal(left[0].Started) || f.Open[0].Address != "thing.b" {
		t.Errorf("%v, %v", f.Open, err)
	}
}
