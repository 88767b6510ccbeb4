package rulings

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Rule is the name of a kind of condition in a require block.
type Rule string

const (
	AllOf       Rule = "all of"            // everything that is required
	Requirement Rule = "requirement"       // one block of the settings
	OneOf       Rule = "one of"            // one of its alternatives must be met
	Alternative Rule = "alternative"       //
	Readable    Rule = "readable"          // the settings can be read without errors
	AskedBy     Rule = "by"                // Wanted lists parties, Found the user who asks
	Permitted   Rule = "permission"        //
	Approvals   Rule = "approvals"         // Want is how many of the Wanted parties must approve, Found lists logins
	Codeowners  Rule = "codeowners"        // Wanted lists paths, Against has paths with their owners
	Mergeable   Rule = "mergeable"         //
	UpToDate    Rule = "up_to_date"        //
	Resolved    Rule = "resolved"          // Have is the number of open conversations
	Ready       Rule = "draft"             //
	Checks      Rule = "checks"            // Wanted lists patterns, Found lists names
	Labels      Rule = "labels"            //
	NotLabels   Rule = "not_labels"        //
	Windows     Rule = "windows"           //
	Freeze      Rule = "freeze"            //
	MaxChanges  Rule = "max_changes"       // Have is the number of changes, Want the maximum
	MaxDestroys Rule = "max_destroys"      //
	MaxCost     Rule = "max_cost_increase" // Against has the increases that are too large, or why no increase is known
	NoDestroy   Rule = "no_destroy"        // Wanted lists patterns, Found lists types
	NoRisk      Rule = "no_risk"           // Wanted lists names of risks; Against has those of the plan with objects, and Have is the number of further objects
	Policy      Rule = "policy"            // Wanted lists names; Against has denials, and Have is the number of further ones; Found has warnings, and Want is the number of further ones
	Environment Rule = "environment"       // Wanted has the GitHub environment; its protection rules are the parts of this rule
	Waited      Rule = "waited"            // Want is the time in minutes, Found has the end
	OpenTo      Rule = "branch"            // the base branch may be deployed to the environment
	ActionsOnly Rule = "actions only"      // a protection rule that only GitHub Actions can check; Wanted has its App
	Gate        Rule = "gate"              // as for Policy, for a function or a webhook
	Step        Rule = "step"              // as for Policy, for a program in the checkout
)

// A wording has all texts about one kind of condition.
type wording struct {
	wants func(Ruling) string // the condition
	found func(Ruling) string // the facts that were found; "" for none. nil if the rule never has any
	brief func(Ruling) string // a noun for "waiting for" and "blocked by"
	// settled is set if the outcome of the rule follows only from the plan and from the user who requests the
	// apply. Neither time nor people can then change the outcome.
	settled bool
}

// wordings has the texts about each kind of condition.
var wordings = map[Rule]wording{
	Readable:    {wants: readable, brief: plain("a fix of the settings")},
	Requirement: {wants: func(r Ruling) string { return "the requirement at " + markdown.Code(r.At) }, brief: plain("a requirement")},
	OneOf:       {wants: plain("one of these alternatives"), brief: plain("one of several alternatives")},
	Alternative: {wants: func(r Ruling) string { return markdown.Code(r.Name) }, brief: plain("an alternative")},
	AskedBy:     {wants: func(r Ruling) string { return "a request by " + either(r.Wanted) }, brief: plain("the requirement on who requests the apply"), settled: true},
	Permitted: {wants: func(r Ruling) string {
		return "a request by a user with the permission " + markdown.List(r.Wanted)
	}, brief: plain("the requirement `permission`"), settled: true},
	Approvals:   {wants: approvalWords, found: approvalsFound, brief: plain("approval")},
	Codeowners:  {wants: plain("an approval by a code owner for each changed file"), found: ownersFound, brief: plain("approval by code owners")},
	Mergeable:   {wants: plain("a pull request that GitHub would merge, apart from Lockstep's own checks"), brief: plain("a mergeable pull request")},
	UpToDate:    {wants: plain("a branch that is up to date with the base branch"), brief: plain("an up-to-date branch")},
	Resolved:    {wants: plain("all conversations resolved"), found: openFound, brief: plain("resolved conversations")},
	Ready:       {wants: plain("a pull request that is ready for review"), brief: plain("the end of the draft")},
	Checks:      {wants: func(r Ruling) string { return "success of these checks: " + markdown.List(r.Wanted) }, brief: named("check")},
	Labels:      {wants: func(r Ruling) string { return "these labels: " + markdown.List(r.Wanted) }, brief: named("label")},
	NotLabels:   {wants: func(r Ruling) string { return "a pull request without the labels " + markdown.List(r.Wanted) }, brief: named("removal of label")},
	Windows:     {wants: func(r Ruling) string { return "a time in the window " + either(r.Wanted) }, brief: func(r Ruling) string { return "the window " + either(r.Wanted) }},
	Freeze:      {wants: plain("a time outside all freezes"), found: listed("in force now: "), brief: plain("the end of the freeze")},
	MaxChanges:  {wants: func(r Ruling) string { return fmt.Sprintf("a plan with at most %s", changes(r.Want)) }, found: planHas, brief: plain("the limit `max_changes`"), settled: true},
	MaxDestroys: {wants: func(r Ruling) string { return fmt.Sprintf("a plan that destroys at most %s", objects(r.Want)) }, found: planDestroys, brief: plain("the limit `max_destroys`"), settled: true},
	MaxCost: {wants: func(r Ruling) string {
		return fmt.Sprintf("a plan that raises the costs of a month by at most %d", r.Want)
	}, found: listed("this plan: "), brief: plain("the limit `max_cost_increase`"), settled: true},
	NoDestroy: {wants: func(r Ruling) string { return "a plan that keeps all objects of " + markdown.List(r.Wanted) }, found: listed("this plan destroys or replaces "), brief: plain("the limit `no_destroy`"), settled: true},
	NoRisk:    {wants: func(r Ruling) string { return "a plan without the risks " + markdown.List(r.Wanted) }, brief: plain("the requirement `no_risk`"), settled: true},
	Policy:    {wants: func(r Ruling) string { return "a plan that passes the policy " + markdown.List(r.Wanted) }, found: warned, brief: named("policy"), settled: true},
	Gate:      {wants: func(r Ruling) string { return "a plan that the gate " + markdown.List(r.Wanted) + " allows" }, found: warned, brief: named("gate"), settled: true},
	Step:      {wants: func(r Ruling) string { return "success of the step " + markdown.List(r.Wanted) }, found: warned, brief: named("step"), settled: true},
	Environment: {wants: func(r Ruling) string {
		return "the protection rules of the GitHub environment " + markdown.List(r.Wanted)
	}, brief: named("environment")},
	Waited: {wants: func(r Ruling) string { return fmt.Sprintf("%s since the plan was posted", minutes(r.Want)) }, found: waitFound, brief: func(r Ruling) string {
		return fmt.Sprintf("the wait timer of %s", minutes(r.Want))
	}},
	OpenTo: {wants: plain("an environment that the base branch can deploy to"), brief: plain("an environment that the base branch can deploy to")},
	ActionsOnly: {wants: func(r Ruling) string {
		return "an environment without the protection rule " + markdown.List(r.Wanted) + " (only GitHub Actions can check that rule: remove it from the environment)"
	}, brief: func(r Ruling) string { return "protection rule " + markdown.List(r.Wanted) }},
}

// judges reports whether the rule is about a verdict on the plan: of a policy, a gate or a step.
func (r Rule) judges() bool { return r == Policy || r == Gate || r == Step }

// named returns a function for the table [wordings]. It returns noun followed by the names that the condition
// requires: "label `ready`".
func named(noun string) func(Ruling) string {
	return func(r Ruling) string { return noun + " " + few(r.Wanted) }
}

// condition returns the text of the condition that r is about.
func condition(r Ruling) string {
	if w, ok := wordings[r.Rule]; ok {
		return w.wants(r)
	}
	return markdown.Code(string(r.Rule)) // of another version of Lockstep
}

// found returns the text about the facts that fulfil the condition, or that were examined for it; "" if there
// are none.
func found(r Ruling) string {
	if w := wordings[r.Rule]; w.found != nil {
		return w.found(r)
	}
	return ""
}

// plain returns a function for the table [wordings]. It returns the same text for every ruling.
func plain(text string) func(Ruling) string {
	return func(Ruling) string { return text }
}

// listed returns a function for the table [wordings]. It returns text followed by the facts that were found; ""
// if none were found.
func listed(text string) func(Ruling) string {
	return func(r Ruling) string {
		if len(r.Found) == 0 {
			return ""
		}
		return text + few(r.Found)
	}
}

func approvalsFound(r Ruling) string {
	switch {
	case r.Have == 1:
		return "approved by " + few(r.Found)
	case r.Have > 1:
		return fmt.Sprintf("%d approvals, by %s", r.Have, few(r.Found))
	}
	return ""
}

func ownersFound(r Ruling) string {
	if r.Want == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d files approved", r.Have, r.Want)
}

func openFound(r Ruling) string {
	if r.Have == 0 {
		return ""
	}
	return fmt.Sprintf("%d open", r.Have)
}

func planHas(r Ruling) string {
	if r.Outcome != Fails {
		return ""
	}
	return fmt.Sprintf("this plan has %d", r.Have)
}

func planDestroys(r Ruling) string {
	if r.Outcome != Fails {
		return ""
	}
	return fmt.Sprintf("this plan destroys %d", r.Have)
}

func waitFound(r Ruling) string {
	if r.Outcome != Fails || len(r.Found) == 0 {
		return ""
	}
	return "until " + few(r.Found)
}

func warned(r Ruling) string {
	if len(r.Found) == 0 {
		return ""
	}
	return "warnings: " + markdown.Few(r.Found, r.Want)
}

func readable(r Ruling) string {
	if r.Outcome == Unknown {
		return "requirements that can be read from the settings"
	}
	return "settings on the base branch without errors"
}

func approvalWords(r Ruling) string {
	by := ""
	if len(r.Wanted) > 0 {
		by = " by " + either(r.Wanted)
	}
	if r.Want == 1 {
		return "an approval of the planned commit" + by
	}
	return fmt.Sprintf("%d approvals of the planned commit%s", r.Want, by)
}

// either returns a list of names joined by "or".
func either(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, markdown.Code(n))
	}
	return strings.Join(all, " or ")
}

func changes(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

func minutes(n int) string {
	if n == 1 {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", n)
}
