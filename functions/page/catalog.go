package page

import (
	"context"
	"net/url"
	"time"
)

// A Catalog is a Site that also shows repositories: their pull requests, projects, locks, drift and audit
// records. Its methods must be safe for concurrent use.
type Catalog interface {
	Site
	// Repositories returns the repositories that the reader may see, sorted by name.
	Repositories(ctx context.Context) ([]RepositoryID, error)
	// Repository returns a view of a repository, or ErrNotFound. at is the [Repository.Next] of the page before, and 0
	// for the first page.
	Repository(ctx context.Context, id RepositoryID, v View, at int) (Repository, error)
	// Project returns a project with its state, or ErrNotFound. target is from [ProjectState.Target].
	Project(ctx context.Context, id RepositoryID, target string) (ProjectHistory, error)
	// Find returns the projects whose name, directory or address of the state contains all words, at most
	// [MaxMatches] of them. more is set if there are more.
	Find(ctx context.Context, words []string) (found []Match, more bool, err error)
	// FindObjects returns the objects whose addresses contain all words, at most [MaxMatches] of them, as the last applies have
	// left them. more is set if there are more, or if not all states were read.
	FindObjects(ctx context.Context, words []string) (found []ObjectMatch, more bool, err error)
}

// MaxMatches is the maximum number of results of a search.
const MaxMatches = 100

// A RepositoryID identifies a repository by its present name.
type RepositoryID struct{ Owner, Name string }

// String returns "owner/name".
func (id RepositoryID) String() string { return id.Owner + "/" + id.Name }

// Path returns the path of the repository's page.
func (id RepositoryID) Path() string {
	return "/" + url.PathEscape(id.Owner) + "/" + url.PathEscape(id.Name)
}

// ViewPath returns the path of a view of the repository.
func (id RepositoryID) ViewPath(v View) string {
	if v == PullsView {
		return id.Path()
	}
	return id.Path() + "/view/" + string(v)
}

// ProjectPath returns the path of the page of a project. target is from [ProjectState.Target].
func (id RepositoryID) ProjectPath(target string) string {
	return id.Path() + "/project/" + url.PathEscape(target)
}

// PullPath returns the path of the page of a pull request.
func (id RepositoryID) PullPath(number int) string {
	return PullID{Owner: id.Owner, Name: id.Name, Number: number}.Path()
}

// A View is a part of a repository's page. It is the last part of the page's address. (The address has "view"
// between the name of the repository and the View. Without "view", an owner with the name "docs" would have
// addresses of the documentation.)
type View string

const (
	PullsView    View = "" // the pull requests
	ProjectsView View = "projects"
	LocksView    View = "locks" // locks by people, and queues of applies
	DriftView    View = "drift"
	AuditView    View = "audit"
)

// views are all views with their labels, in the order of the tabs.
var views = []struct {
	View
	Label string
}{{PullsView, "Pull requests"}, {ProjectsView, "Projects"}, {LocksView, "Locks and queues"}, {DriftView, "Drift"}, {AuditView, "Audit"}}

// A Repository is a view of a repository. Only the content of the view is set.
type Repository struct {
	RepositoryID
	View View
	// At says where this page of the view begins; 0 for the first page. Next is where the next one begins; 0 if this is
	// the last.
	At, Next int
	Pulls    []Pull
	Projects []ProjectState // of Projects, LocksView and DriftView
	Records  []AuditRecord  // the newest first
	// Figures are figures about the applies of the last 30 days, each with a name and a value. Only ProjectsView has them.
	Figures [][2]string
}

// A ProjectState is a project of a repository, with what is known about its state.
type ProjectState struct {
	// Target identifies the project and its workspace in addresses of pages.
	Target, Name, Workspace string
	// Place is the address of the state; "" if it is not known.
	Place string
	// Last is the last apply; nil if there was none.
	Last  *LastApply
	Lock  *Lock
	Queue []Turn // the applies that wait for the state, in their order
	Drift *Drift // nil if there is no drift, or if Lockstep has not looked for drift
}

// A LastApply is the last apply to a state.
type LastApply struct {
	Pull    int // the number of the pull request
	By      string
	At      time.Time // zero if it is not known
	Serial  uint64    // of the state afterwards
	Lineage string
	Applies int  // the number of applies to the state so far
	Merged  bool // the pull request is merged
	Open    bool // the pull request is neither merged nor closed
}

// A Lock is the lock of a person on a state.
type Lock struct {
	Pull       int
	By, Reason string
	At         time.Time // zero if it is not known
}

// A Turn is an apply in a queue.
type Turn struct {
	Pull int
	By   string
}

// A Drift is a change of a state's objects that was made outside of Lockstep.
type Drift struct {
	Since time.Time
	Issue int // its number; 0 if there is none
	// URL is the address of the issue; "" if it is not known.
	URL string
	// Failures counts the looks that have failed, one after the other, up to the latest one. From three on, the issue is about
	// the failures: drift is not known.
	Failures int
}

// An AuditRecord is a record of who has decided or done what about a state.
type AuditRecord struct {
	N                         int // its number in the chain of the state
	At                        time.Time
	Event, By                 string
	Pull                      int
	Project, Workspace, Place string
	Target                    string // of the project
	Head                      string // the full name of a commit; may be empty
	Plan                      string // the hash of the plan; may be empty
	Serial                    uint64 // serial of the state; 0 if the record has none
	Approved                  []string
	Reasons                   string // Markdown
	Outcome                   string // "1 to add, ..." or what failed; may be empty
}

// A ProjectHistory is a project with its plans and its audit records.
type ProjectHistory struct {
	RepositoryID
	ProjectState
	// Plans are the plans of open pull requests that wait for an apply, and the plan that was applied last.
	Plans []ProjectPlan
	// Records are the latest audit records, the newest first. More is set if there are older ones.
	Records []AuditRecord
	More    bool
	// Contents are the outputs that are not sensitive, and the addresses of the objects, after the last apply; "" if they are not
	// known.
	Contents string
}

// A ProjectPlan is the plan of a project in a pull request.
type ProjectPlan struct {
	Pull    PullID
	Project Project
}

// A Match is a project that a search has found.
type Match struct {
	RepositoryID
	ProjectState
}

// An ObjectMatch is an object of a state that a search has found.
type ObjectMatch struct {
	Match
	Address string
}
