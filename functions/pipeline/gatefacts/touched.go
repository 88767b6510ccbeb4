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

// A Touch says what a pull request changes. It is found by comparing the contents of two commits: the tip of
// the base branch and the trial merge. If the pull request is merged, they are the commits before and after the
// merge.
type Touch struct {
	jobs.Compared
	// Was is the commit of the base branch without the changes. Had are the projects at this commit.
	Was string
	Had []project.Project
	// Has are the projects of the commit that contains the changes.
	Has []project.Project
	// Known are warnings about the repository that exist without the changes, too.
	Known []jobs.Warning
	// Unguarded are the require and policy blocks that apply to no project even without the changes.
	Unguarded []jobs.Warning
	// All is set if nobody can find out what the merge has changed. Every project then counts as changed.
	All bool
}

// Touches reports whether the pull request changes the project p.
func (t Touch) Touches(p project.Project) bool {
	return t.All || slices.Contains(t.Touched, runs.ID{Project: p.Name, Workspace: p.Workspace}.Target())
}

// Touched finds out what the pull request changes. m is its trial merge, which is checked out in dir. If the
// pull request is merged, dir is a checkout of the base branch's tip. d has the projects in dir.
func Touched(ctx context.Context, e *Reader, m github.Merge, dir string, d jobs.Discovered) (t Touch, err error) {
	if e.Pull.Merged {
		return landedTouch(ctx, e, m, dir, d)
	}
	return compared(ctx, e, m.Base, dir, d)
}

// TouchedByMerge is like [Touched], for a merged pull request. d has the projects at the tip of the base
// branch.
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

// TouchedInGroup returns the targets of the projects that the pull request changes in its merge group. sha is
// the group's commit. The group also contains the pull requests before this one in the queue. So the pull
// request may change more projects there than at its head.
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

// TouchedOfBase is like [Touched], but uses the projects as the base commit was defines them. It ignores the
// settings in the checkout.
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

// landedTouch is like [Touched], for a merged pull request. If the base branch has renamed a changed project
// since, the project with the new name counts as changed.
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

// compared compares the checkout in dir with the commit was of the base branch.
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
