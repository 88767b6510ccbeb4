package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
)

// Plans in which nothing happens to any object.
func TestPlansOfNothing(t *testing.T) {
	t.Parallel()
	output := func(a plans.Action) []*plans.OutputChange {
		return []*plans.OutputChange{{Name: "o", Change: plans.Change{Action: a, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.True}}}
	}
	for _, x := range []struct {
		name     string
		plan     plans.Plan
		text, md string
	}{
		{
			"nothing", plans.Plan{Mode: plans.NormalMode},
			"No changes. Your infrastructure matches the configuration.", "**No changes.** The infrastructure matches the configuration.",
		},
		{
			"the state only", plans.Plan{Mode: plans.NormalMode, Applyable: true},
			"Applying this plan updates only the state", "**No changes.** The infrastructure matches the configuration.",
		},
		{
			"refresh only", plans.Plan{Mode: plans.RefreshOnlyMode},
			"No changes. Your infrastructure still matches the configuration.", "**No changes.** The infrastructure matches the configuration.",
		},
		{
			"refresh only, something new", plans.Plan{Mode: plans.RefreshOnlyMode, Applyable: true},
			"No changes. Your infrastructure still matches the configuration.", "**No changes** to objects; the state is brought up to date.",
		},
		{
			"destroy", plans.Plan{Mode: plans.DestroyMode},
			"No changes. No objects need to be destroyed.", "**No changes.** The infrastructure matches the configuration.",
		},
		{
			"errors", plans.Plan{Mode: plans.NormalMode, Errored: true},
			"Planning failed.", "**Planning failed.** What was planned before: 0 to add, 0 to change, 0 to destroy.",
		},
		{
			"outputs", plans.Plan{Mode: plans.NormalMode, Outputs: output(plans.Create)},
			"Changes to Outputs:\n  + o = true\n\nApplying this plan saves these output values in the state.", "**No changes** to objects; outputs change.",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var b strings.Builder
			(&Printer{}).Plan(&b, &x.plan, nil, nil)
			if !strings.Contains(b.String(), x.text) {
				t.Errorf("text: got %q, want %q in it", b.String(), x.text)
			}
			first, _, _ := strings.Cut(PlanMarkdown(&x.plan, nil), "\n")
			if d := cmp.Diff(x.md, first); d != "" {
				t.Errorf("Markdown (- want, + got):\n%s", d)
			}
		})
	}
}

// Colours and Markdown of plans that have something of everything.
func TestPlanGoldens(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		switch r.Name {
		case "things-2", "types-2", "drift-2", "deposed-3":
			t.Run(r.Name, func(t *testing.T) {
				compare(t, r.Name+".colour.txt", strings.ReplaceAll(recordedText(t, r, &Printer{Color: true, Width: 100}, schemas), "\x1b", "^"))
				compare(t, r.Name+".md", PlanMarkdown(r.Plan(t, schemas), schemas))
			})
		}
	}
}

// A deposed object that is the current one is forgotten, and the plan says why.
func TestForgetCurrentObject(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		if r.Name != "deposed-3" {
			continue
		}
		p := r.Plan(t, schemas)
		p.Changes = slices.DeleteFunc(p.Changes, func(c *plans.ResourceChange) bool { return c.Addr.Deposed == addrs.NotDeposed })[:1]
		c := p.Changes[0]
		c.Action, c.Reason = plans.Forget, plans.ReasonForgetBecauseCurrent
		var b strings.Builder
		(&Printer{}).Plan(&b, p, nil, nil)
		for _, want := range []string{
			" # " + c.Addr.String() + " will be forgotten, and will not be destroyed\n",
			" # (because it is the current object of " + c.Addr.Instance.String() + ")\n",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is missing in:\n%s", want, b.String())
			}
		}
	}
}

// TestImportedByIdentity: the comment names the identity, without the attributes that are sensitive in the object.
func TestImportedByIdentity(t *testing.T) {
	t.Parallel()
	a := object(t, "lab_thing.a")
	of := func(name cty.Value, zone string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"name": name, "zone": cty.StringVal(zone)})
	}
	identity := of(cty.StringVal("n"), "z")
	for want, before := range map[string]cty.Value{
		"(imported by identity: name=n,zone=z)":                 identity,
		"(imported by identity: name=(sensitive value),zone=z)": of(cty.StringVal("n").Mark(marks.Sensitive), "z"),
	} {
		var b strings.Builder
		(&Printer{}).Plan(&b, &plans.Plan{Changes: []*plans.ResourceChange{{
			Addr: a, PrevAddr: a.Instance,
			Change: plans.Change{Action: plans.Update, Before: before, After: of(cty.StringVal("n"), "y"), Importing: &plans.Importing{Identity: identity}},
		}}}, nil, nil)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		if r.Name != "things-2" {
			continue
		}
		want := counting.Counts{Import: 3, Add: 9, Change: 3, Destroy: 12, Forget: 1}
		if got := r.Plan(t, schemas).Counts(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Objects that no schema describes are shown all the same.
func TestObjectsWithoutSchema(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		if r.Name != "types-2" {
			continue
		}
		var b strings.Builder
		(&Printer{}).State(&b, r.State(t), nil)
		for _, want := range []string{`resource "lab_shape" "s" {`, `name     = "s"`, `label  = "fourth"`} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is missing in:\n%s", want, b.String())
			}
		}
		if strings.Contains(b.String(), `"s2"`) {
			t.Error("a sensitive value is shown")
		}
		p := r.Plan(t, schemas)
		for _, c := range p.Changes {
			c.Schema = nil
		}
		b.Reset()
		(&Printer{}).Plan(&b, p, nil, nil)
		if want := `~ color    = "red" -> "blue"`; !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}
