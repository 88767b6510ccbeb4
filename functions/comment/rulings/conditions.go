package rulings

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Rule is the name of a condition.
type Rule string

const (
	AllOf       Rule = "all of"       // everything that is required
	Requirement Rule = "requirement"  // one block of the settings
	OneOf       Rule = "one of"       // its alternatives
	Alternative Rule = "alternative"  //
	Readable    Rule = "readable"     // the settings
	AskedBy     Rule = "by"           // Wanted parties, Found the actor
	Permitted   Rule = "permission"   //
	Approvals   Rule = "approvals"    // Want of Wanted parties, Found logins
	Codeowners  Rule = "codeowners"   // Wanted paths, Against paths with their owners
	Mergeable   Rule = "mergeable"    //
	UpToDate    Rule = "up_to_date"   //
	Resolved    Rule = "resolved"     // Have open conversations
	Ready       Rule = "draft"        //
	Checks      Rule = "checks"       // Wanted patterns, Found names
	Labels      Rule = "labels"       //
	NotLabels   Rule = "not_labels"   //
	Windows     Rule = "windows"      //
	Freeze      Rule = "freeze"       //
	MaxChanges  Rule = "max_changes"  // Have of Want
	MaxDestroys Rule = "max_destroys" //
	NoDestroy   Rule = "no_destroy"   // Wanted patterns, Found types
	Policy      Rule = "policy"       // Wanted names; Against denials, and Have more; Found warnings, and Want more
	Environment Rule = "environment"  // Wanted, of GitHub: its rules are below it
	Waited      Rule = "waited"       // Want minutes, until Found
	OpenTo      Rule = "branch"       // may be deployed
	ActionsOnly Rule = "actions only" // Wanted: an App
	Gate        Rule = "gate"         // likewise, of a function or a webhook
)

// A wording is all that is told of a rule: what it wants, and what was found, "" for nothing. settled is set if its outcome belongs to the
// plan, or to who asks for its apply, so that neither time nor people change it.
type wording struct {
	wants   func(Ruling) string
	found   func(Ruling) string
	settled bool
}

// wordings is the table of rules.
var wordings = map[Rule]wording{
	Readable:    {wants: readable},
	Requirement: {wants: func(r Ruling) string { return "the block at " + markdown.Code(r.At) }},
	OneOf:       {wants: plain("one of these alternatives")},
	Alternative: {wants: func(r Ruling) string { return markdown.Code(r.Name) }},
	AskedBy:     {wants: func(r Ruling) string { return "asked for by " + either(r.Wanted) }, settled: true},
	Permitted:   {wants: func(r Ruling) string { return "asked for with the permission " + markdown.List(r.Wanted) }, settled: true},
	Approvals:   {wants: approvalWords, found: approvalsFound},
	Codeowners:  {wants: plain("an approval by an owner of each changed file"), found: ownersFound},
	Mergeable:   {wants: plain("nothing but Lockstep's own checks stands in the way of a merge")},
	UpToDate:    {wants: plain("the head has all commits of the base branch")},
	Resolved:    {wants: plain("all conversations are resolved"), found: openFound},
	Ready:       {wants: plain("the pull request is no draft")},
	Checks:      {wants: func(r Ruling) string { return "these checks have passed: " + markdown.List(r.Wanted) }},
	Labels:      {wants: func(r Ruling) string { return "these labels: " + markdown.List(r.Wanted) }},
	NotLabels:   {wants: func(r Ruling) string { return "none of these labels: " + markdown.List(r.Wanted) }},
	Windows:     {wants: func(r Ruling) string { return "a time in " + either(r.Wanted) }},
	Freeze:      {wants: plain("no freeze"), found: listed("there is one: ")},
	MaxChanges:  {wants: func(r Ruling) string { return fmt.Sprintf("at most %s", changes(r.Want)) }, found: planHas, settled: true},
	MaxDestroys: {wants: func(r Ruling) string { return fmt.Sprintf("at most %d to destroy", r.Want) }, found: planHas, settled: true},
	NoDestroy:   {wants: func(r Ruling) string { return "nothing to destroy or replace of " + markdown.List(r.Wanted) }, found: listed("the plan does that to "), settled: true},
	Policy:      {wants: func(r Ruling) string { return "a plan that passes the policy " + markdown.List(r.Wanted) }, found: warned, settled: true},
	Gate:        {wants: func(r Ruling) string { return "a plan that the gate " + markdown.List(r.Wanted) + " allows" }, found: warned, settled: true},
	Environment: {wants: func(r Ruling) string {
		return "the protection rules of GitHub's environment " + markdown.List(r.Wanted)
	}},
	Waited: {wants: func(r Ruling) string { return fmt.Sprintf("%d minutes since people could see the plan", r.Want) }, found: waitFound},
	OpenTo: {wants: plain("an environment that is open to the base branch")},
	ActionsOnly: {wants: func(r Ruling) string {
		return "the rule " + markdown.List(r.Wanted) + ", which GitHub Actions alone can ask"
	}},
}

// condition is what a rule wants.
func condition(r Ruling) string {
	if w, ok := wordings[r.Rule]; ok {
		return w.wants(r)
	}
	return markdown.Code(string(r.Rule)) // of another version of Lockstep
}

// found is the words for the facts that fulfil a rule, or that it is about.
func found(r Ruling) string {
	if w := wordings[r.Rule]; w.found != nil {
		return w.found(r)
	}
	return ""
}

// plain is a condition that is the same for all.
func plain(text string) func(Ruling) string {
	return func(Ruling) string { return text }
}

// listed lists what was found, behind a text.
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
		return "there is 1, by " + few(r.Found)
	case r.Have > 1:
		return fmt.Sprintf("there are %d, by %s", r.Have, few(r.Found))
	}
	return ""
}

func ownersFound(r Ruling) string {
	if r.Want == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d files are approved", r.Have, r.Want)
}

func openFound(r Ruling) string {
	if r.Have == 0 {
		return ""
	}
	return fmt.Sprintf("open: %d", r.Have)
}

func planHas(r Ruling) string {
	if r.Outcome != Fails {
		return ""
	}
	return fmt.Sprintf("the plan has %d", r.Have)
}

func waitFound(r Ruling) string {
	if r.Outcome != Fails || len(r.Found) == 0 {
		return ""
	}
	return "they end at " + few(r.Found)
}

func warned(r Ruling) string {
	if len(r.Found) == 0 {
		return ""
	}
	return "it warns: " + markdown.Few(r.Found, r.Want)
}

func readable(r Ruling) string {
	if r.Outcome == Unknown {
		return "what the settings require"
	}
	return "settings without errors: a requirement could not be read"
}

func approvalWords(r Ruling) string {
	text := fmt.Sprintf("%d approvals of the planned commit", r.Want)
	if r.Want == 1 {
		text = "an approval of the planned commit"
	}
	if len(r.Wanted) > 0 {
		text += " by " + either(r.Wanted)
	}
	return text
}

// either lists names of which one is enough.
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
