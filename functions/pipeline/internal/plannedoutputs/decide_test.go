package plannedoutputs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// run reads one as "NAME PHASE OPTION...": removed, destroys, elsewhere (another head), unchanged, bare (without outputs).
func run(text string) runs.Run {
	name, rest, _ := strings.Cut(text, " ")
	r := runs.Run{ID: runs.ID{Project: name, Workspace: "default"}, Spec: runs.Spec{Head: "head"}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Hash: "hash of " + name, Applyable: true}, Parts: &runs.PlanParts{Outputs: "o"}}}
	for word := range strings.FieldsSeq(rest) {
		switch word {
		case "removed":
			r.Spec.Removed = true
		case "destroys":
			r.Spec.Options.Destroy = true
		case "elsewhere":
			r.Spec.Head = "former head"
		case "unchanged":
			r.Plan.Applyable = false
		case "bare":
			r.Plan.Parts.Outputs = ""
		case "lost":
			r.Plan.Parts = nil
		default:
			r.Phase = runs.Phase(strings.ReplaceAll(word, "-", " "))
		}
	}
	return r
}

// TestBefore is a table of the runs of a pull request, and of those that app's plan comes after. app depends on svc, and
// that on net; x and y depend on each other.
func TestBefore(t *testing.T) {
	t.Parallel()
	edges := order.Edges{"app": {"svc"}, "svc": {"net"}, "x": {"y"}, "y": {"x"}}
	for _, c := range []struct{ of, others, want string }{
		{"app queued", "svc queued, net planning, other queued", "svc net"},
		{"app queued", "net planned", "net"},
		{"app queued", "", ""},
		{"net queued", "app queued, svc queued", ""},
		{"app queued removed", "net planned", ""},
		{"app queued destroys", "net planned", ""},
		{"app queued", "net planned elsewhere, svc superseded", ""},
		{"app queued", "net dropped", ""},
		{"x queued", "y queued", ""},
	} {
		r := run(c.of)
		all := []runs.Run{r}
		for text := range strings.SplitSeq(c.others, ", ") {
			if text != "" {
				all = append(all, run(text))
			}
		}
		var got []string
		for _, s := range before(edges, all, r) {
			got = append(got, s.Project)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s of %s: %v, want %s", c.of, c.others, got, c.want)
		}
	}
	if !wanted(edges, "net") || wanted(edges, "app") || before(nil, []runs.Run{run("net queued")}, run("app queued")) != nil {
		t.Error("who is wanted")
	}
}

// TestDue is a table of a project's run, and of whether the plan that was made with its outputs is due.
func TestDue(t *testing.T) {
	t.Parallel()
	const same = "hash of net"
	for _, c := range []struct {
		on, checked, net string
		want             bool
	}{
		{same, "", "net planned", false},
		{same, "", "net apply-queued", false},
		{same, "", "net applying", false},
		{same, "", "net continuing", false},
		{same, "", "net stopped", false},
		{"another", "", "net planned", true},
		{same, "", "net applied", true},
		{same, "", "net apply-failed", true},
		{same, "", "net stale", true},
		{same, "", "net plan-failed", true},
		{same, "", "net planned unchanged", true},
		{same, "", "net planned removed", true},
		{same, "", "net planned destroys", true},
		{same, "", "net planned bare", true},
		{same, "", "net planned lost", true},
		{same, "", "net planned elsewhere", true},
		{same, "", "net queued", false},
		{"another", "", "net planning", false},
		{"", "", "net planned", true},
		{"", "", "net applied", false},
		{same, "none", "net applied", false},
		{same, "none", "net planned", true},
		{"another", same, "net planned", false},
	} {
		net := run(c.net)
		r := run("app planned")
		r.Plan.Parts.PlannedOn = map[string]string{net.Target(): c.on}
		if c.checked != "" {
			r.Plan.Checked = &runs.Checked{PlannedOn: map[string]string{net.Target(): strings.TrimPrefix(c.checked, "none")}}
		}
		now, is := due(r, []runs.Run{r, net})
		if is != c.want || is && fmt.Sprint(now) != fmt.Sprint(map[string]string{net.Target(): planned(net)}) && net.Spec.Head == r.Spec.Head {
			t.Errorf("%+v: %t, %v", c, is, now)
		}
		r.Phase = runs.ApplyQueued
		if _, is := due(r, []runs.Run{r, net}); is {
			t.Errorf("%+v: due while it is applied", c)
		}
	}
	for _, c := range []struct {
		on, net string
		want    bool
	}{
		{same, "net planned", false},
		{same, "net planned bare", false},
		{same, "net applying", false},
		{same, "net queued", false},
		{same, "net applied", true},
		{same, "net apply-failed", true},
		{"apply 0", "net applied", false},
		{"", "net plan-failed", false},
		{"", "net planned", true},
		{"", "net planned unchanged", false},
		{"another", "net planned", true},
	} {
		net, r := run(c.net), run("app plan-failed")
		r.Plan.Parts = nil
		if _, is := due(r, []runs.Run{r, net}); is {
			t.Errorf("%+v: due though it was not begun", c)
		}
		r.Plan.Failure = &runs.Failure{On: map[string]string{net.Target(): c.on}}
		if now, is := due(r, []runs.Run{r, net}); is != c.want || is && fmt.Sprint(now) != fmt.Sprint(on([]runs.Run{net})) {
			t.Errorf("failed with %+v: %t, %v", c, is, now)
		}
	}
	if _, is := due(run("app planned"), nil); is {
		t.Error("due without planned outputs")
	}
	a, b := run("net planned"), run("net planned")
	b.Plan.Hash = "another"
	if all := []runs.Run{a, b}; digest(all[:1]) == digest(all[1:]) || len(withTargets(all, map[string]string{a.Target(): ""})) != 2 || slices.ContainsFunc(withTargets(all, nil), func(runs.Run) bool { return true }) {
		t.Error("messages about others are the same")
	}
}
