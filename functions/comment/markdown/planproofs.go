package markdown

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Proof says which plan of a project a shared check run names. Plan and Try rise with each newer plan or apply.
type Proof struct {
	Plan, Try int
	// Hash is the hash of the plan, and Again that of a plan with the same changes that is applied instead. Both are ""
	// for none.
	Hash, Again string
}

// After reports whether p is about a newer plan than q.
func (p Proof) After(q Proof) bool {
	return p.Plan > q.Plan || p.Plan == q.Plan && p.Try > q.Try
}

// proofsHead is the beginning of the text of a shared check run.
const proofsHead = "<details><summary>Hashes of the plans</summary>\n\nLockstep compares them before an apply.\n\n"

// proofsEnd is the end of the plans.
const proofsEnd = "\n</details>\n"

// maxProofTarget is the maximum length of a target in a line of proofs, in bytes. A longer one is replaced by its digest.
const maxProofTarget = 120

// proofName returns the name of a target in a line of proofs. A target has no character that Markdown knows.
func proofName(target string) string {
	if len(target) <= maxProofTarget {
		return target
	}
	sum := sha256.Sum256([]byte(target))
	return "sha256:" + hex.EncodeToString(sum[:])
}

var proofLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^- `([^` ]+)` ([0-9]{1,9})\\.([0-9]{1,9})(?: `([0-9a-f]{64})`(?: again `([0-9a-f]{64})`)?)?$")
})

// ProofsIn returns the plans in the text of a shared check run, by the names of their targets. It reads only the
// lines at the beginning of the text, which Lockstep alone writes. It returns nil if one of them has another form, or if a
// target has two.
func ProofsIn(text string) Proofs {
	rest, ok := strings.CutPrefix(text, proofsHead)
	lines, _, ends := strings.Cut(rest, proofsEnd)
	if !ok || !ends {
		return nil
	}
	out := Proofs{}
	for line := range strings.Lines(lines) {
		m := proofLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return nil
		}
		if _, twice := out[m[1]]; twice {
			return nil
		}
		plan, _ := strconv.Atoi(m[2])
		try, _ := strconv.Atoi(m[3])
		out[m[1]] = Proof{Plan: plan, Try: try, Hash: m[4], Again: m[5]}
	}
	return out
}

// Proofs are the plans of the projects in a shared check run, by the names of their targets.
type Proofs map[string]Proof

// Of returns the plan of a target; zero if there is none.
func (x Proofs) Of(target string) Proof { return x[proofName(target)] }

// Set sets the plan of a target.
func (x Proofs) Set(target string, p Proof) { x[proofName(target)] = p }

// Markdown returns the plans as the beginning of a check run's text. [ProofsIn] reads it. Each plan has at most 320 bytes.
func (x Proofs) Markdown() string {
	var b strings.Builder
	b.WriteString(proofsHead)
	for _, name := range slices.Sorted(maps.Keys(x)) {
		p := x[name]
		fmt.Fprintf(&b, "- `%s` %d.%d", name, p.Plan, p.Try)
		switch {
		case p.Hash != "" && p.Again != "":
			fmt.Fprintf(&b, " `%s` again `%s`", p.Hash, p.Again)
		case p.Hash != "":
			fmt.Fprintf(&b, " `%s`", p.Hash)
		}
		b.WriteString("\n")
	}
	b.WriteString(proofsEnd)
	return b.String()
}
