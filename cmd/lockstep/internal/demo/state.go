package demo

import (
	"bytes"
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// state returns the objects in a project's state, as `lockstep show` prints them; "" if there are none.
func (s Site) state(ctx context.Context, p page.Project) (string, error) {
	job := jobs.Job{Project: p.Name, Workspace: p.Workspace, Repo: s.w.repo.Repo()}
	b, ds := s.w.machine.States(ctx, job, nil)
	if ds.HasErrors() {
		return "", fmt.Errorf("open the state of %s: %w", p.Name, ds.Err())
	}
	w, err := b.Open(p.Workspace)
	if err != nil {
		return "", fmt.Errorf("open the state of %s: %w", p.Name, err)
	}
	snapshot, err := w.Get(ctx)
	if err != nil || len(snapshot.Bytes) == 0 {
		return "", err
	}
	state, err := statefile.Read(snapshot.Bytes)
	if err != nil {
		return "", fmt.Errorf("read the state of %s: %w", p.Name, err)
	}
	known, ds := builtin.New(nil).Schema(ctx)
	if ds.HasErrors() {
		return "", ds.Err()
	}
	var text bytes.Buffer
	(&render.Printer{}).State(&text, state, func(addrs.Provider) *schema.Provider { return known })
	return text.String(), nil
}
