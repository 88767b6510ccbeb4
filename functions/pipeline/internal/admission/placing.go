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
	// Head are the projects in the commit to plan or apply. Project is the one that the question is about.
	Head    []project.Project
	Project project.Project
	// Base are the projects at the base commit. BaseBroken is set if some may be missing, because the settings
	// there have errors.
	Base       []project.Project
	BaseBroken bool
	// Allow are the patterns of allowed addresses: those of the base commit, and those that the deployment
	// allows the repository for itself.
	Allow []places.Pattern
	// Claim is the present claim on the address that Project wants; nil for none.
	Claim *places.Claim
	// Removed is set if the pull request removes the project. LeftBy is as in [Placing].
	Removed bool
	LeftBy  int
}

// A Placing is the answer to a [PlaceQuestion].
type Placing struct {
	// Place is the granted address. It may be read, and Kind says whether it may be written. It is zero if
	// there are Reasons, or if the project's configuration names no address.
	Place places.Place
	// From is where the base commit has the state; "" if it has none.
	From string
	Kind PlaceKind
	// Owner is the project to which the base commit gives a place of kind [RenamedPlace].
	Owner string
	// Ignored are the arguments of the pull request's backend block that count only after the merge. Imposed
	// are the arguments that a new place takes from others in the same bucket.
	Ignored, Imposed []string
	// InClear is set if an apply would write the state in clear text although the pull request has an
	// encryption block. The reason is that the base commit does not have the project, and so no encryption
	// block for it.
	InClear bool
	// Former is the project that had the address before and has left it. LeftBy is the number of the pull
	// request that removed that project without destroying its objects. The objects in the state still belong
	// to that project. Both are empty if there is no such project.
	Former string
	LeftBy int
	// Reasons speak against any address.
	Reasons reasons.List
}

// A PlaceKind says how the address in the pull request differs from the project's address at the base commit.
type PlaceKind string

const (
	SamePlace    PlaceKind = "the same"
	NewPlace     PlaceKind = "new"     // the base commit does not have the project
	MovedPlace   PlaceKind = "moved"   // the base commit has the project at another address
	RenamedPlace PlaceKind = "renamed" // the base commit has the address for a project that is gone at the head
)

// Moves reports whether the base commit has another address for the state.
func (p Placing) Moves() bool { return p.Kind == MovedPlace }

// PlaceFor decides about the address of a project's state, and about its locks. A pull request gets the address
// that it names only if the base commit has the same address for the project, or allows the address.
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

// placing collects the answer to a [PlaceQuestion].
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

// same grants the address that the base commit has for the project, with the backend arguments from there. The
// pull request's own arguments count after the merge.
func (d *placing) same(base places.Place) {
	d.out.Kind, d.out.From, d.out.Place = SamePlace, base.String(), base
	d.out.Ignored = base.Differing(d.Project.Place)
}

// other decides about an address that the base commit does not have for the project.
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

// follows reports whether the project can be the owner of the address under a new name. The owner is a
// project of the base commit, and must be gone at the head. The base commit must not have another project
// with the new name or in the same directory.
func (d *placing) follows(owner project.Project) bool {
	gone := !slices.ContainsFunc(d.Head, func(x project.Project) bool { return x.Name == owner.Name && x.Workspace == owner.Workspace })
	return gone && !slices.ContainsFunc(d.Base, func(x project.Project) bool {
		other := x.Name != owner.Name || x.Workspace != owner.Workspace
		return other && (x.Name == d.Project.Name || x.Dir == d.Project.Dir)
	})
}

// renamed grants an address whose project has another name at the head. The project can be planned at once, and
// applied once the base branch has the new name.
func (d *placing) renamed(owner project.Project) {
	d.out.Kind, d.out.Owner, d.out.Place = RenamedPlace, owner.Name, owner.Place
	d.out.From = owner.Place.String()
	d.out.Ignored = owner.Place.Differing(d.Project.Place)
}

// guarded returns a new place with the locks, the encryption and the role that the repository's states in that
// bucket have at the base commit. A pull request names neither a role nor an access list: the bucket decides
// who may read.
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

// claimed refuses an address whose claim belongs to somebody else. There are three cases: another repository
// has claimed it, or the base commit still has its owner, or its owner got it after this project was removed.
// An address that its owner has left is granted, and Former names that owner.
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

// DestroysFormer returns the reason against a plan that destroys or forgets objects of the Former owner of its
// place; nil for none.
func (p Placing) DestroysFormer(r runs.Run) reasons.Reason {
	if p.Former == "" || r.Plan.Counts.Destroy+r.Plan.Counts.Forget == 0 {
		return nil
	}
	return reasons.PlaceLeft{Project: r.Project, Place: p.Place.String(), Owner: p.Former, Number: p.LeftBy}
}
