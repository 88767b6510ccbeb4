package planrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// withoutShadows returns those removed projects in gone that Lockstep applied before: neither at was, the commit of the base
// branch without the pull request, nor at the last commit that had them were they in shadow mode. The other tool destroys the
// objects of all others, of which l takes a note.
func (qu *PlanQueuer) withoutShadows(ctx context.Context, gone []selected, was string, l *ledger.Look) (active []selected, err error) {
	for _, p := range gone {
		shadowed := false
		for _, at := range slices.Compact([]string{p.base, was}) {
			is, err := gatefacts.ShadowedAt(ctx, qu.Facts, at, p.Project)
			if err != nil && (at == p.base || !errors.Is(err, github.ErrNotFound)) { // the base branch may have been rewritten
				return nil, err
			}
			shadowed = shadowed || is
		}
		if l.ShadowRemoved = l.ShadowRemoved || shadowed; !shadowed {
			active = append(active, p)
		}
	}
	return active, nil
}

// takeShadows removes those projects from all that are in shadow mode, and records them in l. base are the settings of the
// base commit.
func (qu *PlanQueuer) takeShadows(ctx context.Context, all []selected, base *project.Settings, l *ledger.Look) (active []selected, err error) {
	for _, p := range all {
		is, err := gatefacts.Shadows(ctx, qu.Facts, l.Base, base, p.Project)
		switch {
		case err != nil:
			return nil, err
		case !is:
			active = append(active, p)
		default:
			l.Shadow = append(l.Shadow, ledger.Shadowed{Project: p.Name, Dir: p.Dir, Workspace: p.Workspace})
		}
	}
	return active, nil
}
