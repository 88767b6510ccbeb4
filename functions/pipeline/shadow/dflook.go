package shadow

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// The format of dflook/terraform-github-actions 3.0.0. Source: image/src/github_pr_comment. The action names the directory
// and the workspace, or a label, and no commit.
var (
	dflookHeader = lazyregexp.New(`^<!-- dflook/terraform-github-actions (\{.*\}) -->$`)
	dflookPath   = lazyregexp.New(`^(?:Terraform|OpenTofu) plan in __(.+?)__(?: in the __(.+)__ workspace)?$`)
	dflookLabel  = lazyregexp.New(`^(?:Terraform|OpenTofu) plan for __(.+)__$`)
)

// dflookCut is the last line of a plan that is too long for a comment.
const dflookCut = "Plan is too large to fit in a PR comment."

// readDflook reads a comment of the action dflook/terraform-plan, which dflook/terraform-apply edits.
func readDflook(body string) []Claim {
	first, rest, _ := strings.Cut(body, "\n")
	m := dflookHeader.FindStringSubmatch(first)
	if m == nil {
		return nil
	}
	var header map[string]any
	if json.Unmarshal([]byte(m[1]), &header) != nil {
		return nil
	}
	text := func(name string) string { s, _ := header[name].(string); return s }
	c := Claim{Workspace: text("workspace"), Project: text("label")}
	head, _, _ := strings.Cut(rest, "\n")
	if m := dflookPath.FindStringSubmatch(head); m != nil {
		c.Dir = m[1]
	} else if m := dflookLabel.FindStringSubmatch(head); m != nil {
		c.Project = m[1]
	} else {
		return nil
	}
	plan, after := "", ""
	for _, p := range parts(rest) {
		if p.fenced && plan == "" {
			plan, after = p.text, ""
		} else if !p.fenced {
			after += p.text
		}
	}
	for line := range strings.Lines(after) {
		if strings.HasPrefix(line, ":spider_web: Plan is outdated") {
			return nil
		}
		c.Applied = c.Applied || strings.HasPrefix(line, ":white_check_mark: Plan applied") || strings.HasPrefix(line, ":white_check_mark: No changes to apply")
	}
	c.Plan = readText(plan)
	if cut := strings.LastIndex(plan, dflookCut); cut >= 0 && strings.TrimSpace(plan[cut:]) != "" && strings.Count(plan[cut:], "\n") <= 1 {
		c.Cut, c.OutputsUnknown = true, !c.Outputs
	}
	if !c.Applied {
		return []Claim{c}
	}
	planned := c
	planned.Applied = false
	return []Claim{planned, {Project: c.Project, Dir: c.Dir, Workspace: c.Workspace, Applied: true}}
}
