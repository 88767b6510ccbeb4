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

// maxRehearsed limits the length of the note on mistakes in policies in bytes.
const maxRehearsed = 8 << 10

// rehearse notes in l the mistakes in the policies that an open pull request changes, in the checkout of its trial merge: they are in
// nobody's way before it is merged, and in that of each apply afterwards. base are the settings of the base commit.
func (qu *PlanQueuer) rehearse(ctx context.Context, dir string, base *project.Settings, t gatefacts.Touch, l *ledger.Look) error {
	if qu.Rehearse == nil || !qu.Facts.Pull.Open || l.Problem != "" {
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
	all, err := qu.Rehearse(ctx, dir, r)
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
	l.Policies = qu.Report.Clean(markdown.Cut(l.Policies, maxRehearsed))
	return nil
}

// policiesOf are the policy blocks of settings; nil has none.
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
