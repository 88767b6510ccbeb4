package requirementrules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// TestDecide plays the tables in testdata: lines at the margin are the body of a require block, for
// "apply" or for the command that a line "command: plan" names; each indented line below is a row, the facts and, after =>, the outcome
// with texts that the decision has to contain.
func TestDecide(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no tables", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) { play(t, string(src)) })
	}
}

func play(t *testing.T, src string) {
	command, body, fresh := "apply", "", true
	for line := range strings.Lines(src) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "=>"):
			given, want, ok := strings.Cut(line, "=>")
			if !ok {
				t.Fatalf("%s: this is no row", line)
			}
			row(t, command, body, given, strings.TrimSpace(want))
			fresh = false
			continue
		}
		if !fresh {
			command, body, fresh = "apply", "", true
		}
		if c, ok := strings.CutPrefix(line, "command: "); ok {
			command = c
			continue
		}
		body += strings.ReplaceAll(line, "\\t", "  ") + "\n"
	}
}

func row(t *testing.T, command, body, given, want string) {
	t.Helper()
	all := required(t, command, body)
	q := Question{Command: command, Requirements: all, Facts: facts(t, given, all)}
	got := Decide(q)
	outcome, details, _ := strings.Cut(want, " | ")
	if string(got.Outcome) != outcome {
		t.Errorf("%s%s\n got %s\nwant %s", body, given, text(got), want)
	}
	for detail := range strings.SplitSeq(details, " | ") {
		if !strings.Contains(text(got), detail) {
			t.Errorf("%s%s\n got %s\nwant it to contain %q", body, given, text(got), detail)
		}
	}
	// A question is data: from a file it is answered the same.
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var read Question
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, Decide(read)); diff != "" {
		t.Errorf("%s%s: read from JSON it is decided otherwise:\n%s", body, given, diff)
	}
}

// TestNeeded holds which facts each rule is about: nothing else is read for it.
func TestNeeded(t *testing.T) {
	t.Parallel()
	sre := []requirements.Party{{Org: "acme", Team: "sre"}}
	for body, want := range map[string]Needs{
		`by = ["acme/sre", "zoe"]`:          {Actor: sre},
		`permission = "write"`:              {},
		`approvals = 1`:                     {Reviews: true},
		`approved_by = ["acme/sre", "bob"]`: {Reviews: true, Approvers: sre},
		`codeowners = true`:                 {Reviews: true, Owners: true},
		`mergeable = true`:                  {Merging: true, Checks: true},
		`up_to_date = true`:                 {Behind: true},
		`resolved = true`:                   {Open: true},
		`checks = ["*"]`:                    {Checks: true},
		`labels = ["x"]`:                    {Labels: true},
		`not_labels = ["x"]`:                {Labels: true},
		`draft = false`:                     {},
		`windows = ["daily 10:00-11:00"]`:   {},
		`max_changes = 9`:                   {Plan: true},
		`max_destroys = 9`:                  {Plan: true},
		`no_destroy = ["x"]`:                {Plan: true},
		`no_risk = ["iam-widened"]`:         {Plan: true},
		"policy \"net\" {\n}":               {Plan: true},
		"gate \"cost\" {\nfunction = \"arn:aws:lambda:eu-west-1:123456789012:function:cost\"\n}": {Plan: true},
		"environment \"production\"":                                                         {Environments: []string{"production"}},
		"draft = false\noverride = [\"acme/sre\"]":                                           {Lifters: sre, Lifts: true},
		"alternative \"a\" {\n  resolved = true\n}\nalternative \"b\" {\n  approvals = 1\n}": {Reviews: true, Open: true},
	} {
		if diff := cmp.Diff(want, Needed(required(t, "apply", body))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", body, diff)
		}
	}
}

// TestNoPlanIsLifted holds that an override of no plan lifts nothing where no plan is known.
func TestNoPlanIsLifted(t *testing.T) {
	t.Parallel()
	all := required(t, "apply", "draft = false\noverride = [\"dave\"]")
	for _, planned := range []string{planned, ""} {
		f := facts(t, "draft lift:dave", all)
		f.Planned, f.Lifts[0].Planned = planned, planned
		if got := Decide(Question{Command: "apply", Requirements: all, Facts: f}); got.Outcome.Allows() != (planned != "") {
			t.Errorf("the plan %q: %s", planned, text(got))
		}
	}
}

// TestSame holds when two logins are of one person: that of nobody is nobody's.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{{"bob", "Bob", true}, {"bob", "bo", false}, {"bob", "", false}, {"", "bob", false}, {"", "", false}} {
		if samePerson(c.a, c.b) != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, !c.want)
		}
	}
}

// TestNothingKnown holds that no rule is fulfilled by facts that were not read.
func TestNothingKnown(t *testing.T) {
	for _, body := range []string{
		`by = ["acme/sre"]`, `permission = "write"`, `approvals = 1`, `codeowners = true`, `mergeable = true`, `up_to_date = true`,
		`resolved = true`, `checks = ["*"]`, `labels = ["x"]`, `not_labels = ["x"]`, `max_changes = 9`, `max_destroys = 9`, `no_destroy = ["x"]`, `no_risk = ["iam-widened"]`,
	} {
		all := required(t, "apply", body)
		got := Decide(Question{Command: "apply", Requirements: all, Facts: Facts{Actor: "zoe", Planned: planned}})
		if got.Outcome.Allows() {
			t.Errorf("%s: %s", body, text(got))
		}
	}
}

// TestUnreadable holds that settings with errors allow nothing but plans.
func TestUnreadable(t *testing.T) {
	for command, want := range map[string]rulings.Outcome{
		"apply": rulings.Fails, "unlock": rulings.Fails, "recover": rulings.Fails, "plan": rulings.NotApplicable,
	} {
		got := Decide(Question{Command: command, Unreadable: true, Broken: "lockstep.hcl, line 4: Unclosed configuration block"})
		if got.Outcome != want {
			t.Errorf("%s: %s", command, text(got))
		}
		if tells := strings.Contains(got.Markdown(0), "line 4: Unclosed configuration block"); tells != (want == rulings.Fails) {
			t.Errorf("%s: %s", command, got.Markdown(0))
		}
	}
}
