package shadow

import (
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// The format of Terrateam of 2026-08-08 (commit ca522df). Source: plan_complete2.tmpl and apply_complete2.tmpl in
// code/src/terrat_vcs_github_comment_templates/tmpl. Terrateam names directories and workspaces, and no commit.
var (
	terrateamTitle   = lazyregexp.New(`^## Terrateam (Plan|Apply) Output(?:: .*)? :\w+:$`)
	terrateamSection = lazyregexp.New(`^## (?:\[(.+) \| (\S+)\]\(\S*\)|(.+) \| (\S+)) \| (.*)$`)
	terrateamStep    = lazyregexp.New(`^\*\*Step\*\*: (\S+)$`)
)

// readTerrateam reads a comment of Terrateam.
func readTerrateam(body string) (out []Claim) {
	verb, plan, failed := "", false, false
	var now *Claim
	flush := func() {
		if now != nil && (verb == "Plan" || now.Applied) {
			out = append(out, *now)
		}
		now = nil
	}
	for _, p := range parts(body) {
		if p.fenced {
			if now != nil && plan && !failed && verb == "Plan" {
				state := now.Some
				now.Plan = readText(p.text)
				now.Some = state && now.Cut && len(now.Changes) == 0
			}
			plan = false
			continue
		}
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n ")
			if m := terrateamTitle.FindStringSubmatch(line); m != nil {
				verb = m[1]
			} else if m := terrateamSection.FindStringSubmatch(line); m != nil && verb != "" {
				flush()
				now = terrateamClaim(m[1]+m[3], m[2]+m[4], m[5], verb)
				plan, failed = false, false
			} else if m := terrateamStep.FindStringSubmatch(line); m != nil && now != nil {
				plan, failed = strings.HasSuffix(m[1], "/plan"), false
			} else if line == "**Success**: :heavy_multiplication_x:" && now != nil {
				failed, now.Failed = true, true
			} else if line == "## Cost Estimation" {
				flush()
			}
		}
	}
	flush()
	return out
}

// terrateamClaim returns the claim in the headline of a section. status is the end of the headline. Terrateam leaves
// the output of a plan out of long comments. The headline is then all that is known about the plan.
func terrateamClaim(dir, workspace, status, verb string) *Claim {
	c := &Claim{Dir: dir, Workspace: workspace}
	switch {
	case strings.HasPrefix(status, "Applied"), verb == "Apply" && strings.HasPrefix(status, ":white_check_mark:"):
		c.Applied = true
	case strings.HasPrefix(status, "No changes"):
		c.Counted = true
	case strings.HasPrefix(status, "Success"):
		c.Cut, c.OutputsUnknown, c.Some = true, true, true
	case strings.HasPrefix(status, ":heavy_multiplication_x:"):
		c.Failed = true
	}
	return c
}
