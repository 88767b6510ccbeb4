package planrun

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// maxTrialNote is the maximum length of the note about policies with errors, in bytes.
const maxTrialNote = 8 << 10

// tryPolicies records in l the errors in policies that an open pull request changes. dir is the checkout of its
// trial merge. Before the merge such a policy blocks nothing; after the merge, it blocks every apply of its
// projects. base are the settings of the base commit.
func (qu *PlanQueuer) tryPolicies(ctx context.Context, dir string, base *project.Settings, t gatefacts.Touch, l *ledger.Look) error {
	if qu.TryPolicies == nil || !qu.Facts.Pull.Open || l.Problem != "" {
		return nil
	}
	r := jobs.PolicyTrial{Were: policiesOf(base)}
	if !t.All {
		r.Files = append([]string{}, t.Changed...)
		settings := slices.ContainsFunc(r.Files, func(f string) bool { return slices.Contains(project.SettingsFiles, f) })
		if !settings && !slices.ContainsFunc(r.Were, func(p requirements.Policy) bool { return p.Repository == "" && p.Reads(r.Files) }) {
			return nil
		}
	}
	all, err := qu.TryPolicies(ctx, dir, r)
	var dead *jobs.DeathError
	switch {
	case errors.As(err, &dead):
		l.Policies = strings.TrimSpace(l.Policies + "\n\n" + notes.PoliciesUntried(dead.Markdown()))
	case err != nil:
		return err
	case len(all) > 0:
		var broken []notes.BrokenPolicy
		for _, p := range all {
			broken = append(broken, notes.BrokenPolicy(p))
		}
		l.Policies = strings.TrimSpace(l.Policies + "\n\n" + notes.PoliciesBroken(broken))
	}
	l.Policies = qu.Report.Clean(markdown.Cut(l.Policies, maxTrialNote))
	return nil
}

// policiesOf returns the policy blocks of settings; none if s is nil.
func policiesOf(s *project.Settings) (all []requirements.Policy) {
	if s == nil {
		return nil
	}
	for _, r := range s.Require {
		if r.Policy != nil {
			all = append(all, *r.Policy)
		}
	}
	return all
}
