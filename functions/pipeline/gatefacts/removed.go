package gatefacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Removed returns those projects at a base commit whose states no project of the head uses.
func (e *Reader) Removed(ctx context.Context, base string, head []project.Project) ([]project.Project, error) {
	b, err := e.baseAt(ctx, base)
	if err != nil {
		return nil, err
	}
	return project.Removed(b.projects, head), nil
}

// Restored sets q.Restored if the removed project of a run exists at the commit sha: the trial merge or, after
// the merge, the tip of the base branch. A project with another name and the same state is enough.
func Restored(ctx context.Context, e *Reader, q *admission.Request, sha string) error {
	if !q.Run.Spec.Removed {
		return nil
	}
	p, known, err := e.RemovedOf(ctx, q.Run)
	if err != nil || !known {
		return err
	}
	dir, done, err := e.Checkout(ctx, sha)
	if err != nil {
		return fmt.Errorf("look whether the project is back: %w", err)
	}
	defer done()
	d, err := discovered(ctx, e, dir)
	q.Restored = err == nil && len(project.Removed([]project.Project{p}, d.Projects)) == 0
	return err
}

// Copied returns the label of a project whose state is a copy of the state of the removed project of run r; ""
// if there is none. A copy has the same lineage. Copied searches the pull request's runs, as [ledger.Copied]
// does, and the projects of the base branch.
func Copied(ctx context.Context, e *Reader, r runs.Run) (string, error) {
	if !r.Spec.Removed || r.Plan.State.Lineage == "" {
		return "", nil
	}
	all, err := e.Ledger.Runs(ctx, r.Pull)
	if err != nil {
		return "", err
	}
	if name := ledger.Copied(r, all); name != "" {
		return name, nil
	}
	in, err := e.requirements(ctx)
	if err != nil {
		return "", err
	}
	for _, sha := range slices.Compact([]string{r.Spec.Base, in.sha}) {
		if name, err := copiedAt(ctx, e, sha, r); err != nil || name != "" {
			return name, err
		}
	}
	return "", nil
}

// copiedAt searches the projects at a base commit for one whose state is a copy of the state of run r. It reads
// one record for each project.
func copiedAt(ctx context.Context, e *Reader, sha string, r runs.Run) (string, error) {
	b, err := e.baseAt(ctx, sha)
	if errors.Is(err, github.ErrNotFound) {
		return "", nil // the base branch was rewritten since
	}
	if err != nil {
		return "", err
	}
	for _, p := range b.projects {
		if p.Place.Backend != "s3" || p.Place.String() == r.Address.Place {
			continue
		}
		rec, err := e.Ledger.Records.Get(ctx, places.ClaimKey(p.Place.String()))
		if err != nil {
			return "", err
		}
		c, err := places.DecodeClaim(rec.Value)
		if err != nil {
			return "", err
		}
		if c != nil && c.RepoID == r.Pull.Repo.ID && c.Of(p.Name, p.Workspace) && c.Lineage == r.Plan.State.Lineage {
			return p.Name, nil
		}
	}
	return "", nil
}

// RemovedOf returns the removed project of a run, as defined by the last commit of the base branch that had it.
// ok is false if that commit does not have it, either.
func (e *Reader) RemovedOf(ctx context.Context, r runs.Run) (p project.Project, ok bool, err error) {
	b, err := e.baseAt(ctx, r.Spec.Base)
	if err != nil {
		return p, false, err
	}
	i := slices.IndexFunc(b.projects, func(p project.Project) bool { return p.Name == r.Project && p.Workspace == r.Workspace })
	if i < 0 {
		return p, false, nil
	}
	return b.projects[i], true, nil
}

// ProjectAt returns the project of a run as a commit defines it. has is false if the commit does not have the
// project. known is false if that cannot be found out: the commit no longer exists, or its settings have
// errors.
func ProjectAt(ctx context.Context, e *Reader, sha string, r runs.Run) (p project.Project, has, known bool, err error) {
	dir, done, err := e.Checkout(ctx, sha)
	if errors.Is(err, github.ErrNotFound) {
		return p, false, false, nil
	}
	if err != nil {
		return p, false, false, fmt.Errorf("look whether there is the project: %w", err)
	}
	defer done()
	d, err := discovered(ctx, e, dir)
	i := slices.IndexFunc(d.Projects, func(p project.Project) bool { return p.Name == r.Project && p.Workspace == r.Workspace })
	if err != nil || i < 0 {
		return p, false, err == nil && d.Problem == "", err
	}
	return d.Projects[i], true, true, nil
}

// Successor returns the name under which a commit has the project of a run, if the commit does not have the old
// name. It returns "" if there is none. See [ledger.Successor].
func Successor(ctx context.Context, e *Reader, sha string, r runs.Run) (name string, err error) {
	known, err := e.Ledger.Runs(ctx, r.Pull)
	if err != nil || r.Spec.Removed {
		return "", err
	}
	dir, done, err := e.Checkout(ctx, sha)
	if err != nil {
		return "", fmt.Errorf("look for the name of the project: %w", err)
	}
	defer done()
	d, err := discovered(ctx, e, dir)
	if err != nil || d.Problem != "" {
		return "", err
	}
	p, _ := ledger.Successor(r, known, d.Projects)
	return p.Name, nil
}

// HasAgain reports whether a command selects a project that the base branch had removed, and that it has now
// once more.
func HasAgain(ctx context.Context, e *Reader, c comment.Command, all []ledger.Versioned) (bool, error) {
	for _, s := range all {
		if s.End.Fate != runs.Gone || s.Spec.Head != e.Pull.Head.SHA || !c.Selects(s.Project, s.Spec.Dir, s.Workspace) {
			continue
		}
		if known, err := OnBranch(ctx, e, "", s.Run); known || err != nil {
			return known, err
		}
	}
	return false, nil
}

// OnBranch reports whether the present tip of a branch has the project of a run. "" means the base branch. If
// the settings of the branch have errors, OnBranch returns true.
func OnBranch(ctx context.Context, e *Reader, branch string, r runs.Run) (bool, error) {
	tip, err := e.Hub.Tip(ctx, cmp.Or(branch, e.Pull.Base.Ref))
	absent, err := Absent(ctx, e, err)
	if err != nil || absent {
		return false, err
	}
	b, err := e.baseAt(ctx, tip)
	has := slices.ContainsFunc(b.projects, func(p project.Project) bool { return p.Name == r.Project && p.Workspace == r.Workspace })
	return has || b.broken, err
}
