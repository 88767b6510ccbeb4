package shadow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Verdict is the result of a comparison.
type Verdict string

const (
	Agree   Verdict = "agree"
	Differ  Verdict = "differ"
	Unknown Verdict = "unknown" // the other tool's plan is not readable, or does not exist yet
)

// A Cause says what kind of difference there is between two plans.
type Cause string

// These are the causes. [Cause.Sentence] has the words for each.
const (
	onlyOurs      Cause = "only Lockstep"
	onlyTheirs    Cause = "only the other tool"
	otherAction   Cause = "different action"
	otherCounts   Cause = "different numbers"
	otherOutputs  Cause = "different outputs"
	otherMove     Cause = "different move"
	otherImport   Cause = "different import"
	failedHere    Cause = "Lockstep failed"
	failedThere   Cause = "the other tool failed"
	contradiction Cause = "contradiction"
	notTrue       Cause = "not applied as planned"
)

// causes are all causes, in the order of reports.
var causes = []Cause{failedHere, failedThere, otherAction, onlyOurs, onlyTheirs, otherMove, otherImport, otherOutputs, otherCounts, contradiction, notTrue}

// Sentence says what usually leads to a difference, and what to look at.
func (c Cause) Sentence() string {
	switch c {
	case onlyOurs, onlyTheirs:
		return "Compare the variables and the credentials of the two plans. The state or a real object may have changed between them."
	case otherAction:
		return "Compare the versions of the provider and of Terraform: they decide between an update and a replacement."
	case otherCounts:
		return "The numbers in the summaries differ. The comment of the other tool does not list all objects, so compare the two plans in full."
	case otherOutputs:
		return "Compare the variables of the two plans: only the outputs differ."
	case otherMove, otherImport:
		return "Compare the moved and import blocks that the two tools have read: one of them may have planned another commit."
	case failedHere:
		return "Read the error of Lockstep's plan in the check. Often the role of Lockstep lacks a right to read."
	case failedThere:
		return "Read the error in the comment of the other tool. Lockstep has planned without an error."
	case contradiction:
		return "The comment contradicts itself: its summary does not fit its list. Check who wrote it."
	case notTrue:
		return "The state after the apply is not what Lockstep had planned. Something else may have changed it, too."
	}
	return ""
}

// A Difference is one difference between two plans.
type Difference struct {
	// Address is the address of the object; "" if the difference is not about one object.
	Address string `json:",omitempty"`
	// Ours and Theirs say what the two plans do.
	Ours, Theirs string
	Cause        Cause
}

// An Agreement says whether two plans agree.
type Agreement struct {
	Verdict     Verdict
	Differences []Difference `json:",omitempty"`
	// More is the number of differences that are left out.
	More int `json:",omitempty"`
	// Why says why the verdict is unknown; "" for any other verdict.
	Why string `json:",omitempty"`
}

// maxDifferences limits the differences that an Agreement keeps.
const maxDifferences = 20

// Compare compares Lockstep's plan with what a comment says about another tool's plan of the same project.
//
// Two plans agree if they do the same with the same objects, and both change outputs or both do not. Values of attributes
// are not compared. If the comment shows only a part of its plan, its numbers and the listed objects are compared.
func Compare(ours Plan, theirs Claim) Agreement {
	switch {
	case ours.Failed && theirs.Failed:
		return Agreement{Verdict: Agree}
	case ours.Failed:
		return agreement([]Difference{{Ours: "failed", Theirs: theirs.Say(), Cause: failedHere}})
	case theirs.Failed:
		return agreement([]Difference{{Ours: ours.Say(), Theirs: "failed", Cause: failedThere}})
	}
	all := objects(ours, theirs)
	if theirs.Counted && !theirs.Cut && theirs.counted() != theirs.Counts {
		all = append(all, Difference{Ours: ours.Say(), Theirs: fmt.Sprintf("%s, but its list has %s", theirs.Counts, theirs.counted()), Cause: contradiction})
	}
	if theirs.Counted && theirs.Cut && !ours.Cut && theirs.Counts != ours.Counts {
		all = append(all, Difference{Ours: ours.Counts.String(), Theirs: theirs.Counts.String(), Cause: otherCounts})
	}
	if o := theirs.Objects; o != nil && !o.fit(ours) {
		all = append(all, Difference{Ours: ours.Counts.String(), Theirs: o.String(), Cause: otherCounts})
	}
	if nothing := len(ours.Changes) == 0 && !ours.Outputs; theirs.Some && nothing {
		all = append(all, Difference{Ours: "no changes", Theirs: "some changes", Cause: otherCounts})
	}
	if !theirs.OutputsUnknown && (!theirs.Cut || theirs.Outputs) && ours.Outputs != theirs.Outputs {
		says := map[bool]string{true: "changes outputs", false: "changes no outputs"}
		all = append(all, Difference{Ours: says[ours.Outputs], Theirs: says[theirs.Outputs], Cause: otherOutputs})
	}
	if len(all) > 0 {
		return agreement(all)
	}
	if theirs.Cut && !theirs.Counted && theirs.Objects == nil {
		return Agreement{Verdict: Unknown, Why: "the comment of the other tool does not show the whole plan"}
	}
	return Agreement{Verdict: Agree}
}

// agreement returns the verdict for differences.
func agreement(all []Difference) Agreement {
	keep := all[:min(len(all), maxDifferences)]
	return Agreement{Verdict: Differ, Differences: keep, More: len(all) - len(keep)}
}

// Say returns a plan in few words.
func (p Plan) Say() string {
	switch {
	case p.Failed:
		return "failed"
	case p.Counted && p.Counts == Counts{} && len(p.Changes) == 0 && p.Outputs:
		return "changes outputs"
	case p.Counted && p.Counts == Counts{} && len(p.Changes) == 0:
		return "no changes"
	case !p.Counted:
		return "a plan without numbers"
	}
	return p.Counts.String()
}

// fit reports whether the numbers o can be those of the plan p. A replaced object counts once, as added or as destroyed.
func (o Counts) fit(p Plan) bool {
	n := map[Action]int{}
	for _, c := range p.Changes {
		n[c.Action]++
	}
	return p.Cut || o.Change == n[update] && o.Add >= n[create] && o.Destroy >= n[destroy] && o.Add+o.Destroy == n[create]+n[destroy]+n[replace]
}

// objects returns the differences between the objects of two plans, by address.
func objects(ours Plan, theirs Claim) (out []Difference) {
	var addresses []string
	index := func(all []Change) map[string]Change {
		m := map[string]Change{}
		for _, c := range all {
			m[c.Address] = c
			addresses = append(addresses, c.Address)
		}
		return m
	}
	we, they := index(ours.Changes), index(theirs.Changes)
	slices.Sort(addresses)
	for _, address := range slices.Compact(addresses) {
		a, here := we[address]
		b, there := they[address]
		d := Difference{Address: address, Ours: a.say(), Theirs: b.say()}
		switch {
		case !here && ours.Cut, !there && theirs.Cut:
			continue
		case !there:
			d.Cause = onlyOurs
		case !here:
			d.Cause = onlyTheirs
		case a.Action != b.Action:
			d.Cause = otherAction
		case a.From != b.From:
			d.Cause = otherMove
		case a.Imported != b.Imported:
			d.Cause = otherImport
		default:
			continue
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(slices.Index(causes, a.Cause), slices.Index(causes, b.Cause)), strings.Compare(a.Address, b.Address))
	})
	return out
}

// say returns what happens to an object; "nothing" for the zero value.
func (c Change) say() string {
	var words []string
	if c.Imported {
		words = append(words, "import")
	}
	if c.From != "" {
		words = append(words, "move from "+c.From)
	}
	if c.Action != keep && c.Action != "" {
		words = append(words, string(c.Action))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " and ")
}
