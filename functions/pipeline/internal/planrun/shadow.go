package planrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// listen finds out whether all projects of the base branch are in shadow mode, and records that they are. Lockstep then writes
// nothing but one check on the pull request, whatever happens from now on.
func (qu *PlanQueuer) listen(ctx context.Context) error {
	s, err := gatefacts.SettingsNow(ctx, qu.Facts)
	if absent, err := gatefacts.Absent(ctx, qu.Facts, err); err != nil || absent {
		_, err = gatefacts.FinalRefusal(err)
		return err
	}
	if qu.silent = s.OnlyShadows(); !qu.silent {
		return nil
	}
	qu.Report.Silent = true
	return qu.Ledger.ChangeLook(ctx, qu.Facts.Message.Pull, func(l *ledger.Look) { l.Silent = true })
}

// takeShadows removes those projects from all that are in shadow mode, and records them in l. base are the settings of the
// base commit. Projects that the pull request removes are not planned in that mode.
func (qu *PlanQueuer) takeShadows(ctx context.Context, all []selected, base *project.Settings, l *ledger.Look) (active []selected, err error) {
	for _, p := range all {
		is, err := gatefacts.Shadows(ctx, qu.Facts, l.Base, base, p.Project)
		switch {
		case err != nil:
			return nil, err
		case !is:
			active = append(active, p)
		case p.base == "":
			l.Shadow = append(l.Shadow, ledger.Shadowed{Project: p.Name, Dir: p.Dir, Workspace: p.Workspace})
		}
	}
	return active, nil
}
