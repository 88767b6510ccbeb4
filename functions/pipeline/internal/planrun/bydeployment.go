package planrun

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// deploymentShares has the selected projects, by the deployment that works for them.
type deploymentShares struct {
	ours   []selected
	others []ledger.Elsewhere
}

// byDeployment divides projects among the deployments that work for the repository, according to the base
// commit of l. base are the settings there. If they name no deployment, the one without a name works for all
// projects.
func (qu *PlanQueuer) byDeployment(ctx context.Context, all []selected, base *project.Settings, l *ledger.Look) (d deploymentShares, err error) {
	for _, p := range all {
		by := ""
		if base.Divides() {
			if by, err = gatefacts.ServedBy(ctx, qu.Facts, l.Base, p.Project); err != nil {
				return deploymentShares{}, err
			}
		}
		if by == qu.Facts.Deployment {
			d.ours = append(d.ours, p)
			continue
		}
		d.others = append(d.others, ledger.Elsewhere{Project: p.Name, Dir: p.Dir, Workspace: p.Workspace, By: by})
	}
	return d, nil
}

// notedElsewhere returns the note about projects of a pull request for which other deployments work.
func notedElsewhere(all []ledger.Elsewhere) string {
	var names, by []string
	for _, x := range all {
		names, by = append(names, x.Project), append(by, x.By)
	}
	return notes.ServedElsewhere(names, by)
}
