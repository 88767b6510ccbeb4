package requirementrules

import (
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Fact is something that was read, or could not be: then Problem is the reason. The zero value was
// never read, and is as unknown.
type Fact[T any] struct {
	Value   T
	Known   bool   `json:",omitempty"`
	Problem string `json:",omitempty"`
}

// Known is a fact that was read.
func Known[T any](v T) Fact[T] { return Fact[T]{Value: v, Known: true} }

// Unknown is a fact that could not be read.
func Unknown[T any](problem string) Fact[T] { return Fact[T]{Problem: problem} }

// Facts are all that requirements can be about, of one project of a pull request. They are data, so
// that a decision can be explained from a file.
type Facts struct {
	Now   time.Time
	Actor string // login of who asks; "" for a push
	// Unasked is set while nobody has asked: who does is a rule for later then.
	Unasked bool `json:",omitempty"`
	// Grouped is set for a merge group, whose commit has all commits of the base branch: the head need not have them.
	Grouped bool `json:",omitempty"`
	Pull    Pull
	// People are those whose right or membership matters, by login in lower case.
	People map[string]Person
	// Planned is the commit of the plan; of a plan to be made it is the head.
	Planned string
	// Author and Contributors are the logins of who opened the pull request, and of who wrote or pushed its commits.
	Author       string
	Contributors Fact[[]string]
	Reviews      Fact[[]Review]
	// Owned are the changed paths with their owners by CODEOWNERS of the base branch, those without an
	// owner left out.
	Owned Fact[[]Owned]
	// UnreadOwners are the lines of CODEOWNERS that GitHub leaves out, and so do we.
	UnreadOwners []string `json:",omitempty"`
	// UnknownOwners are the owners in CODEOWNERS whom GitHub leaves out, as far as that is known: users and teams that it does not
	// know, or that may not write.
	UnknownOwners []string `json:",omitempty"`

	Merging    Fact[Merging]
	Behind     Fact[bool] // the head lacks commits of the base branch
	Open       Fact[int]  // conversations
	Checks     Fact[[]Check]
	LabelMoves Fact[[]LabelMove]
	Plan       Fact[Plan]
	// Shown is the time at which people first saw the plan; zero if they have not,
	// or no rule is about it.
	Shown time.Time `json:",omitzero"`
	// Environments are those of GitHub, by name.
	Environments map[string]Fact[Environment] `json:",omitempty"`
	// Policies are the IDs of the base branch's policies as they are now, by name.
	Policies Fact[map[string]string]
	// Lifts are the overrides that people have given for the planned commit.
	Lifts []Lift
}

// A Pull is the pull request as it is now.
type Pull struct {
	Draft, Merged bool
	Labels        []string
}

// A Person is somebody's right in the repository, "none", "read", "write" or "admin", and the membership in teams, by their names.
type Person struct {
	Permission Fact[string]
	Teams      map[string]Fact[bool] `json:",omitempty"`
}

// A Review is the last verdict of a reviewer: "approved", "changes_requested", "dismissed" or
// "commented".
type Review struct {
	Author, State, SHA string
	// Former is set if it is older than the plan, which took the place of another one without a push.
	Former bool `json:",omitempty"`
}

// An Owned path has owners.
type Owned struct {
	Path   string
	Owners []requirements.Party
	// Others are owners by e-mail, whom nobody can be told to be.
	Others []string `json:",omitempty"`
}

// Merging is GitHub's view of a merge.
type Merging struct {
	Conflict bool
	Behind   bool // where the rules of the base branch want the head to be up to date
	// ReviewMissing is set if the rules of the base branch want a review that is not there.
	ReviewMissing bool
	// Required are the checks that the rules of the base branch want, as patterns are written.
	Required []Required
	// Blocked is set if GitHub refuses a merge, for whatever reason. Rules are the kinds of those of the base branch that may be
	// the reason, as GitHub names them, and Unresolved is the number of open conversations where the rules want none.
	Blocked    bool
	Rules      []string `json:",omitempty"`
	Unresolved int      `json:",omitempty"`
}

// A Required check is one of the base branch's rules.
type Required struct {
	Name string
	App  int64 `json:",omitempty"` // the ID of the one that has to report it, 0 for any
	// Own is set if it is the name of a check of ours, which no other App has to report.
	Own bool `json:",omitempty"`
}

// A Check is a check run or a commit status of the planned commit.
type Check struct {
	Name string
	App  string `json:",omitempty"` // slug; "" for a commit status
	ID   int64  `json:",omitempty"` // of the App
	// Ours is set if our App has reported it: nobody else can.
	Ours bool `json:",omitempty"`
	// State is "passed", "failed" or "running".
	State string
}

// A LabelMove is the last time at which somebody put a label on the pull request, or removed it.
type LabelMove struct {
	Label string // in lower case
	By    string
	Added bool
}

// A Plan is the content of a plan.
type Plan struct {
	Changes, Destroys int
	Destroyed         []string    // types of resources of which it deletes or replaces one, sorted
	Judgements        []Judgement `json:",omitempty"` // by policies
	Verdicts          []Judgement `json:",omitempty"` // of gates
}

// A Judgement is the verdict of one policy, or one gate, on the plan: see runs.Judgement.
type Judgement struct {
	Name, ID                 string
	Denied, Warned, Mistakes []string `json:",omitempty"`
	MoreDenied, MoreWarned   int      `json:",omitempty"`
}

// A Lift is an override.
type Lift struct {
	By, Because string
	Planned     string // the commit for which it was given
	// Answering is set while it is not answered.
	Answering bool `json:",omitempty"`
}

// person returns what is known of a login.
func (f Facts) person(login string) Person { return f.People[strings.ToLower(login)] }

// same reports whether two logins are one person's.
func same(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// bot reports whether a login is an App's.
func bot(login string) bool { return strings.HasSuffix(login, "[bot]") }
