package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A PlaceQuestion has all facts for the decision about the address of a project's state.
type PlaceQuestion struct {
	App  string // the App that can reach the repository, as in [pipeline.Pull]
	Repo github.Repo
	// Head are the projects in the commit that is planned or applied. Project is the one that the question is
	// about.
	Head    []project.Project
	Project project.Project
	// Base are the projects at the base commit. BaseBroken is set if projects may be missing in Base, because
	// the settings there have errors.
	Base       []project.Project
	BaseBroken bool
	// Allow are the patterns of allowed addresses: those of the base commit, and those that the deployment
	// allows the repository for itself.
	Allow []places.Pattern
	// Claim is the claim that exists now on the address that Project wants; nil for none.
	Claim *places.Claim
	// Removed is set if the pull request removes the project. LeftBy is as in [Placing].
	Removed bool
	LeftBy  int
}

// A Placing is the answer to a [PlaceQuestion].
type Placing struct {
	// Place is the granted address. The state there may be read; Kind says whether it may also be written.
	// Place is zero if there are Reasons, or if the project's configuration names no address.
	Place places.Place
	// From is the address of the state at the base commit; "" if the state does not exist there.
	From string
	Kind PlaceKind
	// Owner is the project, at the base commit, to which an address of kind [RenamedPlace] belongs.
	Owner string
	// Ignored are arguments of the pull request's backend block that have an effect only after the merge.
	// Imposed are arguments that the new address gets from the repository's other states in the same bucket.
	Ignored, Imposed []string
	// InClear is set if the pull request has an encryption block, but an apply would write the state in clear
	// text. The reason is that the base commit does not have the project, and so has no encryption block for
	// it.
	InClear bool
	// Former is an earlier project with this address, whose objects are still in the state. LeftBy is the
	// number of the pull request that removed this project without destroying its objects. Both are empty if
	// there is no such project.
	Former string
	LeftBy int
	// Reasons are the reasons why no address is granted.
	Reasons reasons.List
}

// A PlaceKind says how the state's address in the pull request differs from its address at the base commit.
type PlaceKind string

const (
	SamePlace    PlaceKind = "the same"
	NewPlace     PlaceKind = "new"     // the base commit does not have the project
	MovedPlace   PlaceKind = "moved"   // the base commit has the project at another address
	RenamedPlace PlaceKind = "renamed" // the base commit has the address for a project that is gone at the head
)

// Moves reports whether the state has a different address at the base commit.
func (p Placing) Moves() bool { return p.Kind == MovedPlace }

// PlaceFor decides about the address of a project's state, and about how the state is locked. A pull request
// gets the address that it names only in two cases: the base commit has the same address for the project, or it
// allows the address.
func PlaceFor(q PlaceQuestion) Placing {
	d := &placing{PlaceQuestion: q, is: func(x project.Project) bool {
		return x.Name == q.Project.Name && x.Workspace == q.Project.Workspace
	}}
	wanted := q.Project.Place
	before, known := d.find(q.Base, d.is)
	d.out.Kind = NewPlace
	if known && before.Place.String() != "" {
		d.out.Kind, d.out.From = MovedPlace, before.Place.String()
	}
	switch {
	case wanted.String() == "":
		return d.out // the engine reports the error in it
	case known && before.Place.Is(wanted):
		d.same(before.Place)
	case wanted.Backend == "local":
		d.out.Place = wanted // the place belongs to this repository and project anyway
	default:
		d.other()
	}
	if wanted.Backend == "s3" {
		d.claimed()
	}
	if len(d.out.Reasons) > 0 {
		d.out.Place, d.out.Ignored, d.out.Imposed = places.Place{}, nil, nil
	}
	return d.out
}

// placing is an answer to a [PlaceQuestion] that is being built.
type placing struct {
	PlaceQuestion
	is  func(project.Project) bool // whether a project is the one in question
	out Placing
}

func (d *placing) find(all []project.Project, is func(project.Project) bool) (project.Project, bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return project.Project{}, false
	}
	return all[i], true
}

func (d *placing) no(r reasons.Reason) { d.out.Reasons = append(d.out.Reasons, r) }

// same grants the project's address at the base commit, with the backend arguments from that commit. The pull
// request's arguments have an effect only after the merge.
func (d *placing) same(base places.Place) {
	d.out.Kind, d.out.From, d.out.Place = SamePlace, base.String(), base
	d.out.Ignored = base.Differing(d.Project.Place)
}

// other decides about an address that is not the project's address at the base commit.
func (d *placing) other() {
	wanted := d.Project.Place
	owner, taken := d.find(d.Base, func(x project.Project) bool { return x.Place.Is(wanted) })
	switch {
	case taken && d.follows(owner):
		d.renamed(owner)
	case taken:
		d.no(reasons.PlaceTaken{Project: d.Project.Name, Place: wanted.String(), Owner: owner.Name})
	case d.BaseBroken:
		d.no(reasons.PlaceUnknown{Project: d.Project.Name, Place: wanted.String()})
	case !slices.ContainsFunc(d.Allow, func(p places.Pattern) bool { return p.Matches(wanted) }):
		d.no(reasons.PlaceNotAllowed{Project: d.Project.Name, Place: wanted.String()})
	default:
		d.out.Place = d.guarded(wanted)
	}
}

// follows reports whether the project can be the same as owner, with a new name. owner is a project at the base
// commit, and must not exist at the head. The base commit must not have another project with the new name or in
// the same directory.
func (d *placing) follows(owner project.Project) bool {
	gone := !slices.ContainsFunc(d.Head, func(x project.Project) bool { return x.Name == owner.Name && x.Workspace == owner.Workspace })
	return gone && !slices.ContainsFunc(d.Base, func(x project.Project) bool {
		other := x.Name != owner.Name || x.Workspace != owner.Workspace
		return other && (x.Name == d.Project.Name || x.Dir == d.Project.Dir)
	})
}

// renamed grants an address whose project was renamed by the pull request. The project can be planned at once.
// It can be applied when the base branch has the new name.
func (d *placing) renamed(owner project.Project) {
	d.out.Kind, d.out.Owner, d.out.Place = RenamedPlace, owner.Name, owner.Place
	d.out.From = owner.Place.String()
	d.out.Ignored = owner.Place.Differing(d.Project.Place)
}

// guarded returns the new address p with the locks, the encryption and the role of the repository's other
// states in this bucket, as at the base commit. A pull request cannot choose a role or an access list: the
// bucket decides who may read.
func (d *placing) guarded(p places.Place) places.Place {
	const encrypt, acl = "encrypt", "acl"
	granted := p.With(acl, nil).With(places.RoleArgument, nil)
	for _, x := range d.Base {
		if x.Place.Bucket != p.Bucket || p.Bucket == "" {
			continue
		}
		if table := x.Place.Table(); table != "" && granted.Table() == "" {
			granted = granted.With(places.TableArgument, table)
		}
		if x.Place.LockFile() && !granted.LockFile() {
			granted = granted.With(places.FileArgument, true)
		}
		if x.Place.Arguments[encrypt] == true && granted.Arguments[encrypt] != true {
			granted = granted.With(encrypt, true)
		}
		if x.Place.Role().ARN != "" && granted.Role().ARN == "" {
			granted = granted.With(places.RoleArgument, x.Place.Arguments[places.RoleArgument])
		}
		if x.Place.Arguments[acl] != nil && x.Place.Arguments[acl] == p.Arguments[acl] {
			granted = granted.With(acl, p.Arguments[acl])
		}
	}
	d.out.Imposed = granted.Differing(p)
	return granted
}

// claimed refuses an address that is claimed by somebody else: by another repository, by a project that still
// exists at the base commit, or by a project that got the address after this project was removed. If the owner
// has left the address, the address is granted, and Former names the owner.
func (d *placing) claimed() {
	c := d.Claim
	ours := c != nil && c.App == d.App && c.RepoID == d.Repo.ID
	switch {
	case c == nil || ours && (d.out.Kind == RenamedPlace && c.Project == d.out.Owner || c.Of(d.Project.Name, d.Project.Workspace)):
		return
	case !ours:
		d.no(reasons.PlaceClaimed{Project: d.Project.Name, Place: c.Place, Owner: c.Project, Repo: c.Repo, Removed: d.Removed})
		return
	}
	owner, there := d.find(d.Base, func(x project.Project) bool { return c.Of(x.Name, x.Workspace) })
	has := there && (owner.Place.String() == "" || owner.Place.Is(d.Project.Place))
	switch {
	case has || d.Removed && c.Taken:
		d.no(reasons.PlaceClaimed{Project: d.Project.Name, Place: c.Place, Owner: c.Project, Taken: !has, Removed: d.Removed})
	case d.out.Kind != RenamedPlace && (d.out.Kind != SamePlace || c.Left || d.LeftBy != 0):
		d.out.Former, d.out.LeftBy = c.Project, d.LeftBy
	}
}

// DestroysFormer returns the reason against a plan that destroys or forgets objects of the project Former. It
// returns nil for any other plan.
func (p Placing) DestroysFormer(r runs.Run) reasons.Reason {
	if p.Former == "" || r.Plan.Counts.Destroy+r.Plan.Counts.Forget == 0 {
		return nil
	}
	return reasons.PlaceLeft{Project: r.Project, Place: p.Place.String(), Owner: p.Former, Number: p.LeftBy}
}
