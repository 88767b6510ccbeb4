package toolresults

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// moving matches the numbers in a message that change when lines move: "main.tf:12,3-4" and "line 12".
var moving = lazyregexp.New(`(?i)(:|\blines? )[0-9]+([,:-][0-9]+)*`)

// fingerprint returns the fingerprint of a finding. The tool's own fingerprints count, if it has any. If it has
// none, the message and the content of the line count. The number of the line never counts.
func (r *reader) fingerprint(tool, rule, file string, line int, message string, prints []string) string {
	if len(prints) > 0 {
		slices.Sort(prints)
	} else {
		if file != "" { // trivy's messages name the file
			message = strings.ReplaceAll(message, path.Base(file), "")
		}
		prints = []string{moving.ReplaceAllString(message, "$1"), r.line(file, line)}
	}
	return digest(append([]string{tool, rule}, prints...)...) + "@" + digest(file)
}

// digest returns a hash of texts in 32 hexadecimal digits.
func digest(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		io.WriteString(h, strconv.Itoa(len(text))+":"+text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// elsewhere returns the part of the fingerprint that is equal for the same finding in another file.
func (f Finding) elsewhere() string {
	print, _, _ := strings.Cut(f.Fingerprint, "@")
	return print
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
// the base has two equal findings and the head three, one of them is new. A finding that has moved to another file, with
// the same message and the same line, is known.
func Compare(base, head Findings) Comparison {
	c := Comparison{Inexact: len(base.List) < base.Total() || len(head.List) < head.Total()}
	known, gone := make([]bool, len(head.List)), make([]bool, len(base.List))
	for i := range gone {
		gone[i] = true
	}
	for _, key := range []func(Finding) string{func(f Finding) string { return f.Fingerprint }, Finding.elsewhere} {
		left := map[string][]int{} // findings of the base
		for i, f := range base.List {
			if gone[i] {
				left[key(f)] = append(left[key(f)], i)
			}
		}
		for i, f := range head.List {
			if same := left[key(f)]; !known[i] && len(same) > 0 {
				known[i], gone[same[0]] = true, false
				left[key(f)] = same[1:]
			}
		}
	}
	listed := map[Severity]int{}
	for i, f := range head.List {
		listed[f.Severity]++
		if known[i] {
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
	for i, f := range base.List {
		if gone[i] {
			c.Gone.add(f)
		}
	}
	return c
}
