package runs

import (
	"fmt"
	"slices"
	"strings"

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
	// Notes are for people, in Markdown.
	Notes []string
	// Reasons say why no place is granted.
	Reasons []Reason
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
		d.out.Place, d.out.Notes = places.Place{}, nil
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

func (d *placing) no(r Rule, remedy, text string, args ...any) {
	d.out.Reasons = append(d.out.Reasons, Reason{r, comment.Reason{Text: fmt.Sprintf(text, args...), Remedy: remedy}})
}

func (d *placing) note(text string, args ...any) {
	d.out.Notes = append(d.out.Notes, fmt.Sprintf(text, args...))
}

// name is how people write the project that is asked about.
func (d *placing) name() string { return comment.Code(d.Project.Name) }

// same grants the place that the base commit has for the project, with all that its
// backend block says there: the pull request's own block counts when it is merged.
func (d *placing) same(base places.Place) {
	d.out.Kind, d.out.From, d.out.Place = SamePlace, base.String(), base
	d.ignored(base)
}

// ignored says which arguments of the pull request do not count.
func (d *placing) ignored(granted places.Place) {
	var names []string
	for _, name := range granted.Differing(d.Project.Place) {
		names = append(names, comment.Code(name))
	}
	if len(names) > 0 {
		d.note("This pull request changes how the state of %s is locked or kept: %s. That counts when it is merged; here the state is locked and kept as the base branch says.", d.name(), strings.Join(names, ", "))
	}
}

// other decides about a place that the base commit does not give the project.
func (d *placing) other() {
	wanted := d.Project.Place
	owner, taken := d.find(d.Base, func(x project.Project) bool { return x.Place.Is(wanted) })
	switch {
	case taken && d.follows(owner):
		d.renamed(owner)
	case taken:
		d.no(PlaceTaken, fmt.Sprintf("Give %s a place of its own.", d.name()),
			"The state of %s would be at %s, which is the state of the project %s on the base branch.", d.name(), comment.Code(wanted.String()), comment.Code(owner.Name))
	case d.BaseBroken:
		d.no(PlaceNotAllowed, fmt.Sprintf("Correct %s on the base branch first.", comment.Code(project.FileName)),
			"The base branch does not have the state of %s at %s, and what it allows cannot be read.", d.name(), comment.Code(wanted.String()))
	case !slices.ContainsFunc(d.Allow, func(p places.Pattern) bool { return p.Matches(wanted) }):
		pattern := comment.Code(fmt.Sprintf("states = [%q]", wanted.String()))
		d.no(PlaceNotAllowed, fmt.Sprintf("If the state is to be there, have the allow block of %s on the base branch name the place: %s.", comment.Code(project.FileName), pattern),
			"The base branch does not have the state of %s at %s, and does not allow it to be there.", d.name(), comment.Code(wanted.String()))
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
	d.note("%s has the state of the project %s of the base branch, %s, which this pull request removes.", d.name(), comment.Code(owner.Name), comment.Code(owner.Place.String()))
	d.ignored(owner.Place)
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
	var names []string
	for _, name := range granted.Differing(p) {
		names = append(names, comment.Code(name))
	}
	if len(names) > 0 {
		d.note("The state of %s is locked and kept as others of this repository in that bucket are, whatever its backend block says: %s.", d.name(), strings.Join(names, ", "))
	}
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
		d.no(PlaceTaken, "Give the project another key. If the state was handed over, whoever runs Lockstep has to release the old claim.",
			"The state at %s belongs to the project %s of %s.", comment.Code(c.Place), comment.Code(c.Project), comment.Code(c.Repo))
		return
	}
	owner, there := d.find(d.Base, func(x project.Project) bool { return x.Name == c.Project && x.Workspace == c.Workspace })
	if !there || d.is(owner) || owner.Place.String() != "" && !owner.Place.Is(d.Project.Place) {
		return // it is ours already, or its project is gone or has moved
	}
	d.no(PlaceTaken, fmt.Sprintf("Give %s a key of its own, or correct the project that has this one.", d.name()),
		"The state at %s belongs to the project %s, which the base branch still has.", comment.Code(c.Place), comment.Code(c.Project))
}

// ClaimOf is the claim of a run's project on a granted place; nil where none is made.
func (r Run) ClaimOf(p places.Place) *places.Claim {
	if p.Backend != "s3" {
		return nil
	}
	return &places.Claim{Place: p.String(), RepoID: r.Pull.Repo.ID, Repo: r.Pull.Repo.String(), Project: r.Project, Workspace: r.Workspace}
}
