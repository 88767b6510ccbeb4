package evidence

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/project"
)

// Removed returns the projects at a commit of the base branch whose states none of those of a head has any more.
func (e *Reader) Removed(ctx context.Context, base string, head []project.Project) ([]project.Project, error) {
	b, err := e.baseAt(ctx, base)
	if err != nil {
		return nil, err
	}
	return project.Removed(b.projects, head), nil
}
