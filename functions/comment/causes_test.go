package comment

import (
	"fmt"
	"strings"
	"testing"
)

func TestCauseNotes(t *testing.T) {
	cause := func(object, action, attribute string, line int) Cause {
		return Cause{Object: object, Action: action, Attribute: attribute, Path: "main.tf", First: line, Last: line}
	}
	replace := cause("aws_db_instance.main", "replace", "engine_version", 3)
	replace.Before, replace.After, replace.Replaces, replace.Via = `"15"`, `"16"`, true, []string{"var.version"}
	var many []Cause
	for i := range 300 {
		many = append(many, cause(fmt.Sprintf("aws_instance.web[%d]", i), "update", "tags", 9))
	}
	var wide []Cause
	for i := range 300 {
		wide = append(wide, cause(fmt.Sprintf("aws_instance.web[%d]", i), "create", "", i+1))
	}
	for _, c := range []struct {
		name string
		all  []Cause
		want string
	}{
		{"one", []Cause{replace}, `warning main.tf:3 Replaces aws_db_instance.main
replaces aws_db_instance.main: engine_version "15" -> "16" forces it (var.version)
`},
		{"what is destroyed comes first", []Cause{cause("a.a", "create", "", 1), cause("a.b", "update", "x", 2), cause("a.c", "delete", "", 7), cause("a.d", "create", "", 7)}, `warning main.tf:7 Destroys a.c, creates a.d
destroys a.c
creates a.d
notice main.tf:1 Creates a.a
creates a.a
notice main.tf:2 Updates a.b
updates a.b: x
`},
		{"an attribute that does not force the replacement", []Cause{cause("a.a", "replace", "x", 1)}, "notice main.tf:1 Replaces a.a\nreplaces a.a: x\n"},
		{"without a place", []Cause{{Object: "a.a", Action: "update", Unedited: ByDrift}}, ""},
	} {
		var b strings.Builder
		for _, n := range CauseNotes(c.all) {
			fmt.Fprintf(&b, "%s %s:%d %s\n%s\n", n.Level, n.Path, n.Line, n.Title, n.Message)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, b.String(), c.want)
		}
	}
	if n := CauseNotes(many); len(n) != 1 || n[0].Title != "Updates 300 objects" || !strings.HasSuffix(n[0].Message, "\nand 285 more") {
		t.Errorf("300 changes of one line: %+v", n)
	}
	if n := CauseNotes(wide); len(n) != MaxCauseNotes || n[99].Line != 100 {
		t.Errorf("300 changes of 300 lines: %d notes", len(n))
	}
}

func TestUncaused(t *testing.T) {
	var many []Cause
	for i := range 300 {
		many = append(many, Cause{Object: fmt.Sprintf("a.b[%d]", i), Action: "update", Unedited: Before})
	}
	for _, c := range []struct {
		name string
		all  []Cause
		want string
	}{
		{"everything has a cause", []Cause{{Object: "a.a", Path: "main.tf"}}, ""},
		{"one", []Cause{{Object: "a.a", Unedited: ByDrift}}, "1 change is not caused by a line of this pull request: `a.a` was changed outside of the configuration."},
		{"of all kinds", []Cause{{Object: "a.a", Unedited: ByTaint}, {Object: "a.b", Unedited: Before}, {Object: "a.c", Unedited: Before}, {Object: "a.d", Unedited: ByRequest}},
			"4 changes are not caused by a line of this pull request: `a.a` is marked as tainted; `a.d` is replaced because the command asks for it; `a.b`, `a.c` have changes that were there before this pull request, or that their providers cause."},
		{"300", many, "300 changes are not caused by a line of this pull request: `a.b[0]`, `a.b[1]`, `a.b[2]`, `a.b[3]`, `a.b[4]`, and 295 more have changes that were there before this pull request, or that their providers cause."},
	} {
		if got := Uncaused(c.all); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestNotesWithin holds that notes of a process that lies are few, short and valid.
func TestNotesWithin(t *testing.T) {
	lies := make([]LineNote, 5000)
	for i := range lies {
		lies[i] = LineNote{Path: strings.Repeat("p", 1<<16), Line: -5, Last: -9, Level: "@acme", Title: strings.Repeat("t", 1<<16), Message: strings.Repeat("m", 1<<16)}
	}
	got := NotesWithin(lies)
	if len(got) != MaxPlanNotes {
		t.Errorf("%d notes", len(got))
	}
	if n := got[0]; n.Line != 1 || n.Last != 1 || n.Level != "" || len(n.Path)+len(n.Title)+len(n.Message) > 6_000 {
		t.Errorf("lines %d to %d, level %q, %d bytes", n.Line, n.Last, n.Level, len(n.Path)+len(n.Title)+len(n.Message))
	}
}
