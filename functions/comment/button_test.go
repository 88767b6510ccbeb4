package comment

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/github"
)

// TestButtons holds that GitHub takes the buttons of each page, and that each is read as the command it stands for.
func TestButtons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	denied := &rulings.Ruling{Outcome: rulings.Fails, Of: []rulings.Ruling{{Outcome: rulings.Holds, Overriders: []string{"carol"}}, {Outcome: rulings.Fails, Overriders: []string{"carol"}}}}
	for i, s := range append(Standings(), Standings()...) {
		p := ProjectStatus{Name: "app", Standing: s, PlanSummary: PlanSummary{Hash: someHash}}
		if i >= len(Standings()) {
			p.Required = denied
		}
		all := Check{ProjectStatus: p}.Buttons()
		if len(all) > github.MaxButtons {
			t.Errorf("%s: %d buttons", s, len(all))
		}
		for _, b := range all {
			seen[b.Description] = true
			if len(b.Label) > github.MaxButtonLabel || len(b.Description) > github.MaxButtonDescription || len(b.Identifier) > github.MaxButtonIdentifier {
				t.Errorf("%s: too long: %+v", s, b)
			}
			c, ok := ReadButton(b.Identifier)
			if !ok || strings.TrimSpace(string(c.Verb)+" "+c.Plan) != b.Identifier || c.Plan != "" && !strings.HasPrefix(someHash, c.Plan) {
				t.Errorf("%s: %q is %+v, %v", s, b.Identifier, c, ok)
			}
			if c.Verb == Apply && c.Plan == "" {
				t.Errorf("%s: a button applies a plan without its name", s)
			}
		}
	}
	if len(seen) != len(buttons) {
		t.Errorf("of %d buttons some are on no page: %v", len(buttons), seen)
	}
	for _, p := range []ProjectStatus{
		{Standing: Ready, PlanSummary: PlanSummary{Hash: someHash}, MergeRole: MergeRole{AfterMerge: true}}, {Standing: PlanFailed, MergeRole: MergeRole{AfterMerge: true}},
		{Standing: ApplyFailed, MergeRole: MergeRole{ByMerge: true}}, {Standing: Applying, MergeRole: MergeRole{ByMerge: true}}, {Standing: Stopped, PlanSummary: PlanSummary{Hash: someHash}, MergeRole: MergeRole{ByMerge: true}},
	} {
		if all := (Check{ProjectStatus: p}).Buttons(); len(all) > 0 {
			t.Errorf("%+v is of a merged pull request, and has the buttons %v", p, all)
		}
	}
	for _, p := range []ProjectStatus{{Standing: Ready}, {Standing: Renewed, PlanSummary: PlanSummary{Hash: someHash}, MergeRole: MergeRole{ByMerge: true}}} {
		for _, b := range (Check{ProjectStatus: p}).Buttons() {
			if b.Label == "Apply" {
				t.Errorf("%+v can be applied by a button", p)
			}
		}
	}
}

// TestOverrideButton holds on which pages there is a button for an override: while a requirement is not met that a person may override.
func TestOverrideButton(t *testing.T) {
	t.Parallel()
	fails := func(overriders ...string) rulings.Ruling {
		return rulings.Ruling{Outcome: rulings.Fails, Overriders: overriders}
	}
	met := rulings.Ruling{Outcome: rulings.Holds, Overriders: []string{"carol"}}
	of := func(outcome rulings.Outcome, list ...rulings.Ruling) *rulings.Ruling {
		return &rulings.Ruling{Outcome: outcome, Of: list}
	}
	for name, x := range map[string]struct {
		p    ProjectStatus
		want string
	}{
		"denied":                       {ProjectStatus{Standing: Ready, Obstacles: Obstacles{Required: of(rulings.Fails, fails("carol"))}}, "Apply, Override, Plan again"},
		"denied, by the merge":         {ProjectStatus{Standing: OnMerge, Obstacles: Obstacles{Required: of(rulings.Fails, fails("carol"))}}, "Override, Plan again"},
		"denied and blocked":           {ProjectStatus{Standing: Blocked, Obstacles: Obstacles{Required: of(rulings.Fails, fails("carol"))}}, "Override, Plan again"},
		"unknown":                      {ProjectStatus{Standing: Ready, Obstacles: Obstacles{Required: of(rulings.Unknown, rulings.Ruling{Outcome: rulings.Unknown, Overriders: []string{"carol"}})}}, "Apply, Override, Plan again"},
		"nobody may":                   {ProjectStatus{Standing: Ready, Obstacles: Obstacles{Required: of(rulings.Fails, fails())}}, "Apply, Plan again"},
		"only one that is met":         {ProjectStatus{Standing: Ready, Obstacles: Obstacles{Required: of(rulings.Fails, fails(), met)}}, "Apply, Plan again"},
		"all met":                      {ProjectStatus{Standing: Ready, Obstacles: Obstacles{Required: of(rulings.Holds, met)}}, "Apply, Plan again"},
		"no requirement":               {ProjectStatus{Standing: Ready}, "Apply, Plan again"},
		"being applied":                {ProjectStatus{Standing: Applying, Obstacles: Obstacles{Required: of(rulings.Fails, fails("carol"))}}, "Cancel"},
		"of a plan after the merge":    {ProjectStatus{Standing: Ready, MergeRole: MergeRole{AfterMerge: true}, Obstacles: Obstacles{Required: of(rulings.Fails, fails("carol"))}}, ""},
		"overridden, and no longer so": {ProjectStatus{Standing: Ready, Obstacles: Obstacles{Required: of(rulings.Lifted, rulings.Ruling{Outcome: rulings.Lifted, Overriders: []string{"carol"}})}}, "Apply, Plan again"},
	} {
		x.p.Hash = someHash
		var got []string
		for _, b := range (Check{ProjectStatus: x.p}).Buttons() {
			got = append(got, b.Label)
		}
		if strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %q, want %s", name, got, x.want)
		}
	}
}

// TestNoButtons holds that nothing else is read as a command.
func TestNoButtons(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", "apply", "apply ", "apply 1a2b3c", "apply 1a2b3c4d5e6f7", "apply 1A2B3C4D5E6F", "apply  1a2b3c4d5e6f", "apply 1a2b3c4d5e6f\n", "apply *",
		"plan ", "plan 1a2b3c4d5e6f", "Plan", "stop now", "unlock", "override x", "override --reason x", "help", "plan\nlockstep apply",
	} {
		if c, ok := ReadButton(id); ok {
			t.Errorf("%q is %+v", id, c)
		}
	}
}
