package project

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// TestRequireHasTheGrammar holds that the require block has the arguments of the table, by which
// editors complete it, and no others.
func TestRequireHasTheGrammar(t *testing.T) {
	t.Parallel()
	for _, b := range []grammar.Block{grammar.Require, grammar.Require.Inner[0]} {
		for _, a := range append(b.Args, grammar.Argument{Name: "nothing"}) {
			src := "require \"apply\" {\n  " + a.Name + " = null\n}\n"
			if b.Type != grammar.Require.Type {
				src = "require \"apply\" {\n  " + b.Type + " \"x\" {\n    " + a.Name + " = null\n  }\n}\n"
			}
			_, ds := Parse(FileName, []byte(src))
			if unknown := strings.Contains(fmt.Sprint(ds), "Unsupported argument"); unknown != (a.Name == "nothing") {
				t.Errorf("%s.%s: %v", b.Type, a.Name, ds)
			}
		}
	}
}

// TestPolicyHasTheGrammar holds the same of the policy block.
func TestPolicyHasTheGrammar(t *testing.T) {
	t.Parallel()
	for _, a := range append(grammar.Policy.Args, grammar.Argument{Name: "nothing"}) {
		_, ds := Parse(FileName, []byte("policy \"net\" {\n  "+a.Name+" = null\n}\n"))
		if unknown := strings.Contains(fmt.Sprint(ds), "Unsupported argument"); unknown != (a.Name == "nothing") {
			t.Errorf("%s: %v", a.Name, ds)
		}
	}
}

// TestGateHasTheGrammar holds the same of the gate block.
func TestGateHasTheGrammar(t *testing.T) {
	t.Parallel()
	for _, a := range append(grammar.Gate.Args, grammar.Argument{Name: "nothing"}) {
		_, ds := Parse(FileName, []byte("gate \"cost\" {\n  "+a.Name+" = null\n}\n"))
		if unknown := strings.Contains(fmt.Sprint(ds), "Unsupported argument"); unknown != (a.Name == "nothing") {
			t.Errorf("%s: %v", a.Name, ds)
		}
	}
}

// TestRequiredGates holds for which projects a gate is, and that one with a mistake leaves the settings unreadable: nothing is
// applied by those that are left.
func TestRequiredGates(t *testing.T) {
	t.Parallel()
	const body = "  function = \"arn:aws:lambda:eu-west-1:123456789012:function:cost\"\n"
	s, ds := Parse(FileName, []byte("gate \"cost\" {\n  projects = [\"prod-*\"]\n"+body+"}\nproject \"prod-a\" {\n  dir = \"a\"\n}\nproject \"dev-a\" {\n  dir = \"b\"\n}\n"))
	if ds.HasErrors() || !s.HasGates() || s.HasPolicies() {
		t.Fatal(ds)
	}
	for _, c := range []struct {
		project Project
		command string
		want    int
	}{{s.Projects[0], "apply", 1}, {s.Projects[1], "apply", 0}, {Project{Name: "new", Dir: "c"}, "apply", 1}, {s.Projects[0], "plan", 0}} {
		if got := s.Required(c.command, c.project, nil); len(got) != c.want {
			t.Errorf("%s %s: %v", c.command, c.project.Name, got)
		}
	}
	if s, ds := Parse(FileName, []byte("gate \"cost\" {\n}\n")); !ds.HasErrors() || !s.Unreadable {
		t.Errorf("%v", ds)
	}
	if (*Settings)(nil).HasGates() {
		t.Error("no settings have gates")
	}
}

// TestHooksHaveTheGrammar holds the same of the hook and notify blocks.
func TestHooksHaveTheGrammar(t *testing.T) {
	t.Parallel()
	for _, b := range []grammar.Block{grammar.Hook, grammar.Notify} {
		for _, a := range append(b.Args, grammar.Argument{Name: "nothing"}) {
			_, ds := Parse(FileName, []byte(b.Type+" \"x\" {\n  "+a.Name+" = null\n}\n"))
			if unknown := strings.Contains(fmt.Sprint(ds), "Unsupported argument"); unknown != (a.Name == "nothing") {
				t.Errorf("%s: %s: %v", b.Type, a.Name, ds)
			}
		}
	}
}

// TestHooksOf holds for which projects hooks and notifications are, and what a mistake in one means: a hook could refuse, so
// nothing is applied by settings that lack it.
func TestHooksOf(t *testing.T) {
	t.Parallel()
	const of = "  projects = [\"prod-*\"]\n  program = \"x\"\n}\n"
	s, ds := Parse(FileName, []byte("hook \"a\" {\n  on = [\"before_apply\"]\n"+of+"notify \"b\" {\n  on = [\"applied\"]\n"+of+"project \"prod-a\" {\n  dir = \"a\"\n}\nproject \"dev-a\" {\n  dir = \"b\"\n}\n"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range []struct {
		project Project
		event   endpoints.HookEvent
		outcome endpoints.Outcome
		want    bool
	}{
		{s.Projects[0], endpoints.BeforeApply, endpoints.OutcomeApplied, true}, {s.Projects[1], endpoints.BeforeApply, endpoints.OutcomeApplied, false},
		{Project{Name: "new", Dir: "c"}, endpoints.BeforeApply, endpoints.OutcomeApplied, true}, {s.Projects[0], endpoints.AfterApply, endpoints.OutcomeApplyFailed, false},
	} {
		if got := len(s.HooksOf(c.event, c.project, nil)) == 1; got != c.want {
			t.Errorf("the hook on %s of %s: %t", c.event, c.project.Name, got)
		}
		if got := s.Tells(s.Notifications[0], c.outcome, c.project, nil); got != c.want {
			t.Errorf("%s of %s is told: %t", c.outcome, c.project.Name, got)
		}
	}
	for src, unreadable := range map[string]bool{"hook \"a\" {\n}\n": true, "notify \"a\" {\n}\n": false} {
		if s, ds := Parse(FileName, []byte(src)); !ds.HasErrors() || s.Unreadable != unreadable {
			t.Errorf("%s: %v %t", src, ds, s.Unreadable)
		}
	}
	if (*Settings)(nil).HooksOf(endpoints.BeforeApply, Project{}, nil) != nil {
		t.Error("no settings have hooks")
	}
}

// TestRequiredPolicies holds for which projects a policy is, and that one with a mistake leaves the settings
// unreadable: nothing is applied by those that are left.
func TestRequiredPolicies(t *testing.T) {
	t.Parallel()
	s, ds := Parse(FileName, []byte("policy \"net\" {\n  projects = [\"prod-*\"]\n}\npolicy \"all\" {\n}\nproject \"prod-a\" {\n  dir = \"a\"\n}\nproject \"dev-a\" {\n  dir = \"b\"\n}\n"))
	if ds.HasErrors() || !s.HasPolicies() {
		t.Fatal(ds)
	}
	for _, c := range []struct {
		project Project
		command string
		want    string
	}{{s.Projects[0], "apply", "net all"}, {s.Projects[1], "apply", "all"}, {Project{Name: "new", Dir: "c"}, "apply", "net all"}, {s.Projects[0], "plan", ""}} {
		var got []string
		for _, r := range s.Required(c.command, c.project, nil) {
			got = append(got, r.Policy.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s: %v, want %s", c.command, c.project.Name, got, c.want)
		}
	}
	for _, bad := range []string{"policy \"net\" {\n  dir = \"../x\"\n}\n", "policy \"net\" {\n}\npolicy \"net\" {\n}\n"} {
		if s, ds := Parse(FileName, []byte(bad)); !ds.HasErrors() || !s.Unreadable {
			t.Errorf("%s: %v", bad, ds)
		}
	}
	if (*Settings)(nil).HasPolicies() {
		t.Error("no settings have policies")
	}
}
