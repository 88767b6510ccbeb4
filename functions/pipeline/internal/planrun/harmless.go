package planrun

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/github"
)

// needsNoPlan reports whether a pull request whose plan the gate would refuse needs no plan. It must change no
// configuration file, and no file on which the base branch's projects depend. These projects are those of the
// base branch, so a fork cannot influence the result: the fork's files are only compared, and not read as a
// configuration.
func (qu *PlanQueuer) needsNoPlan(ctx context.Context, q admission.Request) (bool, error) {
	if q.Entry != admission.ByPush {
		return false, nil
	}
	files, complete, err := qu.Facts.Hub.ChangedFiles(ctx, qu.Facts.Pull.Number)
	if err != nil || !complete || slices.ContainsFunc(github.PathsOf(files), gatefacts.Configures) {
		return false, err
	}
	m, err := qu.Facts.Hub.MergeResult(ctx, qu.Facts.Pull.Number)
	if err != nil || m.Conflict || m.Merged {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	dir, done, err := qu.Facts.Checkout(ctx, m.SHA)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	defer done()
	t, err := gatefacts.TouchedOfBase(ctx, qu.Facts, m.Base, dir)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	return t.Problem == "" && !t.All && len(t.Touched) == 0 && !slices.ContainsFunc(t.Changed, gatefacts.Configures), nil
}
