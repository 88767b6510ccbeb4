package applyrun

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// inBuild lets a build make an apply that the gate allows, if the project's environment names a build. It
// returns true if the caller need do nothing more. The build asks the gate once more. Before, inBuild releases
// the lease of this process, which would block the build.
func (ap *Applier) inBuild(ctx context.Context, s ledger.Versioned, job jobs.Job) (bool, error) {
	if ap.Builder.Service == nil || job.Environment.Runner().Name != environments.CodeBuild {
		return false, nil
	}
	if err := ap.Leases.LetGo(ctx); err != nil {
		return true, err
	}
	err := ap.Builder.HandOver(ctx, job.Environment.Runner().Image)
	if no := buildrunner.IsRefused(err); no != nil {
		problem := fmt.Sprintf("the environment %q is applied in CodeBuild (%s on the base branch), which does not start a build: %v", job.Environment.Name(), job.Environment.Runner().At, no)
		return true, ap.refuse(ctx, s, admission.Refusal(reasons.Unusable{Problem: ap.Report.Clean(problem)}))
	}
	return true, err
}

// continuesInBuild lets the next build continue an apply that an earlier build has begun. It returns nil if
// this process must handle the apply itself: no build has begun it, somebody has stopped it, or no build can be
// started.
func (ap *Applier) continuesInBuild(ctx context.Context, s ledger.Versioned, b ledger.Begun) error {
	began, err := ap.Builder.Began(ctx)
	if err != nil || !began || b.Busy(time.Now()) {
		return err
	}
	stop, err := ap.Ledger.StopOf(ctx, s.Run)
	if err != nil || stop != nil {
		return err
	}
	if err = ap.Builder.HandOver(ctx, ""); buildrunner.IsRefused(err) != nil {
		return nil
	}
	return err
}

// buildRemedy returns advice for an apply that took several processes, if a build could make it at once.
func (ap *Applier) buildRemedy(ctx context.Context) (string, error) {
	began, err := ap.Builder.Began(ctx)
	if err != nil || began || ap.Builder.Service == nil {
		return "", err
	}
	return "\n\n" + notes.InBuilds(), nil
}
