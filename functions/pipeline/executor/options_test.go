package executor

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

const sized = `
variable "size" {
  default = "small"
}

variable "secret" {
  default   = "x"
  sensitive = true
}

resource "terraform_data" "a" {
  input = var.size
}

resource "terraform_data" "b" {
  for_each = toset(["x y", "z"])
  input    = each.key
}
`

// TestPlanOptions is a table of options as they are typed, of the plan that they make of an applied
// project, and of the effect of its apply.
func TestPlanOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options string
		want    counting.Counts
		left    counting.Counts // in a plan without options, after the apply
		report  string          // part of it
	}{
		{"-var size=large", counting.Counts{Change: 1}, counting.Counts{Change: 1}, `"large"`},
		{"-destroy", counting.Counts{Destroy: 3}, counting.Counts{Add: 3}, "terraform_data.a"},
		{"-destroy -target=terraform_data.b", counting.Counts{Destroy: 2}, counting.Counts{Add: 2}, `terraform_data.b["x y"]`},
		{`-replace='terraform_data.b["x y"]'`, counting.Counts{Add: 1, Destroy: 1}, counting.Counts{}, `terraform_data.b["x y"]`},
		{"-refresh-only", counting.Counts{}, counting.Counts{}, ""},
		{"-refresh=false", counting.Counts{}, counting.Counts{}, ""},
		{"-var size=large -target=terraform_data.b", counting.Counts{}, counting.Counts{}, ""},
		{"-var size=large -exclude=terraform_data.a", counting.Counts{}, counting.Counts{}, ""},
	} {
		t.Run(test.options, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"net/main.tf": sized})
			b.apply(b.plan().Plan, true)
			b.job.Options = grammar.Parse("lockstep plan " + test.options)[0].Command.Options
			p := b.plan()
			if p.Plan == nil || p.Counts != test.want || !strings.Contains(p.Report, test.report) {
				t.Fatalf("%+v\n%s", p.Counts, p.Report)
			}
			if p.Applyable {
				if o := b.apply(p.Plan, true); o.Failed || o.Counts != test.want {
					t.Errorf("its apply: %+v", o)
				}
			}
			b.job.Options = grammar.Options{}
			if left := b.plan(); left.Counts != test.left {
				t.Errorf("left: %+v", left.Counts)
			}
		})
	}
}

// TestPlannedAgainWithOptions writes the state between a plan with options and its apply: the plan
// that is made again has the same options.
func TestPlannedAgainWithOptions(t *testing.T) {
	t.Parallel()
	b := newBench(t, shared(`"1"`, `"1"`))
	b.apply(b.plan().Plan, true)
	b.write(shared(`"2"`, `"1"`))
	b.job.Options = grammar.Options{Replaces: []string{"terraform_data.b"}}
	p := b.plan()
	b.job.Options = grammar.Options{}
	b.touch()
	b.job.Options = grammar.Options{Replaces: []string{"terraform_data.b"}}
	_, o, again := b.again(p.Plan)
	if again == nil || !again.Equal || o.Failed || o.Counts != (counting.Counts{Add: 1, Change: 1, Destroy: 1}) {
		t.Errorf("%+v %+v", again, o)
	}
}

// TestRefusedOptions holds that options which the grammar lets through, and which mean nothing here,
// are refused with their reason.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": sized})
	for _, test := range []struct {
		options grammar.Options
		want    string
	}{
		{grammar.Options{Variables: []string{"secret=hunter2"}}, "A secret in a comment"},
		{grammar.Options{Variables: []string{"nothere=1"}}, "nothere"},
		{grammar.Options{Targets: []string{"terraform_data"}}, "Invalid address for -target"},
		{grammar.Options{Excludes: []string{"-x"}}, "Invalid address for -exclude"},
		{grammar.Options{Replaces: []string{"module.a"}}, "Invalid address for -replace"},
		{grammar.Options{Replaces: []string{"data.terraform_data.a"}}, "only managed"},
		{grammar.Options{Targets: []string{"terraform_data.zz"}}, "The option -target=terraform_data.zz matches nothing"},
		{grammar.Options{Targets: []string{"terraform_date.b"}}, `Did you mean "terraform_data.b"?`},
		{grammar.Options{Targets: []string{"module.nope"}}, "Check the address for a typing error."},
		{grammar.Options{Excludes: []string{"module.zz"}}, "The option -exclude=module.zz matches nothing"},
		{grammar.Options{Replaces: []string{"terraform_data.zz[7]"}}, "The option -replace=terraform_data.zz[7] matches nothing"},
		{grammar.Options{Invoke: "terraform_data.a"}, "Invalid address for -invoke"},
		{grammar.Options{Invoke: "action.lab_notify.zz"}, "invoke target action.lab_notify.zz not found"},
		{grammar.Options{Replaces: []string{"terraform_data.zz"}, Taint: true}, "matches nothing"},
	} {
		b.job.Options = test.options
		p := b.plan()
		if p.Plan != nil || !strings.Contains(flat(p.Report), test.want) || strings.Contains(p.Report, "hunter2") {
			t.Errorf("%+v: %s", test.options, p.Report)
		}
	}
}
