package planrun

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// inBuild lets a build make a plan that the gate allows, if the base branch names an image for it. It returns true if the
// caller need do nothing more. The build asks the gate once more.
func (pl *Planner) inBuild(ctx context.Context, s ledger.Versioned) (bool, error) {
	if pl.Builder.Service == nil {
		return false, nil
	}
	image, err := gatefacts.ImageOf(ctx, pl.Facts, s.Run)
	if err != nil || image == "" {
		return false, err
	}
	err = pl.Builder.Plan(ctx, image, s.Run)
	if no := buildrunner.IsRefused(err); no != nil {
		problem := fmt.Sprintf("CodeBuild does not start a build with the image %s: %v", image, no)
		return true, pl.recordFailure(ctx, s, markdown.Code(pl.Report.Clean(problem)))
	}
	return true, err
}
