package storytest

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// projects reads checkouts as effects of the story. A step "engine discover . death TEXT" or "engine inputs PROJECT death
// TEXT" ends the next reading.
type projects struct {
	jobs.Projects
	e *engine
}

// read asks for the verdict on a reading.
func (p projects) read(call, name string) error {
	if err := p.e.w.decide(memory.Effect{Call: "read " + call + " of " + name, Reads: true}).Undone; err != nil {
		return err
	}
	if r := p.e.take(call, name); r.word == "death" {
		return &jobs.DeathError{What: "reading the files", Why: r.rest, Remedy: "Make them smaller."}
	}
	return nil
}

// Discover implements [jobs.Projects].
func (p projects) Discover(ctx context.Context, dir string) (jobs.Discovered, error) {
	if err := p.read("discover", "."); err != nil {
		return jobs.Discovered{}, err
	}
	return p.Projects.Discover(ctx, dir)
}

// Touched implements [jobs.Projects]. A step "engine touched . death TEXT" ends it.
func (p projects) Touched(ctx context.Context, c jobs.Comparison) (jobs.Compared, error) {
	if err := p.read("touched", "."); err != nil {
		return jobs.Compared{}, err
	}
	return p.Projects.Touched(ctx, c)
}

// Inputs implements [jobs.Projects].
func (p projects) Inputs(ctx context.Context, dir string, r runs.Run, s jobs.Scope) (project.Tree, error) {
	if err := p.read("inputs", r.Project); err != nil {
		return nil, err
	}
	return p.Projects.Inputs(ctx, dir, r, s)
}
