package gatefacts

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// findUnits has Terragrunt find the units in a checkout, if the tip of the base branch has a terragrunt block. The pull
// request decides neither whether Terragrunt runs nor which program that is. The units are stored beside the checkout.
func (e *Reader) findUnits(ctx context.Context, sha, dir string) error {
	has, err := terragrunt.In(dir)
	if err != nil || !has {
		return err
	}
	in, err := e.requirements(ctx)
	if err != nil || in.settings == nil || in.settings.Terragrunt == nil {
		return err
	}
	if e.Pull.Fork() && !e.Pull.Merged {
		// Anybody can write a fork, and a unit decides which programs run. Nobody has looked at the commit yet.
		e.commits[dir] = ""
		return jobs.SaveUnits(dir, jobs.Units{Problem: "Terragrunt does not run for commits of forks. Push the commit to a branch of this repository"})
	}
	t := *in.settings.Terragrunt
	key := fmt.Sprintf("%d %s %s", e.Message.Pull.Repo.ID, sha, t.ID())
	// Which projects the commit has depends on this block, so the key contains the block's ID.
	e.commits[dir] = sha + " " + t.ID()
	if u, ok := e.Bases.units(key); ok {
		return jobs.SaveUnits(dir, u)
	}
	u := jobs.Units{Problem: "this deployment cannot run programs. Run `lockstep deploy` to update it"}
	if e.FindUnits != nil {
		at := e.Message.Pull
		if u, err = e.FindUnits(ctx, jobs.Job{Checkout: dir, App: at.App, Repo: at.Repo, Installation: at.Installation}, t); err != nil {
			return err
		}
	}
	if u.Problem != "" {
		e.commits[dir] = "" // it may be repaired at any time
	}
	// The files of stacks are in this checkout only.
	if !slices.ContainsFunc(u.Units, terragrunt.Unit.Generated) && u.Problem == "" {
		e.Bases.keepUnits(key, u)
	}
	return jobs.SaveUnits(dir, u)
}

// unitOf returns how Terragrunt prepares a project; nil if the project's directory is no unit. all are the projects of the
// checkout, and t is the block of the base branch.
func unitOf(p project.Project, all []project.Project, t *requirements.Terragrunt) *jobs.Unit {
	if p.Unit == nil || t == nil {
		return nil
	}
	u := &jobs.Unit{Terragrunt: *t, Source: p.Unit.Source, Remote: p.Unit.Remote, Linked: map[string]string{}}
	for _, q := range all {
		if slices.Contains(p.Unit.DependsOn, q.Dir) {
			u.Linked[q.Dir] = q.Name
		}
	}
	return u
}

// units returns the units of a commit from the cache.
func (b *Bases) units(key string) (jobs.Units, bool) {
	if b == nil {
		return jobs.Units{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	u, ok := b.found[key]
	return u, ok
}

// keepUnits caches the units of a commit. If the cache has too many commits, it is emptied before.
func (b *Bases) keepUnits(key string, u jobs.Units) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.found == nil || len(b.found) == maxBases {
		b.found = map[string]jobs.Units{}
	}
	b.found[key] = u
}
