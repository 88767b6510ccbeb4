package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// FileChanges say how the configuration that a step wrote differs from that of the base branch.
type FileChanges struct {
	Base FileBase
	// These are numbers of files. Gone is the number of files that were generated for the base branch
	// only.
	New, Changed, Gone, Same int
	// Diff is the difference as text: see [FileChanges.With]. Cut is set if lines or files are left out of it.
	Diff string
	Cut  bool `json:",omitempty"`
	// elsewhere is set if only the check shows the difference.
	elsewhere bool
}

// FileBase is what generated files are compared with.
type FileBase string

// These are the bases.
const (
	LastMerge  FileBase = "the last merged pull request"
	BaseBranch FileBase = "the base branch"
)

// Limits of the difference of a step's files.
const (
	maxStepDiff  = 16_000 // bytes, in a record
	maxBriefDiff = 30     // lines, in a comment
)

// With returns the changes with their difference as text. Each line begins with "+ ", "- ", or two spaces. A line that begins
// with "#" names a file, and "@@" stands for lines that are left out. A long text is cut at the end of a line.
func (c *FileChanges) With(diff string) *FileChanges {
	if c == nil {
		return nil
	}
	out := *c
	if len(diff) > maxStepDiff {
		diff, out.Cut = diff[:strings.LastIndexByte(diff[:maxStepDiff], '\n')+1], true
	}
	out.Diff = diff
	return &out
}

// words returns the numbers of files: "1 new and 2 changed, compared with the base branch".
func (c *FileChanges) words() string {
	if c == nil {
		return ""
	}
	if c.New+c.Changed+c.Gone == 0 {
		return "the same as for " + string(c.Base)
	}
	var parts []string
	for _, x := range []struct {
		n    int
		word string
	}{{c.New, "new"}, {c.Changed, "changed"}, {c.Gone, "no longer generated"}, {c.Same, "the same"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	return strings.Join(parts, ", ") + ", compared with " + string(c.Base)
}

// markdown returns the difference, with at most rows rows; "" if nothing differs.
func (c *FileChanges) markdown(rows int, whole string) string {
	if c == nil || c.New+c.Changed+c.Gone == 0 || c.elsewhere {
		return ""
	}
	text, cut := c.Diff, c.Cut
	if lines := strings.SplitAfter(text, "\n"); len(lines) > rows {
		text, cut = strings.Join(lines[:rows], ""), true
	}
	if text != "" {
		text = markdown.Fence("diff", text) + "\n"
	}
	if cut {
		text += "\nNot all differences are shown here."
		if whole != "" {
			text += " " + markdown.Whole(whole)
		}
		text += "\n"
	}
	return text
}

// briefly returns steps for a comment: a long difference of files is left to the check.
func briefly(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i, s := range steps {
		if s.Changes != nil && strings.Count(s.Changes.Diff, "\n") > maxBriefDiff {
			c := *s.Changes
			c.Diff, c.elsewhere = "", true
			steps[i].Changes = &c
		}
	}
	return steps
}
