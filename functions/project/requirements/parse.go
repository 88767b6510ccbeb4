package requirements

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
)

// Limits of one file: more than people read, and little enough to evaluate at each command.
const (
	maxBlocks       = 200
	maxAlternatives = 20
	maxItems        = 100
	maxText         = 500
	maxApprovals    = 20
	maxCount        = 1_000_000
)

// Parse reads require blocks. If there are errors, the result lacks blocks, and must not be used to
// allow anything.
func Parse(blocks hcl.Blocks) ([]Requirement, hcl.Diagnostics) {
	var out []Requirement
	var all hcl.Diagnostics
	for i, b := range blocks {
		r := &reader{}
		if i == maxBlocks {
			r.errorf(b.DefRange, "Too many require blocks", "There are %d, and at most %d are allowed: a block can be for many projects.", len(blocks), maxBlocks)
			return out, append(all, r.diags...)
		}
		x := r.requirement(b)
		if all = append(all, r.diags...); !r.diags.HasErrors() {
			out = append(out, x)
		}
	}
	return out, all
}

// ruleArguments are those that an alternative can have, too.
var ruleArguments = []string{
	"by", "permission", "approvals", "approved_by", "codeowners", "mergeable", "up_to_date", "resolved", "draft", "checks",
	"labels", "not_labels", "windows", "freeze", "max_changes", "max_destroys", "no_destroy",
}

// ofPlans are those about a plan's content.
var ofPlans = []string{"max_changes", "max_destroys", "no_destroy"}

func schema(names []string, blocks ...hcl.BlockHeaderSchema) *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: blocks}
	for _, n := range names {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: n})
	}
	return s
}

// requirement reads a block.
func (r *reader) requirement(b *hcl.Block) Requirement {
	x := Requirement{Command: b.Labels[0], At: fmt.Sprintf("%s:%d", path.Base(b.DefRange.Filename), b.DefRange.Start.Line)}
	if !slices.Contains(Commands, x.Command) {
		r.errorf(b.LabelRanges[0], "Invalid command", "A require block is about %s, not %q.", strings.Join(Commands, ", "), x.Command)
	}
	content := r.content(b.Body, schema(append([]string{"projects", "override"}, ruleArguments...), hcl.BlockHeaderSchema{Type: "alternative", LabelNames: []string{"name"}}))
	x.Projects = r.patterns("projects")
	if x.Projects == nil && r.has("projects") {
		r.errorf(r.at("projects"), "No projects", "This is for no project at all. Without the argument the block is for all projects.")
	}
	x.Override = r.parties("override")
	if x.Command != "apply" && r.has("override") {
		r.errorf(r.at("override"), "No plan to look at", "An override is of a plan that people have seen, so the argument is for require \"apply\" only.")
	}
	x.Rules = r.rules(x.Command)
	names := map[string]bool{}
	for _, a := range content.Blocks {
		name := a.Labels[0]
		if names[name] || len(names) == maxAlternatives || name == "" || len(name) > maxText {
			r.errorf(a.DefRange, "Invalid alternative", "An alternative has a name of its own, and there are at most %d in a block.", maxAlternatives)
			continue
		}
		names[name] = true
		inner := &reader{}
		inner.content(a.Body, schema(ruleArguments))
		alternative := Alternative{name, inner.rules(x.Command)}
		if len(inner.attrs) == 0 {
			inner.errorf(a.DefRange, "Empty alternative", "The alternative %q would always hold, and with it the block's others would mean nothing: give it conditions, or remove them all.", name)
		}
		r.diags = append(r.diags, inner.diags...)
		x.Alternatives = append(x.Alternatives, alternative)
	}
	return x
}

// rules reads the conditions of a block.
func (r *reader) rules(command string) (x Rules) {
	x.By, x.Permission = r.parties("by"), r.text("permission")
	if x.Permission != "" && x.Permission != "admin" && x.Permission != "write" {
		r.errorf(r.at("permission"), "Invalid permission", "The permission is \"write\", which everybody needs anyway, or \"admin\".")
	}
	x.Approvals, x.ApprovedBy = r.count("approvals", 1, maxApprovals), r.parties("approved_by")
	if x.ApprovedBy != nil && !r.has("approvals") {
		x.Approvals = 1
	}
	x.Codeowners, x.Mergeable = r.flag("codeowners"), r.flag("mergeable")
	x.UpToDate, x.Resolved = r.flag("up_to_date"), r.flag("resolved")
	if r.has("draft") {
		if x.Ready = !r.flag("draft"); !x.Ready {
			r.errorf(r.at("draft"), "Invalid condition", "A pull request can be required to be no draft: draft = false. Without the argument both are allowed.")
		}
	}
	x.Checks = each(r, "checks", parseCheck)
	x.Labels, x.NotLabels = each(r, "labels", parseLabel), each(r, "not_labels", parseLabel)
	x.Windows = each(r, "windows", func(s string) (Window, error) { _, err := parseWindow(s); return Window{s}, err })
	x.Freezes = each(r, "freeze", func(s string) (Freeze, error) { _, err := parseFreeze(s); return Freeze{s}, err })
	x.MaxChanges, x.MaxDestroys = r.limit("max_changes"), r.limit("max_destroys")
	x.NoDestroy = r.patterns("no_destroy")
	for _, name := range ofPlans {
		if command != "apply" && r.has(name) {
			r.errorf(r.at(name), "No plan to look at", "The argument %q is about the content of a plan, so it is for require \"apply\" only.", name)
		}
	}
	r.notEmpty(map[string]bool{
		"by": x.By == nil, "approved_by": x.ApprovedBy == nil, "checks": x.Checks == nil, "labels": x.Labels == nil, "not_labels": x.NotLabels == nil,
		"windows": x.Windows == nil, "freeze": x.Freezes == nil, "no_destroy": x.NoDestroy == nil,
	})
	return x
}

var (
	loginPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,99}(\[bot\])?$`)
	orgPattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)
	slugPattern  = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]{0,99}$`)
)

// ParseParty reads a person or a team, as lockstep.hcl and CODEOWNERS have them: "alice",
// "@acme/sre".
func ParseParty(text string) (Party, error) {
	s := fold(strings.TrimPrefix(text, "@"))
	org, team, is := strings.Cut(s, "/")
	switch {
	case is && orgPattern.MatchString(org) && slugPattern.MatchString(team):
		return Party{Org: org, Team: team}, nil
	case !is && loginPattern.MatchString(s):
		return Party{Login: s}, nil
	}
	return Party{}, fmt.Errorf("%q is neither a login nor a team: write \"alice\", or \"acme/sre\" for the team sre of the organization acme", text)
}

func parseCheck(text string) (Check, error) {
	c := Check{Pattern: text}
	if i := strings.LastIndex(text, " by "); i >= 0 {
		c.Pattern, c.App = text[:i], fold(strings.TrimSpace(text[i+len(" by "):]))
		if !slugPattern.MatchString(c.App) {
			return c, fmt.Errorf("%q does not end with the slug of an App: write \"NAME by SLUG\"", text)
		}
	}
	return c, validPattern(c.Pattern)
}

func parseLabel(text string) (string, error) {
	if strings.TrimSpace(text) != text || text == "" {
		return "", fmt.Errorf("%q is not the name of a label", text)
	}
	return fold(text), nil
}

func validPattern(text string) error {
	if text == "" || strings.Count(text, "{") > 4 || !doublestar.ValidatePattern(text) {
		return fmt.Errorf("%q is not a pattern: * stands for any name, ** for any names with slashes between, {a,b} for either", text)
	}
	return nil
}
