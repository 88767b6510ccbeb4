package shadow

import (
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// The format of Atlantis 0.47.1, in English. Source: server/events/templates, and GenerateSeparators in
// server/events/vcs/common/common.go. Atlantis does not name the commit.
var (
	atlantisOne = lazyregexp.New("^Ran (Plan|Apply) for (?:project: `([^`]+)` )?dir: `([^`]+)` workspace: `([^`]+)`$")
	// atlantisMany is the first line of a comment about several projects. A list of them and a section for each follow.
	atlantisMany    = lazyregexp.New(`^Ran (Plan|Apply) for (\d+) projects:$`)
	atlantisItem    = lazyregexp.New("^1\\. (?:project: `([^`]+)` )?dir: `([^`]+)` workspace: `([^`]+)`$")
	atlantisSection = lazyregexp.New("^### \\d+\\. (?:project: `([^`]+)` )?dir: `([^`]+)` workspace: `([^`]+)`$")
	atlantisFailed  = lazyregexp.New(`^\*\*(?:Plan|Apply) (?:Error\*\*$|Failed\*\*:)`)
	// atlantisFooter says how many plans have no changes. Atlantis can be told to leave out their sections.
	atlantisFooter = lazyregexp.New(`^(\d+) projects, (\d+) with changes, (\d+) with no changes, (\d+) failed$`)

	// A comment that is too long is cut into several. These are the seams.
	atlantisGoesOn = lazyregexp.New("\\n(?:```\\n)?(?:</details>\\n)?\\n<br>\\n\\n\\*\\*Warning\\*\\*: Output length greater than max comment size\\. Continued in next comment\\.$")
	atlantisGoneOn = lazyregexp.New("^Continued (?:\\w+ output )?from previous comment\\.\\n(?:<details><summary>Show Output</summary>\\n\\n)?(?:```diff\\n)?")
	// atlantisShort is in the place of a beginning that Atlantis has dropped.
	atlantisShort = lazyregexp.New(`^> \[!WARNING\]\n> \*\*Warning\*\*: Command output is larger than the maximum number of comments per command\. Output truncated\.\n(?:<details><summary>Show Output</summary>\n\n)?`)
)

// readAtlantis reads comments of Atlantis. It joins those that Atlantis has cut.
func readAtlantis(all []Comment) (out []Claim) {
	for i := 0; i < len(all); i++ {
		var body strings.Builder
		piece := strings.TrimSpace(all[i].Body)
		for i+1 < len(all) && atlantisGoesOn.MatchString(piece) && atlantisGoneOn.MatchString(all[i+1].Body) {
			i++
			body.WriteString(atlantisGoesOn.ReplaceAllString(piece, ""))
			piece = atlantisGoneOn.ReplaceAllString(strings.TrimSpace(all[i].Body), "")
		}
		body.WriteString(piece)
		for _, c := range readAtlantisText(body.String()) {
			c.Comment, c.At = all[i].ID, all[i].At
			out = append(out, c)
		}
	}
	return out
}

// readAtlantisText reads a whole text of Atlantis.
func readAtlantisText(body string) []Claim {
	r := atlantisReader{unchanged: -1}
	if short := atlantisShort.FindString(body); short != "" {
		r.begin("Plan", "", "", "")
		r.now.Cut, body = true, body[len(short):]
	}
	for i, p := range parts(body) {
		if p.fenced {
			r.text(p.text)
			continue
		}
		for line := range strings.Lines(p.text) {
			if line = strings.TrimRight(line, "\n"); !r.line(line) && i == 0 && r.verb == "" {
				return nil // not about plans
			}
		}
	}
	return r.end()
}

// An atlantisReader reads the lines of a text of Atlantis.
type atlantisReader struct {
	verb      string
	listed    []Claim // in the list of all projects
	unchanged int     // plans without changes, by the footer; -1 if unknown
	now       *Claim
	seen      []Claim
}

func (r *atlantisReader) begin(verb, project, dir, workspace string) {
	r.flush()
	r.verb, r.now = verb, &Claim{Project: project, Dir: dir, Workspace: workspace}
}

// flush ends the present section.
func (r *atlantisReader) flush() {
	if r.now != nil {
		r.seen = append(r.seen, *r.now)
	}
	r.now = nil
}

// line reads a line of Markdown. It reports whether it is one of a known form.
func (r *atlantisReader) line(line string) bool {
	if m := atlantisOne.FindStringSubmatch(line); m != nil && r.verb == "" {
		r.begin(m[1], m[2], m[3], m[4])
		return true
	}
	if m := atlantisMany.FindStringSubmatch(line); m != nil && r.verb == "" {
		r.verb = m[1]
		return true
	}
	if m := atlantisItem.FindStringSubmatch(line); m != nil && r.now == nil {
		r.listed = append(r.listed, Claim{Project: m[1], Dir: m[2], Workspace: m[3], Plan: Plan{Counted: true}})
		return true
	}
	if m := atlantisSection.FindStringSubmatch(line); m != nil && r.verb != "" {
		r.begin(r.verb, m[1], m[2], m[3])
		return true
	}
	if m := atlantisFooter.FindStringSubmatch(line); m != nil {
		r.unchanged, _ = strconv.Atoi(m[3])
		return true
	}
	if r.now != nil && atlantisFailed.MatchString(line) {
		r.now.Failed = true
		return true
	}
	return false
}

// text reads a block: the output of Terraform.
func (r *atlantisReader) text(text string) {
	switch {
	case r.now == nil, r.now.Failed:
	case r.verb == "Apply":
		r.now.Applied = strings.Contains(text, "Apply complete!")
	case !r.now.Counted && r.now.Changes == nil:
		cut := r.now.Cut
		r.now.Plan = readText(text)
		r.now.Cut = r.now.Cut || cut
	}
}

// end returns the claims of the text. If the footer says that all projects without a section have no changes, they get a
// claim, too.
func (r *atlantisReader) end() (out []Claim) {
	r.flush()
	empty := 0
	for _, c := range r.seen {
		if c.Counted && len(c.Changes) == 0 && !c.Outputs {
			empty++
		}
		if r.verb == "Plan" || c.Applied {
			out = append(out, c)
		}
	}
	if hidden := len(r.listed) - len(r.seen); r.verb != "Plan" || hidden <= 0 || hidden != r.unchanged-empty {
		return out
	}
	for _, x := range r.listed {
		shown := false
		for _, c := range r.seen {
			shown = shown || c.Dir == x.Dir && c.Workspace == x.Workspace && c.Project == x.Project
		}
		if !shown {
			out = append(out, x)
		}
	}
	return out
}
