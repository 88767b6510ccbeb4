package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// file returns the content of a file at a commit; nil if the commit does not have the file.
func (e *Reader) file(ctx context.Context, sha, name string) ([]byte, error) {
	data, err := e.Hub.File(ctx, sha, name)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// Settings returns the settings at a commit of a base branch: from lockstep.hcl, or from atlantis.yaml if the
// commit has no lockstep.hcl. They are nil if neither file exists. If the file has errors, s has the parts that
// can be read, and note the errors.
//
// Settings grant rights, and on a base branch only people who may merge can change them. So the gate must
// already have accepted the branch as a base branch.
func (e *Reader) Settings(ctx context.Context, sha string) (s *project.Settings, note string, err error) {
	r, ok := e.read[sha]
	if !ok {
		if r, err = settingsIn(ctx, e.Hub, sha); err != nil {
			return nil, "", err
		}
		if e.read == nil {
			e.read = map[string]readSettings{}
		}
		e.read[sha] = r
	}
	return r.settings, r.note, nil
}

// readSettings are the settings at a commit, which are read once for each message. first is the first line of
// their errors. text is the hash of the file.
type readSettings struct {
	settings          *project.Settings
	note, first, text string
}

// Files reads a file at a commit. The error wraps github.ErrNotFound if the commit does not have it.
type Files interface {
	File(ctx context.Context, sha, path string) ([]byte, error)
}

func settingsIn(ctx context.Context, files Files, sha string) (r readSettings, err error) {
	for _, name := range project.SettingsFiles {
		src, err := files.File(ctx, sha, name)
		if errors.Is(err, github.ErrNotFound) {
			continue
		}
		if err != nil {
			return r, err
		}
		s, ds := project.Read(name, src)
		if r.settings = s; ds.HasErrors() {
			r.note, r.first = notes.SettingsBroken(name, jobs.Quoted(ds, name, src)), jobs.FirstError(ds)
		}
		r.text = runs.HashOf(slices.Concat([]byte(name+"\n"), src))[:textDigits]
		return r, nil
	}
	r.text = runs.HashOf(nil)[:textDigits]
	return r, nil
}

// SettingsIn returns the settings of a commit, as [Reader.Settings] does, and the hash of their text.
func SettingsIn(ctx context.Context, files Files, sha string) (s *project.Settings, text string, err error) {
	r, err := settingsIn(ctx, files, sha)
	return r.settings, r.text, err
}

// DecidingSettings returns the hash of the settings with which the reader has decided about requirements. It is
// the same as in [SettingsIn]. It is "" if the reader has not decided.
func DecidingSettings(e *Reader) string {
	if e.required == nil {
		return ""
	}
	return SettingsHashAt(e, e.required.sha)
}

// SettingsHashAt returns the hash of the settings at a commit. It returns "" if this reader has not read them.
func SettingsHashAt(e *Reader, sha string) string { return e.read[sha].text }

// textDigits is the number of hexadecimal digits that Lockstep keeps of a hash of settings.
const textDigits = 10

// baseNamed reports whether the settings of the default branch name the pull request's base branch. It is false
// if the base branch is the default branch. Lockstep plans only for the default branch and the branches named
// there. Without this rule, everybody who may push could create a branch with settings of their own, and open a
// pull request into that branch.
func (e *Reader) baseNamed(ctx context.Context) (bool, error) {
	ref, main := e.Pull.Base.Ref, e.Pull.DefaultBranch
	if ref == main || main == "" {
		return false, nil
	}
	if named, known := e.named[ref]; known {
		return named, nil
	}
	sha, err := e.Hub.Tip(ctx, main)
	if err != nil {
		return false, err
	}
	s, _, err := e.Settings(ctx, sha)
	if err != nil {
		return false, err
	}
	if e.named == nil {
		e.named = map[string]bool{}
	}
	e.named[ref] = s.Names(ref)
	return e.named[ref], nil
}

// BasePlanned reports whether Lockstep plans pull requests into this base branch: it is the default branch, or
// a branch that the default branch's settings name.
func BasePlanned(ctx context.Context, e *Reader) (bool, error) {
	named, err := e.baseNamed(ctx)
	return named || e.Pull.Base.Ref == e.Pull.DefaultBranch, err
}

// BranchPlanned is like [BasePlanned], for the given branch instead of the base branch.
func BranchPlanned(ctx context.Context, e *Reader, branch string) (bool, error) {
	other := *e
	other.Pull.Base.Ref = branch
	return BasePlanned(ctx, &other)
}

// Automerge returns the setting of the present base branch by which Lockstep merges the pull request itself. It
// returns nil if people merge.
func (e *Reader) Automerge(ctx context.Context) (*project.Automerge, error) {
	planned, err := BasePlanned(ctx, e)
	if err != nil || !planned {
		return nil, err
	}
	sha, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	if err != nil {
		return nil, err
	}
	s, _, err := e.Settings(ctx, sha)
	return s.OnApplied(), err
}

// RunsCommandsFor reports whether Lockstep must carry out commands for another program, such as Atlantis,
// according to the settings of the present base branch. If Lockstep does not plan for the base branch, the
// answer is false.
func RunsCommandsFor(ctx context.Context, e *Reader, program string) (bool, error) {
	s, err := ofBase(ctx, e)
	return s.Obeys(program), err
}

// IgnoresCommandsFor reports whether Lockstep must ignore commands for another program, such as Atlantis,
// according to the settings of the present base branch.
func IgnoresCommandsFor(ctx context.Context, e *Reader, program string) (bool, error) {
	s, err := ofBase(ctx, e)
	return s.Ignores(program), err
}

// ofBase returns the settings of the present base branch. They are nil if the branch is deleted, or if Lockstep
// does not plan for it.
func ofBase(ctx context.Context, e *Reader) (*project.Settings, error) {
	if planned, err := BasePlanned(ctx, e); err != nil || !planned {
		return nil, err
	}
	tip, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look what the base branch says about commands of other programs: %w", err)
	}
	s, _, err := e.Settings(ctx, tip)
	return s, err
}

// forks reports whether the present base branch allows plans of commits in forks. named is set if Lockstep
// plans for this branch; otherwise the answer is false.
func forks(ctx context.Context, e *Reader, named bool) (bool, error) {
	if !e.Pull.Fork() || !named && e.Pull.Base.Ref != e.Pull.DefaultBranch {
		return false, nil
	}
	tip, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	if errors.Is(err, github.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether commits of forks are planned: %w", err)
	}
	s, _, err := e.Settings(ctx, tip)
	return s != nil && s.Allow.Forks, err
}

// NoteBrokenSettings adds errors in the settings of a checkout to q. Call it if the checkout does not have the
// project of the request, because such errors may be the cause.
func NoteBrokenSettings(ctx context.Context, e *Reader, q *admission.Request, dir string) error {
	d, err := discovered(ctx, e, dir)
	if err != nil || d.Problem == "" {
		return err
	}
	if slices.ContainsFunc(d.Projects, func(p project.Project) bool { return p.Name == q.Run.Project && p.Workspace == q.Run.Workspace }) {
		return nil
	}
	b, err := e.baseAt(ctx, q.Run.Spec.Base)
	q.Broken, q.OfBase = jobs.Beginning(d.Problem), b.broken
	return err
}

// TrialMerge returns GitHub's trial merge of the pull request. If the pull request is merged, it returns the
// tip of the base branch. It also updates the pull request in q, because somebody may have changed the base
// branch between two requests, and changed it back.
func (e *Reader) TrialMerge(ctx context.Context, q *admission.Request) (m github.Merge, err error) {
	if m, err = e.Hub.MergeResult(ctx, e.Pull.Number); err != nil {
		return m, err
	}
	e.Pull.Head.SHA, e.Pull.Base.Ref, e.Pull.Updated = m.Head, m.BaseRef, m.Updated
	// The pull request was merged after Look. Only a plan starts again from the merge: an apply that was allowed
	// before continues.
	if m.Merged && q.Verb == comment.Plan {
		e.Pull.Open, e.Pull.Merged = false, true
	}
	q.Pull, q.Conflict = e.Pull, m.Conflict
	if q.BaseNamed, err = e.baseNamed(ctx); err != nil {
		return m, err
	}
	q.Forks, err = forks(ctx, e, q.BaseNamed)
	return m, err
}

// SetApplyOn sets the field ApplyOn of a run from the settings at the run's present base commit.
func (e *Reader) SetApplyOn(ctx context.Context, r *runs.Run) error {
	s, _, err := e.Settings(ctx, r.Spec.Base)
	r.Spec.ApplyOn = s.ApplyOn(project.Project{Name: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace})
	return err
}

// Job returns the job for the project of a run in a checkout, with the rights that the base branch grants. It
// also decides about the address of the state, and stores the decision in q. If there can be no job, problem
// is the reason.
func (e *Reader) Job(ctx context.Context, q *admission.Request, dir string) (j jobs.Job, problem string, err error) {
	// The run's record has the repository's name and installation at the time of the plan. The message has the
	// present ones.
	r, at := q.Run, e.Message.Pull
	s, _, err := e.Settings(ctx, r.Spec.Base)
	if err != nil {
		return jobs.Job{}, "", err
	}
	lock, err := e.lockOf(ctx, r)
	if err != nil {
		return jobs.Job{}, "", err
	}
	grants, err := project.GrantsOf(s, lock)
	if err != nil {
		return jobs.Job{}, err.Error(), nil
	}
	j = jobs.Job{
		Checkout: dir, Dir: r.Spec.Dir, Project: r.Project, Workspace: r.Workspace,
		App: at.App, Repo: at.Repo, Installation: at.Installation, Number: at.Number, Head: r.Spec.Head,
		Owner:       fmt.Sprintf("lockstep %s#%d", at.Repository(), at.Number),
		InputValues: jobs.InputValues{VarFiles: r.Spec.VarFiles}, Grants: grants, Actor: e.Message.Actor,
	}
	if q.Verb == comment.Plan || q.Verb == comment.Apply {
		j.Options = r.Spec.Options
		if err = e.judge(ctx, r, &j); err != nil {
			return jobs.Job{}, "", err
		}
		if s != nil {
			j.Stateful = s.Stateful
		}
	}
	p, err := e.place(ctx, q, dir)
	if errors.Is(err, jobs.ErrNoProject) {
		return jobs.Job{}, err.Error(), nil
	}
	if err != nil {
		return jobs.Job{}, "", err
	}
	j.State, j.NoState, j.Variables, j.BackendConfig = q.Placing.Place, p.Nowhere, p.Variables, p.BackendConfig
	j.ProviderParallelism, j.Language = p.ProviderParallelism, p.Language
	j.Refresh = s.RefreshOf(p)
	j.Readers = project.Readers(e.asked.Head, p)
	if p.Unit != nil {
		in, err := e.requirements(ctx)
		if err != nil {
			return jobs.Job{}, "", err
		}
		if in.settings != nil {
			j.Unit = unitOf(p, e.asked.Head, in.settings.Terragrunt)
		}
	}
	if j.Inputs = p.Inputs; len(p.Inputs) > 0 || j.Unit != nil {
		if j.Linked, err = linked(ctx, e, q.Run, p, j.Unit); err != nil {
			return jobs.Job{}, "", err
		}
	}
	if j.Environment, err = grant(ctx, e, s, r.Spec.Base, p); err != nil {
		return jobs.Job{}, err.Error(), nil
	}
	if problem = noRunner(e.Runners, r, j.Environment); problem != "" {
		return jobs.Job{}, problem, nil
	}
	if problem, err = e.seal(ctx, q, p, &j); err != nil || problem != "" {
		return jobs.Job{}, problem, err
	}
	return j, "", nil
}

// lockOf returns the dependency lock file of the run's project at the base commit; nil if there is none. It is
// read from the checkout of that commit, which is needed anyway for the addresses of states. That saves a
// request to GitHub for each project.
func (e *Reader) lockOf(ctx context.Context, r runs.Run) ([]byte, error) {
	b, err := e.baseAt(ctx, r.Spec.Base)
	if err != nil {
		return nil, err
	}
	if lock, ok := b.locks[r.Spec.Dir]; ok {
		return lock, nil
	}
	return e.file(ctx, r.Spec.Base, path.Join(r.Spec.Dir, lockfile.Name)) // the base does not have this project
}
