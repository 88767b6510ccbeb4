package gatefacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/encryptionpolicy"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// base is what was read of a commit of the base branch: its projects, the addresses of their states, and the
// addresses that it allows.
type base struct {
	projects []project.Project
	allow    []places.Pattern
	left     []project.Project // root modules that are not projects
	unheld   string            // the first require or policy block that applies to no project; "" for none
	broken   bool              // the settings have errors, so some projects may be missing
	// locks are the dependency lock files of the projects, by the projects' directories; nil for a project
	// without one.
	locks map[string][]byte
	// sealings are the encryption blocks of the projects. Blocks that are too large or cannot be read are
	// missing.
	sealings map[sealingKey]encryptionpolicy.Base
	// policies are the policies of the settings, in their order.
	policies []jobs.Policy
	// steps are the steps of the settings, by name.
	steps map[string]jobs.Step
}

// baseAt reads a commit of the base branch. Each process downloads an archive for each commit, once.
func (e *Reader) baseAt(ctx context.Context, sha string) (base, error) {
	if e.Bases == nil {
		e.Bases = &Bases{}
	}
	if b, ok := e.Bases.get(e.Message.Pull.Repo.ID, sha); ok {
		return b, nil
	}
	dir, done, err := e.Checkout(ctx, sha)
	if err != nil {
		return base{}, fmt.Errorf("read the base branch: %w", err)
	}
	defer done()
	d, err := e.Projects.Discover(ctx, dir)
	if err != nil {
		return base{}, fmt.Errorf("read the base branch: %w", err)
	}
	b := base{projects: d.Projects, left: d.Left, unheld: d.Unheld, broken: d.Problem != ""}
	if b.locks, err = locksIn(dir, d.Projects); err != nil {
		return base{}, fmt.Errorf("read the base branch: %w", err)
	}
	if b.sealings, err = sealingsIn(dir, d.Projects); err != nil {
		return base{}, fmt.Errorf("read the base branch: %w", err)
	}
	s, _, err := e.Settings(ctx, sha)
	if err != nil {
		return base{}, err
	}
	if s != nil && !b.broken {
		b.allow = s.Allow.States
	}
	if b.policies, err = PoliciesIn(dir, "the base branch", s); err != nil {
		return base{}, fmt.Errorf("read the base branch: %w", err)
	}
	if b.steps, err = stepsIn(dir, s); err != nil {
		return base{}, fmt.Errorf("read the base branch: %w", err)
	}
	if e.commits[dir] != "" {
		e.Bases.put(e.Message.Pull.Repo.ID, sha, b)
	}
	return b, nil
}

// ProjectsAt returns the projects at a commit of the base branch.
func ProjectsAt(ctx context.Context, e *Reader, sha string) ([]project.Project, error) {
	b, err := e.baseAt(ctx, sha)
	return b.projects, err
}

// Prefetch reads a commit of the base branch that several plans will need. Their processes begin at the same
// moment. Without Prefetch, each of them would download the archive from GitHub. Errors are ignored, because
// each plan reports them itself.
func Prefetch(ctx context.Context, e *Reader, sha string) { _, _ = e.baseAt(ctx, sha) }

// place finds the project of a request in a checkout, and decides about the address of the project's state, in
// q.Placing. Before a state is first read, its granted address is claimed. There is one exception: if the base
// commit does not have the project, the address is claimed before the state is first written. The error wraps
// ErrNoProject if the checkout does not have the project.
func (e *Reader) place(ctx context.Context, q *admission.Request, dir string) (project.Project, error) {
	q.Placing = &admission.Placing{}
	d, err := discovered(ctx, e, dir)
	if err != nil {
		return project.Project{}, err
	}
	head := d.Projects
	i := slices.IndexFunc(head, func(p project.Project) bool { return p.Name == q.Run.Project && p.Workspace == q.Run.Workspace })
	if i < 0 {
		return project.Project{}, fmt.Errorf("%w: %s", jobs.ErrNoProject, q.Run.Project)
	}
	return head[i], e.placeOf(ctx, q, head[i], head)
}

// LastAsked returns the project for which this reader last decided about the address of the state, as its
// checkout defines it.
func LastAsked(e *Reader) project.Project {
	if e.asked == nil {
		return project.Project{}
	}
	return e.asked.Project
}

// discovered finds the projects in a checkout. It does so once for each commit in each process.
func discovered(ctx context.Context, e *Reader, dir string) (jobs.Discovered, error) {
	repo, sha := e.Message.Pull.Repo.ID, e.commits[dir]
	if d, ok := e.Bases.head(repo, sha); ok {
		return d, nil
	}
	d, err := e.Projects.Discover(ctx, dir)
	if err == nil && sha != "" {
		e.Bases.putHead(repo, sha, d)
	}
	return d, err
}

// placeOf is like [Reader.place], for a project p that is already found. head are the projects in the checkout.
// The base commit is that of q.Run.
func (e *Reader) placeOf(ctx context.Context, q *admission.Request, p project.Project, head []project.Project) error {
	b, err := e.baseAt(ctx, q.Run.Spec.Base)
	if err != nil {
		return err
	}
	repo := e.Message.Pull.Repo
	question := admission.PlaceQuestion{
		App: e.Message.Pull.App, Repo: repo, Head: head, Project: p, Base: b.projects, BaseBroken: b.broken,
		Allow: slices.Concat(b.allow, e.States.Of(repo.Owner, repo.Name, repo.ID)), Removed: q.Run.Spec.Removed,
	}
	e.asked = &question
	for {
		key := places.ClaimKey(p.Place.String())
		rec, err := pipeline.Record{Key: key}, error(nil)
		if p.Place.Backend == "s3" {
			if rec, err = e.Ledger.Records.Get(ctx, key); err != nil {
				return fmt.Errorf("read whose the state is: %w", err)
			}
		}
		if question.Claim, err = places.DecodeClaim(rec.Value); err != nil {
			return err
		}
		if question.LeftBy, err = leftBy(ctx, e, question); err != nil {
			return err
		}
		answer := admission.PlaceFor(question)
		q.Placing = &answer
		mine := claimAfter(*q, question.Claim)
		if mine == nil || question.Claim != nil && *question.Claim == *mine {
			return nil
		}
		if was := question.Claim; was != nil && was.RepoID == mine.RepoID && !was.Of(mine.Project, mine.Workspace) { // the project has another name now
			former := runs.Run{ID: runs.ID{Pull: e.Message.Pull, Project: was.Project, Workspace: was.Workspace}, Address: runs.Address{Place: mine.Place}}
			if err := ledger.AdoptLock(ctx, e.Ledger, former); err != nil {
				return err
			}
		}
		_, err = e.Ledger.Records.Put(ctx, key, pipeline.Encode(mine), rec.Version)
		if !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
}

// claimAfter returns the new claim on the address of a request's state; nil if it does not change.
//   - An apply claims the address.
//   - A plan claims the address if the base commit has the project's state there.
//   - Otherwise, a plan of another project records in the claim that the owner has left the address. A later
//     plan removes that record if the base branch has the owner there once more.
func claimAfter(q admission.Request, was *places.Claim) *places.Claim {
	if len(q.Placing.Reasons) > 0 || !admission.Decide(q).Allowed() {
		return nil
	}
	kind, left := q.Placing.Kind, q.Placing.Former != ""
	if q.Verb == comment.Apply || q.Verb == comment.Plan && kind == admission.SamePlace && !left {
		return taking(q, was)
	}
	if q.Verb != comment.Plan || was == nil || !left && kind != admission.RenamedPlace {
		return nil
	}
	now := *was
	now.Left = left
	return &now
}

// taking returns a claim of the request's project on the address of its state; nil if the project needs no new
// claim.
func taking(q admission.Request, was *places.Claim) *places.Claim {
	now := q.Run.ClaimOf(q.Placing.Place)
	if now != nil && was != nil {
		now.Taken, now.Lineage = was.Taken || q.Placing.Former != "", was.Lineage
	}
	return now
}

// leftBy returns the number of a merged pull request that has removed the owner of an address without
// destroying the objects in the state. It returns 0 if there is none.
func leftBy(ctx context.Context, e *Reader, q admission.PlaceQuestion) (int, error) {
	c := q.Claim
	if c == nil || c.App != q.App || c.RepoID != q.Repo.ID || c.Of(q.Project.Name, q.Project.Workspace) {
		return 0, nil
	}
	owner := runs.Run{ID: runs.ID{Pull: e.Message.Pull, Project: c.Project, Workspace: c.Workspace}, Address: runs.Address{Place: c.Place}}
	all, err := ledger.UnappliedMerges(ctx, e.Ledger, owner)
	if err != nil {
		return 0, err
	}
	for _, l := range all {
		owner.Pull = l.Pull
		s, err := e.Ledger.Read(ctx, owner.Key())
		if err != nil {
			return 0, err
		}
		if done := s.Phase == runs.Applied || s.Phase == runs.Dropped && s.End.Was == runs.Applied; s.Spec.Removed && l.By == 0 && !done {
			return l.Pull.Number, nil
		}
	}
	return 0, nil
}

// RecordLineage records the lineage of a state in the claim on its address. Call it after a plan is made. It
// does nothing unless the base branch has the request's project at this address. If objects of another project
// are in the state, they now belong to this project, because the plan does not destroy them.
func RecordLineage(ctx context.Context, e *Reader, q admission.Request, lineage string) error {
	if q.Placing.Kind != admission.SamePlace || q.Placing.Place.Backend != "s3" || lineage == "" {
		return nil
	}
	return changeClaim(ctx, e, q.Placing.Place.String(), func(was *places.Claim) *places.Claim {
		if was == nil || q.Placing.Former == "" && !was.Of(q.Run.Project, q.Run.Workspace) {
			return nil // another project has claimed it since
		}
		now := taking(q, was)
		now.Lineage = lineage
		return now
	})
}

// ClaimMerged claims the address of a state for the project of a merged run, with the lineage of the planned
// state. It does not wait for the next plan of the project, because there may never be one.
func ClaimMerged(ctx context.Context, e *Reader, r runs.Run) error {
	if !e.Pull.Merged || r.Spec.Head != e.Pull.Head.SHA || r.Spec.Removed || r.Spec.Beside || r.Plan.State.Lineage == "" || !strings.HasPrefix(r.Address.Place, "s3://") {
		return nil
	}
	planned, err := BasePlanned(ctx, e)
	if _, err := FinalRefusal(err); err != nil || !planned {
		return err
	}
	return changeClaim(ctx, e, r.Address.Place, func(was *places.Claim) *places.Claim {
		now := was
		if was == nil {
			now = r.ClaimOf(places.Place{Backend: "s3"})
			now.Place = r.Address.Place
		}
		if !now.Of(r.Project, r.Workspace) {
			return nil
		}
		next := *now
		next.Lineage = r.Plan.State.Lineage
		return &next
	})
}

// changeClaim changes the claim on the address of a state, unless another repository has claimed it. If change
// returns nil, the claim stays unchanged. If another process changes the claim at the same time, that change
// wins.
func changeClaim(ctx context.Context, e *Reader, place string, change func(was *places.Claim) *places.Claim) error {
	key := places.ClaimKey(place)
	rec, err := e.Ledger.Records.Get(ctx, key)
	if err != nil {
		return err
	}
	was, err := places.DecodeClaim(rec.Value)
	if err != nil || was != nil && (was.App != e.Message.Pull.App || was.RepoID != e.Message.Pull.Repo.ID) {
		return err
	}
	now := change(was)
	if now == nil || was != nil && *now == *was {
		return nil
	}
	if _, err = e.Ledger.Records.Put(ctx, key, pipeline.Encode(now), rec.Version); errors.Is(err, pipeline.ErrConflict) {
		return nil
	}
	return err
}

// PlaceAgain decides once more about the address of a request's state, after the state was locked. It uses the
// present tip of the base branch. If a merge has removed the project, it uses the last commit that had the
// project. It needs one request to GitHub, and an archive if the tip has changed.
func (e *Reader) PlaceAgain(ctx context.Context, q *admission.Request) error {
	tip, err := e.Hub.Tip(ctx, e.Pull.Base.Ref)
	absent, err := Absent(ctx, e, err)
	if err != nil {
		return fmt.Errorf("look at the base branch again: %w", err)
	}
	if absent {
		return nil // deleted after a merge: the decision stays
	}
	if q.Pull.Merged {
		if err := Restored(ctx, e, q, tip); err != nil {
			return err
		}
	}
	granted := *q.Placing
	now := *q
	if had, err := baseDecides(ctx, e, q.Run, tip); err != nil {
		return err
	} else if !had {
		now.Run.Spec.Base = tip
	}
	if err := e.placeOf(ctx, &now, e.asked.Project, e.asked.Head); err != nil {
		return err
	}
	q.Placing = now.Placing
	followed := q.Placing.Moves() && q.Placing.From != granted.From
	if len(q.Placing.Reasons) == 0 && (followed || q.Placing.Place.Differing(granted.Place) != nil) {
		// The apply must not continue: the state that is locked, and the last apply that was examined, are at
		// another address than the present one.
		q.Placing.Reasons = reasons.List{reasons.PlaceKeptElse{Project: q.Run.Project}}
	}
	return nil
}

// baseDecides reports whether the base commit of a run, instead of the tip of the base branch, decides about
// the run's state. That is so if the tip no longer has the project, because the pull request was merged and has
// removed it.
func baseDecides(ctx context.Context, e *Reader, r runs.Run, tip string) (bool, error) {
	if !runs.RemovedFrom(r, e.Pull.Base.Ref) {
		return false, nil
	}
	b, err := e.baseAt(ctx, tip)
	return !b.broken, err
}
