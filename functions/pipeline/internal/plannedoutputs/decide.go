package plannedoutputs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// before returns the runs on which a run depends at the head of the pull request, directly or indirectly. For a
// project in a cycle it returns none, because its apply is refused.
func before(edges order.Edges, all []runs.Run, r runs.Run) (out []runs.Run) {
	if edges == nil || r.Spec.Removed || r.Spec.Options.Destroy || order.Cycle(order.Around(edges, r.Project)) != nil {
		return nil // a destroy is planned with the present state
	}
	names := map[string]order.Progress{}
	for _, s := range all {
		names[s.Project] = order.Unknown
	}
	first := order.Waits(edges, names, r.Project)
	for _, s := range all {
		if s.Spec.Head == r.Spec.Head && s.Phase != runs.Superseded && s.Phase != runs.Dropped && slices.Contains(first, s.Project) {
			out = append(out, s)
		}
	}
	return out
}

// wanted reports whether any project depends on the project with the given name.
func wanted(edges order.Edges, name string) bool {
	for _, all := range edges {
		if slices.Contains(all, name) {
			return true
		}
	}
	return false
}

// underWay reports whether the plan of a run is queued or being made.
func underWay(r runs.Run) bool { return r.Phase == runs.Queued || r.Phase == runs.Planning }

// planned returns the hash of the plan whose outputs the state of a run will have. It returns "" if there is
// none: a dependent plan then uses the outputs in the state.
func planned(r runs.Run) string {
	if r.Spec.Removed || r.Spec.Options.Destroy || r.Plan.Parts == nil || r.Plan.Parts.Outputs == "" {
		return ""
	}
	switch r.Phase {
	case runs.Planned:
		if !r.Plan.Applyable {
			return ""
		}
	case runs.ApplyQueued, runs.Applying, runs.Continuing, runs.Stopped:
	default:
		return ""
	}
	return r.Plan.Hash
}

// stands returns a text that identifies the result of a run, for plans that depend on it: the hash of its plan
// or, after an apply, the word "apply" with the number of the apply. If the text changes, a dependent plan that
// failed may now succeed. For example, a plan fails if an unknown output decides how many objects there will
// be.
func stands(r runs.Run) string {
	switch r.Phase {
	case runs.Applied, runs.ApplyFailed:
		return fmt.Sprintf("apply %d", r.Asked.Try)
	case runs.Planned, runs.ApplyQueued, runs.Applying, runs.Continuing, runs.Stopped:
		if r.Plan.Applyable {
			return r.Plan.Hash
		}
	}
	return ""
}

// on returns the results in first that a dependent plan uses, by target: see [stands].
func on(first []runs.Run) map[string]string {
	out := map[string]string{}
	for _, s := range first {
		out[s.Target()] = stands(s)
	}
	return out
}

// due reports whether to check a plan, because plans whose outputs it has used have changed. now has the hashes
// of these plans, by target. It returns false while one of them is being made.
func due(r runs.Run, all []runs.Run) (now map[string]string, changed bool) {
	made, planned := with(r)
	if len(made) == 0 {
		return nil, false
	}
	on := made
	if r.Phase == runs.Planned && r.Plan.Checked != nil && r.Plan.Checked.PlannedOn != nil {
		on = r.Plan.Checked.PlannedOn
	}
	now = map[string]string{}
	for target := range made {
		now[target] = ""
		for _, s := range all {
			if s.Target() != target || s.Spec.Head != r.Spec.Head {
				continue
			}
			if underWay(s) {
				return nil, false
			}
			now[target] = planned(s)
		}
	}
	return now, !maps.Equal(now, on)
}

// with returns the plans whose outputs the run's plan has used (made), by target. now is a function that
// returns the present plan of one of the projects, in the same form.
func with(r runs.Run) (made map[string]string, now func(runs.Run) string) {
	switch {
	case r.Phase == runs.Planned && r.Plan.Parts != nil:
		return r.Plan.Parts.PlannedOn, planned
	case runs.Checkable(r) && r.Plan.Failure != nil:
		return r.Plan.Failure.On, stands
	}
	return nil, nil
}

// digest returns a short text that identifies a set of plans. So messages about the same plans have the same
// ID.
func digest(all []runs.Run) string {
	sum := sha256.New()
	for _, r := range all {
		fmt.Fprintln(sum, r.Target(), r.Asked.Attempt, r.Artifacts.Begun, planned(r))
		if planned(r) == "" && stands(r) != "" {
			fmt.Fprintln(sum, stands(r))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
