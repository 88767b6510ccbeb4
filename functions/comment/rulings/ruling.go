// Package rulings has the decision about the requirements in the settings (lockstep.hcl) as data: a tree of
// rules, each with its outcome and the facts behind it. Package requirementrules makes such decisions. Replies
// and records store them.
//
// The package also has the texts about each rule, in the rows of a table.
//
// It does not know how a rule is decided. It does not know the replies that contain a decision, which are in
// package comment. Start reading at [Ruling] and [Ruling.Markdown].
package rulings

import (
	"slices"
	"strings"
)

// A Ruling is the decision about a requirement in the settings, as a tree: the condition, the facts that were
// found, and the outcome. It is data, because it is stored with the replies that contain it.
type Ruling struct {
	Rule    Rule
	Outcome Outcome
	// Name is the name of an alternative in the settings. At is the place of a requirement there, such as
	// "lockstep.hcl:12".
	Name string `json:",omitempty"`
	At   string `json:",omitempty"`
	// These fields are about a condition that needs several facts, such as labels:
	//   - Wanted are the names in the condition, and Want is how many of them are needed.
	//   - Found are the facts that fulfil the condition, and Have is how many there are.
	Wanted []string `json:",omitempty"`
	Want   int      `json:",omitempty"`
	Found  []string `json:",omitempty"`
	Have   int      `json:",omitempty"`
	// Against lists facts that do not count for the rule, and facts that prevent it from being met.
	Against []Against `json:",omitempty"`
	// Problem is the reason why Lockstep does not know a fact; "" if it knows all.
	Problem string `json:",omitempty"`
	// Overriders are the users and teams who may override a requirement that is not met.
	Overriders []string `json:",omitempty"`
	// By is the person who has overridden a requirement, whether it is met or not. Because is the reason that
	// the person gave.
	By      string `json:",omitempty"`
	Because string `json:",omitempty"`
	// Of are the parts of a rule that consists of other rules.
	Of []Ruling `json:",omitempty"`
}

// File returns the name of the settings file with the requirements, from their places. It returns other if no
// requirement has a place.
func (r *Ruling) File(other string) string {
	for _, x := range r.Of {
		if name, _, ok := strings.Cut(x.At, ":"); ok && name != "" {
			return name
		}
	}
	return other
}

// Lifts returns the decision reduced to the requirements that were overridden; nil if there are none.
func (r *Ruling) Lifts() *Ruling { return r.Only(func(o Outcome) bool { return o == Lifted }) }

// Overridable reports whether a person may override a requirement that is not met.
func (r *Ruling) Overridable() bool {
	return r != nil && !r.Outcome.Allows() && (len(r.Overriders) > 0 || slices.ContainsFunc(r.Of, func(x Ruling) bool { return x.Overridable() }))
}

// Approvers returns the users whose approvals fulfil a condition of the decision.
func (r *Ruling) Approvers() (names []string) {
	if r == nil {
		return nil
	}
	if (r.Rule == Approvals || r.Rule == Codeowners) && r.Outcome == Holds {
		names = slices.Clone(r.Found)
	}
	for i := range r.Of {
		for _, name := range r.Of[i].Approvers() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Only returns the decision reduced to the requirements for whose outcomes keep returns true; nil if none are
// left.
func (r *Ruling) Only(keep func(Outcome) bool) *Ruling {
	if r == nil {
		return nil
	}
	out := Ruling{Rule: r.Rule, Outcome: r.Outcome}
	for _, x := range r.Of {
		if keep(x.Outcome) {
			out.Of = append(out.Of, x)
		}
	}
	if out.Of == nil {
		return nil
	}
	return &out
}

// An Outcome is the outcome of a requirement or of a part of one, such as Holds.
type Outcome string

const (
	Holds         Outcome = "holds"
	Fails         Outcome = "fails"
	Unknown       Outcome = "unknown"        // a fact could not be read, so the rule does not allow the command
	NotApplicable Outcome = "not applicable" // the rule has nothing to decide about
	Lifted        Outcome = "lifted"         // the rule is not met, and a person has overridden it
)

// Allows reports whether a requirement with this outcome permits the command.
func (o Outcome) Allows() bool { return o == Holds || o == NotApplicable || o == Lifted }

// An Against is a fact that does not count, or that prevents a rule from being met.
type Against struct {
	Name string // of a person, a check, a label, a path
	Why  Why
	// Names are additional names that belong to the fact, such as the owners of a path.
	Names []string `json:",omitempty"`
}

// Why is the reason why a fact does not count for a rule.
type Why string

const (
	EarlierHead   Why = "earlier head"   // the approval is of another commit than the planned one
	FormerPlan    Why = "former plan"    // the approval is older than the present plan, which has replaced another one
	OwnChange     Why = "own change"     // the approval is by an author of the change
	OwnOrder      Why = "own order"      // the approval is by the user who asks for the apply
	ByBot         Why = "bot"            // the approval is by an App
	CannotWrite   Why = "cannot write"   // the person has no write access
	NotNamed      Why = "not named"      // the settings do not name the person
	Refuses       Why = "refuses"        // the review requests changes
	Unowned       Why = "unowned"        // no owner of the path has approved
	UnknownOwner  Why = "unknown owner"  // GitHub ignores the owner with this name
	Missing       Why = "missing"        // there is no check or label with this name
	Running       Why = "running"        // the check is not done
	CheckFailed   Why = "failed"         // the check has failed
	OtherApp      Why = "other app"      // another App has reported it
	PutBy         Why = "put by"         // a person without write access has added the label
	TakenBy       Why = "taken by"       //
	Conflicting   Why = "conflicting"    // the branch conflicts with the base branch
	ReviewMissing Why = "review missing" // the base branch's rules require a review
	Behind        Why = "behind"         // the head lacks commits of the base branch
	IsDraft       Why = "draft"          //
	IsIssue       Why = "issue"          // the command is on an issue, and there is no pull request
	Blocked       Why = "blocked"        // GitHub blocks the merge by rules of the base branch; Names are the possible kinds
	Unresolved    Why = "unresolved"     // conversations are open, but the base branch's rules require that all are resolved
	LeftOut       Why = "left out"       // the name is an invalid line of CODEOWNERS
	Denied        Why = "denied"         // the name is the message of a policy, a gate or a step, or a mistake in it
	Unreliable    Why = "unreliable"     // the policy has mistakes
	NoVerdict     Why = "no verdict"     // the gate has not answered, or its answer was not valid
	OtherGate     Why = "other gate"     // another gate was asked about the plan, or none
	NoResult      Why = "no result"      // the program of the step has no exit code
	OtherStep     Why = "other step"     // the step has not run for the plan, or was another one
	CostsMore     Why = "costs more"     // the plan raises the costs by the amount in the name
	NoCosts       Why = "no costs"       // no step has reported the costs before and after the plan
	OtherPolicies Why = "other policies" // other policies have judged the plan, or none
	AtRisk        Why = "at risk"        // the plan has the risk with this name, and Names are the objects
	NotAssessed   Why = "not assessed"   // nobody has looked for risks with the present settings
)
