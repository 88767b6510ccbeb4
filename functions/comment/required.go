package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// requiredWords returns a section that lists the requirements of an apply, before somebody requests the apply.
// It returns "" if there are none.
func requiredWords(r *rulings.Ruling) string {
	if r == nil || len(r.Of) == 0 {
		return ""
	}
	return fmt.Sprintf("Requirements for the apply, from %s on the base branch:\n\n%s", markdown.Code(r.File(reasons.SettingsFile)), r.Markdown(0))
}

// liftedWords returns a section that lists the requirements that were overridden for an apply. It is for
// applies that have begun. It returns "" if no requirement was overridden.
func (p ProjectStatus) liftedWords() string {
	if p.Lifted == nil || !slices.Contains([]Standing{Applying, Applied, PartApplied, ApplyFailed, Stopped}, p.Standing) {
		return ""
	}
	return fmt.Sprintf("Requirements of %s on the base branch were **overridden** for this apply:\n\n%s", markdown.Code(p.Lifted.File(reasons.SettingsFile)), p.Lifted.Markdown(0))
}

// missing returns the requirements that block plans, in about limit bytes. Equal requirements are listed once,
// with the projects. A last sentence says whether there are more.
func (s Status) missing(limit int) string {
	var texts []string
	of := map[string][]string{} // the projects
	for _, p := range s.Projects {
		if !p.lacks() {
			continue
		}
		text := requiredWords(p.Required)
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], p.Name)
	}
	var parts []string
	for i, text := range texts {
		if len(s.Projects) > 1 {
			text = headed(of[text]) + ": " + text
		}
		if limit -= len(text); limit < 0 && i > 0 {
			parts = append(parts, "*The requirements of other projects do not fit here: see the check of each project.*")
			break
		}
		parts = append(parts, strings.TrimSpace(text))
	}
	return strings.Join(parts, "\n\n")
}
