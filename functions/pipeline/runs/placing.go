package runs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A PlaceQuestion is everything that the decision about where a project's state is
// depends on.
type PlaceQuestion struct {
	Repo github.Repo
	// Head are the projects of what is to be planned or applied, and Project is the one of
	// them that is asked about.
	Head    []project.Project
	Project project.Project
	// Base are the projects at the base commit. BaseBroken says that some may be missing,
	// because the settings there have errors.
	Base       []project.Project
	BaseBroken bool
	// Allow are the patterns of places that the base commit allows, and that the
	// deployment gives the repository for itself.
	Allow []places.Pattern
	// Claim says whose the place is that Project wants; nil: nobody's.
	Claim *places.Claim
}

// A Placing is the answer.
type Placing struct {
	// Place is granted: it may be read, and by the rules of its kind written. It is the
	// zero value if there are Reasons, or if the project's configuration names none.
	Place places.Place
	// From is where the base commit has the state, "" if it has none.
	From string
	Kind PlaceKind
	// Owner is the project that the base commit gives a place that is Renamed.
	Owner string
	// Ignored are the arguments of the pull request's backend block that count only once they
	// are merged; Imposed those that a new place has from others in the same bucket.
	Ignored, Imposed []string
	// Reasons speak against any place.
	Reasons comment.Reasons
}

// A PlaceKind says how a place stands to what the base commit says.
type PlaceKind string

const (
	SamePlace    PlaceKind = "the same"
	NewPlace     PlaceKind = "new"     // the base commit does not have the project
	MovedPlace   PlaceKind = "moved"   // it has it elsewhere
	RenamedPlace PlaceKind = "renamed" // it has it for a project that is gone at the head
)

// Moves reports whether the state would be elsewhere than the base commit says.
func (p Placing) Moves() bool { return p.Kind == MovedPlace }

// PlaceFor decides where the state of a project is, and by which locks. What a pull
// request wants counts only as far as it is what the base commit says already, or what
// that allows.
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
		return d.out // the engine says what is wrong with it
	case known && before.Place.Is(wanted):
		d.same(before.Place)
	case wanted.Backend == "local":
		d.out.Place = wanted // its own, by repository and project
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

// placing collects the answer.
type placing struct {
	PlaceQuestion
	is  func(project.Project) bool // the project that is asked about
	out Placing
}

func (d *placing) find(all []project.Project, is func(project.Project) bool) (project.Project, bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return project.Project{}, false
	}
	return all[i], true
}

func (d *placing) no(r comment.Reason) { d.out.Reasons = append(d.out.Reasons, r) }

// same grants the place that the base commit has for the project, with all that its
// backend block says there: the pull request's own block counts when it is merged.
func (d *placing) same(base places.Place) {
	d.out.Kind, d.out.From, d.out.Place = SamePlace, base.String(), base
	d.out.Ignored = base.Differing(d.Project.Place)
}

// other decides about a place that the base commit does not give the project.
func (d *placing) other() {
	wanted := d.Project.Place
	owner, taken := d.find(d.Base, func(x project.Project) bool { return x.Place.Is(wanted) })
	switch {
	case taken && d.follows(owner):
		d.renamed(owner)
	case taken:
		d.no(comment.PlaceTaken{Project: d.Project.Name, Place: wanted.String(), Owner: owner.Name})
	case d.BaseBroken:
		d.no(comment.PlaceUnknown{Project: d.Project.Name, Place: wanted.String()})
	case !slices.ContainsFunc(d.Allow, func(p places.Pattern) bool { return p.Matches(wanted) }):
		d.no(comment.PlaceNotAllowed{Project: d.Project.Name, Place: wanted.String()})
	default:
		d.out.Place = d.guarded(wanted)
	}
}

// follows reports whether the project may be another name of one at the base commit:
// that one is gone at the head, and this one is none that the base commit has, by its name
// or its directory.
func (d *placing) follows(owner project.Project) bool {
	gone := !slices.ContainsFunc(d.Head, func(x project.Project) bool { return x.Name == owner.Name && x.Workspace == owner.Workspace })
	return gone && !slices.ContainsFunc(d.Base, func(x project.Project) bool {
		other := x.Name != owner.Name || x.Workspace != owner.Workspace
		return other && (x.Name == d.Project.Name || x.Dir == d.Project.Dir)
	})
}

// renamed grants a place whose project has another name at the head: it can be planned,
// and is applied when the base branch knows the new name.
func (d *placing) renamed(owner project.Project) {
	d.out.Kind, d.out.Owner, d.out.Place = RenamedPlace, owner.Name, owner.Place
	d.out.From = owner.Place.String()
	d.out.Ignored = owner.Place.Differing(d.Project.Place)
}

// guarded returns a new place with the locks and the encryption that the repository's
// states in that bucket have at the base commit. A list of who may read it is the
// bucket's to have, not a pull request's.
func (d *placing) guarded(p places.Place) places.Place {
	const encrypt, acl = "encrypt", "acl"
	granted := p.With(acl, nil)
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
		if x.Place.Arguments[acl] != nil && x.Place.Arguments[acl] == p.Arguments[acl] {
			granted = granted.With(acl, p.Arguments[acl])
		}
	}
	d.out.Imposed = granted.Differing(p)
	return granted
}

// claimed looks whose the place is by the registry: one that is another repository's, or
// that of a project that the base commit still has, is nobody else's.
func (d *placing) claimed() {
	c := d.Claim
	switch {
	case c == nil || d.out.Kind == RenamedPlace && c.RepoID == d.Repo.ID && c.Project == d.out.Owner:
		return
	case c.RepoID != d.Repo.ID:
		d.no(comment.PlaceClaimed{Project: d.Project.Name, Place: c.Place, Owner: c.Project, Repo: c.Repo})
		return
	}
	owner, there := d.find(d.Base, func(x project.Project) bool { return x.Name == c.Project && x.Workspace == c.Workspace })
	if !there || d.is(owner) || owner.Place.String() != "" && !owner.Place.Is(d.Project.Place) {
		return // it is ours already, or its project is gone or has moved
	}
	d.no(comment.PlaceClaimed{Project: d.Project.Name, Place: c.Place, Owner: c.Project})
}

// ClaimOf is the claim of a run's project on a granted place; nil where none is made.
func (r Run) ClaimOf(p places.Place) *places.Claim {
	if p.Backend != "s3" {
		return nil
	}
	return &places.Claim{Place: p.String(), RepoID: r.Pull.Repo.ID, Repo: r.Pull.Repo.String(), Project: r.Project, Workspace: r.Workspace}
}
