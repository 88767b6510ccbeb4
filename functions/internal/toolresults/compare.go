package toolresults

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// moving matches the numbers in a message that change when lines move: "main.tf:12,3-4" and "line 12".
var moving = regexp.MustCompile(`(?i)(:|\blines? )[0-9]+([,:-][0-9]+)*`)

// fingerprint returns the fingerprint of a finding. The tool's own fingerprints count, if it has any. Otherwise the
// message and the content of the line do, and not the number of the line.
func (r *reader) fingerprint(tool, rule, file string, line int, message string, prints []string) string {
	h := sha256.New()
	write := func(texts ...string) {
		for _, text := range texts {
			io.WriteString(h, strconv.Itoa(len(text))+":"+text)
		}
	}
	write(tool, rule, file)
	if len(prints) > 0 {
		slices.Sort(prints)
		write(prints...)
	} else {
		write(moving.ReplaceAllString(message, "$1"), r.line(file, line))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A Comparison says which findings a pull request has, compared with its base.
type Comparison struct {
	// New are the findings that only the pull request has. Known are those that both have. Gone are those that only the
	// base has.
	New, Known, Gone Group
	// Inexact is set if one of the results was cut ([MaxFindings]). Findings that were left out are not compared. They
	// count as known.
	Inexact bool `json:",omitempty"`
}

// Compare compares the findings of the base with those of the head. Findings are equal if their fingerprints are. If
// the base has two equal findings and the head three, one of them is new.
func Compare(base, head Findings) Comparison {
	c := Comparison{Inexact: len(base.List) < base.Total() || len(head.List) < head.Total()}
	left := map[string]int{}
	for _, f := range base.List {
		left[f.Fingerprint]++
	}
	listed := map[Severity]int{}
	for _, f := range head.List {
		listed[f.Severity]++
		if left[f.Fingerprint] > 0 {
			left[f.Fingerprint]--
			c.Known.add(f)
		} else {
			c.New.add(f)
		}
	}
	for _, s := range Severities {
		for range head.Counts[s] - listed[s] {
			c.Known.count(s)
		}
	}
	for _, f := range slices.Backward(base.List) {
		if left[f.Fingerprint] > 0 {
			left[f.Fingerprint]--
			c.Gone.add(f)
		}
	}
	slices.Reverse(c.Gone.List)
	return c
}
