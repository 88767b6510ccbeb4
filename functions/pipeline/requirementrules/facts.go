package requirementrules

import (
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Fact is a value that was read, or that could not be read. Problem is the reason why it could not be read.
// The zero Fact was never read, and its value is unknown, too.
type Fact[T any] struct {
	Value   T
	Known   bool   `json:",omitempty"`
	Problem string `json:",omitempty"`
}

// Known returns a fact that was read.
func Known[T any](v T) Fact[T] { return Fact[T]{Value: v, Known: true} }

// Unknown returns a fact that could not be read.
func Unknown[T any](problem string) Fact[T] { return Fact[T]{Problem: problem} }

// Facts has everything that requirements can depend on, for one project of a pull request. It is plain data, so
// a decision can be explained from a file.
type Facts struct {
	Now   time.Time
	Actor string // login of the user who makes the request; "" for a push
	// Unasked is set while nobody has made a request. A rule about the user who makes the request is then not
	// decided yet.
	Unasked bool `json:",omitempty"`
	// Grouped is set for a merge group. The group's commit contains all commits of the base branch, so the head
	// need not contain them.
	Grouped bool `json:",omitempty"`
	Pull    Pull
	// People are the people whose permission or membership matters, by login in lower case.
	People map[string]Person
	// Planned is the commit of the plan. For a plan that is not made yet it is the head.
	Planned string
	// Author is the login of the user who opened the pull request. Contributors are the logins of the users who
	// wrote or pushed its commits.
	Author       string
	Contributors Fact[[]string]
	Reviews      Fact[[]Review]
	// Owned are the changed paths that have owners, with their owners by CODEOWNERS of the base branch.
	Owned Fact[[]Owned]
	// UnreadOwners are the lines of CODEOWNERS that GitHub ignores. Lockstep ignores them, too.
	UnreadOwners []string `json:",omitempty"`
	// UnknownOwners are the owners in CODEOWNERS whom GitHub ignores: users and teams that do not exist, or
	// that have no write access. The fact is unknown if GitHub does not tell.
	UnknownOwners []string `json:",omitempty"`

	Merging    Fact[Merging]
	Behind     Fact[bool] // the head lacks commits of the base branch
	Open       Fact[int]  // open conversations
	Checks     Fact[[]Check]
	LabelMoves Fact[[]LabelMove]
	Plan       Fact[Plan]
	// Shown is the time at which the plan was first shown. It is zero if it was not shown, or if no rule needs
	// the time.
	Shown time.Time `json:",omitzero"`
	// Environments are GitHub's environments, by name.
	Environments map[string]Fact[Environment] `json:",omitempty"`
	// Policies are the present IDs of the base branch's policies, by name.
	Policies Fact[map[string]string]
	// Steps are the present IDs of the base branch's steps, by name.
	Steps Fact[map[string]string]
	// Lifts are the overrides that people wrote for the planned commit.
	Lifts []Lift
}

// A Pull has the present facts about the pull request.
type Pull struct {
	Draft, Merged bool
	// Issue is set if there is no pull request: the command is on an issue.
	Issue  bool `json:",omitempty"`
	Labels []string
}

// A Person has a user's permission in the repository: "none", "read", "write" or "admin". For each team, by the
// team's name, it also says whether the user is a member.
type Person struct {
	Permission Fact[string]
	Teams      map[string]Fact[bool] `json:",omitempty"`
}

// A Review is the last verdict of a reviewer: "approved", "changes_requested", "dismissed" or "commented".
type Review struct {
	Author, State, SHA string
	// Former is set if the review is older than the plan, and the plan has replaced another plan without a
	// push.
	Former bool `json:",omitempty"`
}

// An Owned is a changed path with its owners.
type Owned struct {
	Path   string
	Owners []requirements.Party
	// Others are owners that CODEOWNERS names by e-mail address. Their logins are not known.
	Others []string `json:",omitempty"`
}

// Merging is GitHub's view of a possible merge.
type Merging struct {
	Conflict bool
	Behind   bool // set if the base branch requires an up-to-date head
	// ReviewMissing is set if the base branch's rules require a review that is missing.
	ReviewMissing bool
	// Required are the checks that the base branch's rules require. Their names are written as patterns.
	Required []Required
	// Blocked is set if GitHub refuses a merge for any reason. Rules are the kinds of the base branch's rules
	// that may be the reason, in GitHub's words. Unresolved is the number of unresolved conversations, if the
	// rules require that all are resolved.
	Blocked    bool
	Rules      []string `json:",omitempty"`
	Unresolved int      `json:",omitempty"`
}

// A Required is a check that the base branch's rules require.
type Required struct {
	Name string
	App  int64 `json:",omitempty"` // ID of the App that has to report it; 0 for any App
	// Own is set if the name is that of one of Lockstep's checks, and the rules do not require another App.
	Own bool `json:",omitempty"`
}

// A Check is a check run or a commit status of the planned commit.
type Check struct {
	Name string
	App  string `json:",omitempty"` // slug; "" for a commit status
	ID   int64  `json:",omitempty"` // of the App
	// Ours is set if Lockstep's App reported the check. Nobody else can report such a check.
	Ours bool `json:",omitempty"`
	// State is "passed", "failed" or "running".
	State string
}

// A LabelMove says who last added or removed a label.
type LabelMove struct {
	Label string // in lower case
	By    string
	Added bool
}

// A Plan is the content of a plan.
type Plan struct {
	Changes, Destroys int
	Destroyed         []string    // types of the resources that the plan deletes or replaces, sorted
	Risks             []Risk      `json:",omitempty"`
	Assessment        string      `json:",omitempty"` // how the risks were found; "" if nobody has looked for them
	Judgements        []Judgement `json:",omitempty"` // by policies
	Verdicts          []Judgement `json:",omitempty"` // of gates
	Steps             []Judgement `json:",omitempty"` // by steps
	Costs             []Cost      `json:",omitempty"` // see runs.Cost
}

// A Risk is a kind of risk that the plan has: see runs.Risk.
type Risk struct {
	Name    string
	Objects []string
	More    int `json:",omitempty"`
}

// A Judgement is the verdict of one policy, gate or step on the plan: see runs.Judgement.
type Judgement struct {
	Name, ID                 string
	Denied, Warned, Mistakes []string `json:",omitempty"`
	MoreDenied, MoreWarned   int      `json:",omitempty"`
}

// A Cost is by how much the plan raises the costs of a month: see runs.Cost.
type Cost struct{ Increase, Currency string }

// A Lift is an override that a person wrote in a comment.
type Lift struct {
	By, Because string
	Planned     string // the commit that it was written for
	// Answering is set while the override has no answer yet.
	Answering bool `json:",omitempty"`
}

// person returns what is known about a login.
func (f Facts) person(login string) Person { return f.People[strings.ToLower(login)] }

// samePerson reports whether two logins belong to one person.
func samePerson(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// isBot reports whether a login belongs to an App.
func isBot(login string) bool { return strings.HasSuffix(login, "[bot]") }
