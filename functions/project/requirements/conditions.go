package requirements

import "github.com/lockstep-iac/lockstep/functions/project/internal/blocks"

// Rules are conditions that must all be met. The zero value of a field means no condition.
type Rules struct {
	// By are the people and teams who may request the command. Permission is the least permission: "" or
	// "admin".
	By         []Party `json:",omitempty"`
	Permission string  `json:",omitempty"`
	// Approvals is the number of approvals required. ApprovedBy are the people and teams whose approvals count;
	// nil means everybody with write access.
	Approvals  int     `json:",omitempty"`
	ApprovedBy []Party `json:",omitempty"`
	// Codeowners requires that each changed path is approved by one of its owners. Mergeable requires that
	// nothing but Lockstep's own checks prevents a merge. UpToDate requires that the head contains the tip of
	// the base branch. Resolved requires that no conversation is open. Ready requires that the pull request is
	// not a draft.
	Codeowners bool `json:",omitempty"`
	Mergeable  bool `json:",omitempty"`
	UpToDate   bool `json:",omitempty"`
	Resolved   bool `json:",omitempty"`
	Ready      bool `json:",omitempty"`
	// Checks are the checks that must pass. Labels must be present, and NotLabels must be absent. Both are
	// compared by name, ignoring case.
	Checks    []Check  `json:",omitempty"`
	Labels    []string `json:",omitempty"`
	NotLabels []string `json:",omitempty"`
	// Windows are the times at which the command is allowed. One of the windows must be open. The command is
	// not allowed at a time in a Freeze.
	Windows []Window `json:",omitempty"`
	Freezes []Freeze `json:",omitempty"`
	// MaxChanges and MaxDestroys are the maximum numbers of changes and destructions in a plan; nil means no
	// limit. A replacement counts as a creation and a destruction, so as two changes. NoDestroy are patterns of
	// resource types that the plan must not destroy.
	MaxChanges  *int `json:",omitempty"`
	MaxDestroys *int `json:",omitempty"`
	// MaxCostIncrease is the maximum increase of the costs of a month, in the currency of the cost estimate; nil means
	// no limit.
	MaxCostIncrease *int     `json:",omitempty"`
	NoDestroy       []string `json:",omitempty"`
	// NoRisk are the names of risks that the plan must not have. Assessment says how the plan's risks must have
	// been found: see [AssessmentOf].
	NoRisk     []string `json:",omitempty"`
	Assessment string   `json:",omitempty"`
	// Policy is the policy of a policy block, which has no other condition; nil in a require block.
	Policy *Policy `json:",omitempty"`
	// Gate is the gate of a gate block, which has no other condition; nil in a require block.
	Gate *Gate `json:",omitempty"`
	// Step is the step of a step block, which has no other condition; nil in a require block.
	Step *Step `json:",omitempty"`
	// Environment is the GitHub environment, from a project's environment block, whose protection rules must be
	// met; "" in a require block.
	Environment string `json:",omitempty"`
}

// A condition is an argument of a require block and of its alternatives.
type condition struct {
	name string
	read func(*blocks.Reader, *Rules)
	// none reports whether an argument that is a list has no items; nil for other arguments.
	none func(Rules) bool
	// ofPlan is set for a condition about a plan's content.
	ofPlan bool
}

// conditions are all conditions. Package grammar has their documentation, package requirementrules evaluates
// them, and package rulings has the words of a decision.
var conditions = []condition{
	{name: "by", read: func(r *blocks.Reader, x *Rules) { x.By = parties(r, "by") }, none: func(x Rules) bool { return x.By == nil }},
	{name: "permission", read: permission},
	{name: "approvals", read: func(r *blocks.Reader, x *Rules) { x.Approvals = r.Count("approvals", 1, maxApprovals) }},
	{name: "approved_by", read: approvedBy, none: func(x Rules) bool { return x.ApprovedBy == nil }},
	{name: "codeowners", read: func(r *blocks.Reader, x *Rules) { x.Codeowners = r.Flag("codeowners") }},
	{name: "mergeable", read: func(r *blocks.Reader, x *Rules) { x.Mergeable = r.Flag("mergeable") }},
	{name: "up_to_date", read: func(r *blocks.Reader, x *Rules) { x.UpToDate = r.Flag("up_to_date") }},
	{name: "resolved", read: func(r *blocks.Reader, x *Rules) { x.Resolved = r.Flag("resolved") }},
	{name: "draft", read: draft},
	{name: "checks", read: func(r *blocks.Reader, x *Rules) { x.Checks = blocks.Each(r, "checks", parseCheck) }, none: func(x Rules) bool { return x.Checks == nil }},
	{name: "labels", read: func(r *blocks.Reader, x *Rules) { x.Labels = blocks.Each(r, "labels", parseLabel) }, none: func(x Rules) bool { return x.Labels == nil }},
	{name: "not_labels", read: func(r *blocks.Reader, x *Rules) { x.NotLabels = blocks.Each(r, "not_labels", parseLabel) }, none: func(x Rules) bool { return x.NotLabels == nil }},
	{name: "windows", read: windows, none: func(x Rules) bool { return x.Windows == nil }},
	{name: "freeze", read: freezes, none: func(x Rules) bool { return x.Freezes == nil }},
	{name: "max_changes", ofPlan: true, read: func(r *blocks.Reader, x *Rules) { x.MaxChanges = r.Limit("max_changes") }},
	{name: "max_destroys", ofPlan: true, read: func(r *blocks.Reader, x *Rules) { x.MaxDestroys = r.Limit("max_destroys") }},
	{name: "max_cost_increase", ofPlan: true, read: func(r *blocks.Reader, x *Rules) { x.MaxCostIncrease = r.Limit("max_cost_increase") }},
	{name: "no_destroy", ofPlan: true, read: func(r *blocks.Reader, x *Rules) { x.NoDestroy = r.Types("no_destroy") }, none: func(x Rules) bool { return x.NoDestroy == nil }},
	{name: "no_risk", ofPlan: true, read: func(r *blocks.Reader, x *Rules) { x.NoRisk = blocks.Each(r, "no_risk", parseRisk) }, none: func(x Rules) bool { return x.NoRisk == nil }},
}

// names returns the names of all conditions.
func names() (out []string) {
	for _, c := range conditions {
		out = append(out, c.name)
	}
	return out
}

// rules reads the conditions of a block.
func rules(r *blocks.Reader, command string) (x Rules) {
	lists := map[string]bool{}
	for _, c := range conditions {
		c.read(r, &x)
		if c.none != nil {
			lists[c.name] = c.none(x)
		}
		if c.ofPlan && command != "apply" && r.Has(c.name) {
			r.Errorf(r.At(c.name), "Only for applies", "The argument %q is about the content of a plan. Move it to a block require \"apply\".", c.name)
		}
	}
	r.NotEmpty(lists)
	return x
}

func permission(r *blocks.Reader, x *Rules) {
	x.Permission = r.Text("permission")
	if x.Permission != "" && x.Permission != "admin" && x.Permission != "write" {
		r.Errorf(r.At("permission"), "Invalid permission", "Unknown permission. Write \"write\", which everybody needs anyway, or \"admin\".")
	}
}

func approvedBy(r *blocks.Reader, x *Rules) {
	if x.ApprovedBy = parties(r, "approved_by"); x.ApprovedBy != nil && !r.Has("approvals") {
		x.Approvals = 1
	}
}

func draft(r *blocks.Reader, x *Rules) {
	if !r.Has("draft") {
		return
	}
	if x.Ready = !r.Flag("draft"); !x.Ready {
		r.Errorf(r.At("draft"), "Invalid condition", "Write draft = false to require that the pull request is not a draft, or remove the argument to allow drafts.")
	}
}

func windows(r *blocks.Reader, x *Rules) {
	x.Windows = blocks.Each(r, "windows", func(s string) (Window, error) { _, err := parseWindow(s); return Window{s}, err })
}

func freezes(r *blocks.Reader, x *Rules) {
	x.Freezes = blocks.Each(r, "freeze", func(s string) (Freeze, error) { _, err := parseFreeze(s); return Freeze{s}, err })
}
