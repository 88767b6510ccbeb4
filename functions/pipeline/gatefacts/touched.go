package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A Touch describes what a pull request changes, found by comparing the contents of two commits. They are the
// tip of the base branch and the trial merge, or the commits before and after the merge.
type Touch struct {
	jobs.Compared
	// Was is the commit of the base branch without the changes. Had are its projects.
	Was string
	Had []project.Project
	// Has are the projects of the commit with the changes.
	Has []project.Project
	// Known are the warnings that the repository had without the changes.
	Known []jobs.Warning
	// Unguarded are the require and policy blocks that applied to no project even without the changes.
	Unguarded []jobs.Warning
	// All is set if nobody can find out any more what a merge has changed. Then everything may have changed.
	All bool
}

// Touches reports whether the pull request touches a project.
func (t Touch) Touches(p project.Project) bool {
	return t.All || slices.Contains(t.Touched, runs.ID{Project: p.Name, Workspace: p.Workspace}.Target())
}

// Touched finds what the pull request of a reader changes. dir is the checkout of its trial merge m; after
// its merge, dir is the checkout of the base branch's tip. The parameter d has the projects that were found
// there.
func Touched(ctx context.Context, e *Reader, m github.Merge, dir string, d jobs.Discovered) (t Touch, err error) {
	if e.Pull.Merged {
		return landedTouch(ctx, e, m, dir, d)
	}
	return compared(ctx, e, m.Base, dir, d)
}

// TouchedByMerge is [Touched] for a merged pull request. The result d has the projects that were found at the
// tip of the base branch.
func TouchedByMerge(ctx context.Context, e *Reader) (t Touch, d jobs.Discovered, err error) {
	m, err := e.Hub.MergeResult(ctx, e.Pull.Number)
	if err != nil {
		return t, d, err
	}
	dir, done, err := e.Checkout(ctx, m.SHA)
	if err != nil {
		return t, d, err
	}
	defer done()
	if d, err = discovered(ctx, e, dir); err != nil {
		return t, d, err
	}
	t, err = Touched(ctx, e, m, dir, d)
	return t, d, err
}

// TouchedInGroup returns the targets of the projects that the pull request touches in its merge group, whose
// commit is sha. The group also contains the pull requests ahead in the queue, so more projects can be touched
// there than at the head.
func TouchedInGroup(ctx context.Context, e *Reader, sha string) ([]string, error) {
	onto, err := e.Hub.Onto(ctx, sha)
	if err != nil {
		return nil, err
	}
	dir, done, err := e.Checkout(ctx, sha)
	if err != nil {
		return nil, err
	}
	defer done()
	d, err := discovered(ctx, e, dir)
	if err != nil {
		return nil, err
	}
	t, err := compared(ctx, e, onto, dir, d)
	return t.Touched, err
}

// TouchedOfBase is [Touched] with the projects as the base commit defines them. The settings in the checkout do
// not count.
func TouchedOfBase(ctx context.Context, e *Reader, was, dir string) (Touch, error) {
	b, err := e.baseAt(ctx, was)
	if err != nil {
		return Touch{}, err
	}
	if b.broken {
		return Touch{All: true}, nil
	}
	return compared(ctx, e, was, dir, jobs.Discovered{Projects: b.projects, Left: b.left})
}

// landedTouch is [Touched] for a merged pull request. If the base branch has renamed a project since, the
// renamed project is touched.
func landedTouch(ctx context.Context, e *Reader, m github.Merge, dir string, now jobs.Discovered) (Touch, error) {
	all := now.Projects
	was, sha, err := e.Hub.MergedOnto(ctx, e.Pull.Number)
	if errors.Is(err, github.ErrNotFound) {
		return Touch{All: true, Was: e.Pull.Base.SHA, Has: all}, nil
	}
	if err != nil {
		return Touch{}, fmt.Errorf("look what the merge has changed: %w", err)
	}
	if sha == m.SHA {
		return compared(ctx, e, was, dir, now)
	}
	then, done, err := e.Checkout(ctx, sha)
	if errors.Is(err, github.ErrNotFound) {
		return Touch{All: true, Was: was, Has: all}, nil
	}
	if err != nil {
		return Touch{}, DiskFull(fmt.Errorf("look what the merge has changed: %w", err))
	}
	defer done()
	d, err := discovered(ctx, e, then)
	if err != nil {
		return Touch{}, err
	}
	t, err := compared(ctx, e, was, then, d)
	if err != nil || t.All {
		return t, err
	}
	for _, p := range d.Projects {
		if !t.Touches(p) || has(all, p) {
			continue
		}
		f := project.Former{Name: p.Name, Dir: p.Dir, Workspace: p.Workspace}
		if p.Nowhere == "" {
			f.Place = p.Place.String()
		}
		if next, ok := project.Successor(f, all, func(x project.Project) bool { return has(d.Projects, x) }); ok {
			t.Touched = append(t.Touched, runs.ID{Project: next.Name, Workspace: next.Workspace}.Target())
		}
	}
	return t, nil
}

// has reports whether all contains a project with the name and the workspace of p.
func has(all []project.Project, p project.Project) bool {
	return slices.ContainsFunc(all, func(x project.Project) bool { return x.Name == p.Name && x.Workspace == p.Workspace })
}

// compared compares a checkout with a commit of the base branch.
func compared(ctx context.Context, e *Reader, was, dir string, now jobs.Discovered) (t Touch, err error) {
	before, done, err := e.Checkout(ctx, was)
	if errors.Is(err, github.ErrNotFound) {
		return Touch{All: true, Was: was, Has: now.Projects}, nil
	}
	if err != nil {
		return t, DiskFull(fmt.Errorf("read the base branch: %w", err))
	}
	defer done()
	d, err := discovered(ctx, e, before)
	var dead *jobs.DeathError
	if err != nil && !errors.As(err, &dead) {
		return t, fmt.Errorf("read the base branch: %w", err)
	}
	t = Touch{Was: was, Had: d.Projects, Has: now.Projects, Known: d.Warnings, Unguarded: d.Unguarded}
	seen, err := ledger.ReadsIn(ctx, e.Ledger, e.Message.Pull.Repo.ID)
	if err != nil {
		return t, err
	}
	t.Compared, err = e.Projects.Touched(ctx, jobs.Comparison{Was: before, Now: dir, Had: slices.Concat(d.Projects, d.Left), Has: slices.Concat(now.Projects, now.Left), Seen: seen})
	if errors.As(err, &dead) {
		t.Problem, err = dead.Markdown(), nil
	}
	return t, err
}
