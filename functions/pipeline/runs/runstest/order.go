// Package runstest parses a short notation for orders of applies into the types of package runs. It is only for
// tests.
//
// This package does not decide which apply may start. Start reading at [Order].
package runstest

import (
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// Head is the head of the pull request in an [Order].
var Head = strings.Repeat("1", 40)

// Edges parses dependencies such as "app>net db>net": app and db depend on net.
func Edges(s string) order.Edges {
	e := order.Edges{}
	for _, f := range strings.Fields(s) {
		from, to, _ := strings.Cut(f, ">")
		e[from] = append(e[from], to)
	}
	return e
}

// Order returns the facts about an order of applies. base and head are the edges of the base branch and of the
// head. all are the runs, in this notation:
//
//   - "net:planned" is a planned run of net. In "net:planned+", somebody is about to apply it.
//   - "-net:planned" destroys net. "x-net:planned" destroys net because the pull request removes it.
//   - The plan of "net:target/planned" has targets.
//   - The plan of "net:drift/planned" changes only the state.
//   - The pull request does not change "net:beside/target/planned".
//   - The head of "net:upheld/drift/planned" is applied.
func Order(base, head, all string) *runs.Order {
	o := runs.NewOrder()
	o.Base, o.Head = Edges(base), Edges(head)
	for _, f := range strings.Fields(all) {
		name, phase, _ := strings.Cut(f, ":")
		name, removed := strings.CutPrefix(name, "x-")
		name, destroyed := strings.CutPrefix(name, "-")
		phase, upheld := strings.CutPrefix(phase, "upheld/")
		phase, beside := strings.CutPrefix(phase, "beside/")
		phase, target := strings.CutPrefix(phase, "target/")
		phase, drift := strings.CutPrefix(phase, "drift/")
		r := runs.Run{ID: runs.ID{Project: name}, Spec: runs.Spec{Head: Head, Removed: removed, Beside: beside}, Plan: runs.Plan{PlanSummary: comment.PlanSummary{Applyable: !strings.HasPrefix(phase, "unchanged"), Upheld: upheld}}}
		if r.Spec.Options.Destroy, r.Spec.Options.RefreshOnly = destroyed, drift; target {
			r.Spec.Options.Targets = []string{"a.b"}
		}
		phase, coming := strings.CutSuffix(phase, "+")
		if r.Phase = runs.Phase(strings.ReplaceAll(phase, "-", " ")); !r.Plan.Applyable {
			r.Phase = runs.Planned
		}
		if was, dropped := strings.CutPrefix(phase, "dropped/"); dropped {
			r.Phase, r.End.Was = runs.Dropped, runs.Phase(was)
		}
		if coming {
			r.Asked.ThenApply = r.Asked.Try + 1
		}
		o.Add(r, Head)
	}
	return o
}
