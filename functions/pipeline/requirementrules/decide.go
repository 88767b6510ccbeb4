package requirementrules

import (
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Question asks whether a command may be carried out for a project.
type Question struct {
	Command string
	// Requirements are the requirements for the command and the project. Unreadable is set if there may be more
	// requirements, because the settings have errors. Broken is the first of those errors.
	Requirements []requirements.Requirement
	Unreadable   bool   `json:",omitempty"`
	Broken       string `json:",omitempty"`
	Facts        Facts
}

// Decide answers a question. The root of the tree is a rulings.AllOf of the requirements. If there are no
// requirements, the result is "not applicable".
func Decide(q Question) rulings.Ruling {
	root := rulings.Ruling{Rule: rulings.AllOf}
	if q.Unreadable && q.Command != "plan" && q.Command != "stop" {
		root.Of = append(root.Of, rulings.Ruling{Rule: rulings.Readable, Outcome: rulings.Fails, Problem: q.Broken})
	}
	for _, r := range q.Requirements {
		root.Of = append(root.Of, requirement(q.Facts, r))
	}
	root.Outcome = all(root.Of)
	return root
}

// requirement decides about one require block.
func requirement(f Facts, r requirements.Requirement) rulings.Ruling {
	out := rulings.Ruling{Rule: rulings.Requirement, At: r.At, Of: conditions(f, r.Rules)}
	if len(r.Alternatives) > 0 {
		one := rulings.Ruling{Rule: rulings.OneOf}
		for _, a := range r.Alternatives {
			x := rulings.Ruling{Rule: rulings.Alternative, Name: a.Name, Of: conditions(f, a.Rules)}
			x.Outcome = all(x.Of)
			one.Of = append(one.Of, x)
		}
		one.Outcome = oneOf(one.Of)
		out.Of = append(out.Of, one)
	}
	if out.Outcome = all(out.Of); !out.Outcome.Allows() {
		out.Overriders = names(r.Override)
	}
	for _, l := range f.Lifts {
		if l.Planned == f.Planned && l.Planned != "" && mayOverride(f, r, l.By) {
			if out.By, out.Because = l.By, l.Because; !out.Outcome.Allows() {
				out.Outcome, out.Overriders = rulings.Lifted, nil
			}
			break
		}
	}
	return out
}

// MayOverride reports whether a person may override at least one of the requirements; that is the result some.
// The result missing is set if one of these requirements is not met now for the user who makes the request.
func MayOverride(q Question, login string) (some, missing bool) {
	now := q.Facts
	now.Lifts = nil
	for _, r := range q.Requirements {
		if mayOverride(now, r, login) {
			some, missing = true, missing || !requirement(now, r).Outcome.Allows()
		}
	}
	return some, missing
}

// mayOverride reports whether a requirement lets a person override it and the person still has write access.
func mayOverride(f Facts, r requirements.Requirement, login string) bool {
	named, _ := belongs(f, login, r.Override)
	may, _ := writes(f, login)
	return named && may
}

// all returns the outcome of a group of rules, all of which must be met.
func all(of []rulings.Ruling) rulings.Outcome {
	out := rulings.NotApplicable
	for _, r := range of {
		switch {
		case r.Outcome == rulings.Fails:
			return rulings.Fails
		case r.Outcome == rulings.Unknown:
			out = rulings.Unknown
		case r.Outcome != rulings.NotApplicable && out != rulings.Unknown:
			out = rulings.Holds
		}
	}
	return out
}

// oneOf returns the outcome of a group of rules of which at least one must be met. A rule that is not
// applicable counts as not met.
func oneOf(of []rulings.Ruling) rulings.Outcome {
	out := rulings.NotApplicable
	for _, r := range of {
		switch {
		case r.Outcome == rulings.Holds:
			return rulings.Holds
		case r.Outcome == rulings.Unknown:
			out = rulings.Unknown
		case r.Outcome == rulings.Fails && out != rulings.Unknown:
			out = rulings.Fails
		}
	}
	return out
}

// conditions decides about the rules that a block sets, in the order of the table.
func conditions(f Facts, r requirements.Rules) (out []rulings.Ruling) {
	for _, c := range table {
		if !c.set(r) {
			continue
		}
		x := c.decide(f, r)
		x.Rule = c.rule
		out = append(out, x)
	}
	return out
}

// A condition is one rule that a require block can set.
type condition struct {
	rule   rulings.Rule
	set    func(requirements.Rules) bool
	needs  func(*Needs, requirements.Rules)
	decide func(Facts, requirements.Rules) rulings.Ruling
}

// table lists all conditions, in the order in which people read them.
var table = []condition{
	{rulings.AskedBy, func(r requirements.Rules) bool { return r.By != nil }, needsActor, askedBy},
	{rulings.Permitted, func(r requirements.Rules) bool { return r.Permission != "" }, nil, permitted},
	{rulings.Approvals, func(r requirements.Rules) bool { return r.Approvals > 0 }, needsReviews, approvals},
	{rulings.Codeowners, func(r requirements.Rules) bool { return r.Codeowners }, needsOwners, codeowners},
	{rulings.Mergeable, func(r requirements.Rules) bool { return r.Mergeable }, needsMerging, mergeable},
	{rulings.UpToDate, func(r requirements.Rules) bool { return r.UpToDate }, needsBehind, upToDate},
	{rulings.Resolved, func(r requirements.Rules) bool { return r.Resolved }, needsOpen, resolved},
	{rulings.Ready, func(r requirements.Rules) bool { return r.Ready }, nil, ready},
	{rulings.Checks, func(r requirements.Rules) bool { return r.Checks != nil }, needsChecks, checks},
	{rulings.Labels, func(r requirements.Rules) bool { return r.Labels != nil }, needsLabels, labels},
	{rulings.NotLabels, func(r requirements.Rules) bool { return r.NotLabels != nil }, needsLabels, notLabels},
	{rulings.Windows, func(r requirements.Rules) bool { return r.Windows != nil }, nil, windows},
	{rulings.Freeze, func(r requirements.Rules) bool { return r.Freezes != nil }, nil, freeze},
	{rulings.MaxChanges, func(r requirements.Rules) bool { return r.MaxChanges != nil }, needsPlan, maxChanges},
	{rulings.MaxDestroys, func(r requirements.Rules) bool { return r.MaxDestroys != nil }, needsPlan, maxDestroys},
	{rulings.MaxCost, func(r requirements.Rules) bool { return r.MaxCostIncrease != nil }, needsPlan, maxCost},
	{rulings.NoDestroy, func(r requirements.Rules) bool { return r.NoDestroy != nil }, needsPlan, noDestroy},
	{rulings.NoRisk, func(r requirements.Rules) bool { return r.NoRisk != nil }, needsPlan, noRisk},
	{rulings.Policy, func(r requirements.Rules) bool { return r.Policy != nil }, needsPlan, policy},
	{rulings.Environment, func(r requirements.Rules) bool { return r.Environment != "" }, needsEnvironment, environment},
	{rulings.Gate, func(r requirements.Rules) bool { return r.Gate != nil }, needsPlan, gate},
	{rulings.Step, func(r requirements.Rules) bool { return r.Step != nil }, needsPlan, step},
}
