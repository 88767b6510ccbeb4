package foreseeing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// before returns those of the runs that one depends on, directly or not, as the pull request is at its head. Projects in a
// circle depend on nothing here: their applies are refused.
func before(edges order.Edges, all []runs.Run, r runs.Run) (out []runs.Run) {
	if edges == nil || r.Removed || r.Options.Destroy || order.Cycle(order.Around(edges, r.Project)) != nil {
		return nil // an end is planned with the state as it is
	}
	names := map[string]order.Progress{}
	for _, s := range all {
		names[s.Project] = order.Unknown
	}
	first := order.Waits(edges, names, r.Project)
	for _, s := range all {
		if s.Head == r.Head && s.Phase != runs.Superseded && s.Phase != runs.Dropped && slices.Contains(first, s.Project) {
			out = append(out, s)
		}
	}
	return out
}

// wanted reports whether a project depends on one of a name.
func wanted(edges order.Edges, name string) bool {
	for _, all := range edges {
		if slices.Contains(all, name) {
			return true
		}
	}
	return false
}

// underWay reports whether the plan of a run is to come.
func underWay(r runs.Run) bool { return r.Phase == runs.Queued || r.Phase == runs.Planning }

// planned returns the hash of the plan whose outputs the state of a run will have, "" if there is none: then the outputs in
// the state count.
func planned(r runs.Run) string {
	if r.Removed || r.Options.Destroy || r.Parts == nil || r.Parts.Outputs == "" {
		return ""
	}
	switch r.Phase {
	case runs.Planned:
		if !r.Applyable {
			return ""
		}
	case runs.ApplyQueued, runs.Applying, runs.Continuing, runs.Stopped:
	default:
		return ""
	}
	return r.PlanHash
}

// due compares the plans whose outputs a plan was made with, or checked with, with those that there are now, by target. One
// that is being made again is waited for.
func due(r runs.Run, all []runs.Run) (now map[string]string, is bool) {
	if r.Phase != runs.Planned || r.Parts == nil || len(r.Parts.PlannedOn) == 0 {
		return nil, false
	}
	on := r.Parts.PlannedOn
	if r.Checked != nil && r.Checked.PlannedOn != nil {
		on = r.Checked.PlannedOn
	}
	now = map[string]string{}
	for target := range r.Parts.PlannedOn {
		now[target] = ""
		for _, s := range all {
			if s.Target() != target || s.Head != r.Head {
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

// digest names the plans that others wait for, so that messages about the same ones are the same.
func digest(all []runs.Run) string {
	sum := sha256.New()
	for _, r := range all {
		fmt.Fprintln(sum, r.Target(), r.Attempt, r.Begun, planned(r))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
