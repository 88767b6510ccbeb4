package shadow

import (
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// A headline is the line above a change in the text of a plan. Terraform indents it by two spaces, and that of a forgotten
// object by one. Values of attributes are indented by eight or more, so no value is a headline. Source: the texts of
// Terraform 1.11.4 and OpenTofu 1.11.
var headline = lazyregexp.New(`^ {1,2}# (.+)$`)

// fates are the endings of headlines, with the action of each. The first one that fits counts.
var fates = []struct {
	ending *lazyregexp.Regexp
	action Action
}{
	{lazyregexp.New(`^(.+?) will be created$`), create},
	{lazyregexp.New(`^(.+?) will be updated in-place$`), update},
	{lazyregexp.New(`^(.+?) will be destroyed$`), destroy},
	{lazyregexp.New(`^(.+?) is tainted, so must be replaced$`), replace},
	{lazyregexp.New(`^(.+?) must be replaced$`), replace},
	{lazyregexp.New(`^(.+?) will be replaced, as requested$`), replace},
	{lazyregexp.New(`^(.+?) will be replaced due to changes in replace_triggered_by$`), replace},
	{lazyregexp.New(`^(.+?) will no longer be managed`), forget},
	{lazyregexp.New(`^(.+?) will be removed from the OpenTofu state`), forget},
	{lazyregexp.New(`^(.+?) will be imported$`), keep},
}

var (
	movedTo    = lazyregexp.New(`^(.+?) has moved to (.+)$`)
	movedFrom  = lazyregexp.New(`^\(moved from (.+)\)$`)
	importedBy = lazyregexp.New(`^\((?:imported from|imported by identity|will be imported first)`)
	summary    = lazyregexp.New(`^Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, (\d+) to forget)?`)
	// failures are the first words of an error, with and without the bar that Terraform draws beside it.
	failures = lazyregexp.New(`^(?:[│|] )?Error: `)
	colors   = lazyregexp.New("\x1b\\[[0-9;]*m")
)

// readText reads the text of a plan as Terraform and OpenTofu print it. Atlantis, Terrateam and dflook move the signs of
// changes to the beginning of their lines, which changes no headline. If the end of the text is missing, Cut is set.
func readText(text string) Plan {
	p := Plan{}
	ended := false
	var last *Change
	for line := range strings.Lines(colors.ReplaceAllString(text, "")) {
		line = strings.TrimRight(line, "\r\n \t")
		if h := headline.FindStringSubmatch(line); h != nil {
			last = p.headline(h[1], last)
			continue
		}
		switch {
		case strings.HasPrefix(line, "Plan: "):
			ended = p.summary(line) || ended
		case strings.HasPrefix(line, "No changes."):
			p.Counted, ended = true, true
		case line == "Changes to Outputs:":
			p.Outputs, ended = true, true
		case failures.MatchString(line):
			p.Failed = true
		}
	}
	if p.Outputs && !p.Counted && len(p.Changes) == 0 {
		p.Counted = true // The text of a plan that changes only outputs has no summary line.
	}
	p.Cut = p.Cut || !ended && !p.Failed
	p.sort()
	return p
}

// headline reads the line above a change. A line in parentheses is a remark about last, the change of the line before.
// The result is the change to which a remark in the next line belongs; nil for none.
func (p *Plan) headline(text string, last *Change) *Change {
	if strings.HasPrefix(text, "(") {
		if m := movedFrom.FindStringSubmatch(text); m != nil && last != nil {
			last.From = m[1]
		}
		if importedBy.MatchString(text) && last != nil {
			last.Imported = true
		}
		return last
	}
	c, ok := fateOf(text)
	if !ok {
		return nil // The line is about an object that was changed outside of the tool, or that the plan only reads.
	}
	n := len(p.Changes)
	if p.add(c); len(p.Changes) == n {
		return nil
	}
	return &p.Changes[n]
}

// fateOf returns the change that a headline announces.
func fateOf(text string) (Change, bool) {
	for _, f := range fates {
		if m := f.ending.FindStringSubmatch(text); m != nil {
			return Change{Address: m[1], Action: f.action, Imported: f.action == keep}, true
		}
	}
	if m := movedTo.FindStringSubmatch(text); m != nil {
		return Change{Address: m[2], Action: keep, From: m[1]}, true
	}
	return Change{}, false
}

// summary reads the line with the numbers. Several such lines, as Terragrunt prints them for several units, are added up.
func (p *Plan) summary(line string) bool {
	m := summary.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	// A missing number counts as 0, and one of more than 32 bits, too: no plan has so many changes, and sums must not overflow.
	n := func(i int) int {
		v, err := strconv.ParseInt(m[i], 10, 32)
		if err != nil {
			return 0
		}
		return int(v)
	}
	p.Counts.Import += n(1)
	p.Counts.Add += n(2)
	p.Counts.Change += n(3)
	p.Counts.Destroy += n(4)
	p.Counted = true
	return true
}
