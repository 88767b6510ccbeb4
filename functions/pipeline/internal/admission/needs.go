package admission

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Fact is a part of a [Request] that somebody has to read before the gate can use it.
type Fact string

const (
	BaseBranch   Fact = "base branch"        // BaseNamed and Forks
	LastApply    Fact = "last apply"         // Last
	MutualWait   Fact = "mutual wait"        // Mutual
	Reservation  Fact = "reservation"        // Reserved
	ShownAt      Fact = "shown at"           // Shown
	StateCopy    Fact = "copy of the state"  // Copied
	UnseenApply  Fact = "unseen apply"       // ApplyUnseen
	ApplyOrder   Fact = "order of applies"   // Order
	Requirements Fact = "requirements"       // Required, Deployment, ServedBy and Shadow
	ShownPlan    Fact = "shown plan"         // OnGitHub and AgainOnGitHub
	SavedPlan    Fact = "saved plan"         // Saved
	PresentMerge Fact = "present merge"      // Pull and Conflict, as the present trial merge has them
	Removal      Fact = "removal"            // Restored
	PresentFiles Fact = "present files"      // Differ, Blocks, Around, Whole, Kept, Broken and OfBase
	StatePlace   Fact = "place of the state" // Placing, and Last and Reserved of that place
)

// A stage is a group of facts that are read together. Before each stage, the gate decides with the facts of the
// earlier stages. If it refuses, the requests for later stages are saved.
type stage struct {
	needs []need
	// worth reports whether to read the facts of this stage, after the gate's decision without them.
	worth func(Decision) bool
}

// A need says for which commands a fact must be read.
type need struct {
	fact  Fact
	verbs []comment.Verb
	// only reports whether a request needs the fact. If it is nil, all requests with these verbs need it.
	only func(*Request) bool
}

// stages are the facts that the gate needs, from the cheapest to the most expensive: first those that cost
// nothing for most pull requests, then Lockstep's records, GitHub, the plan, the files, and finally the address
// of the state.
var stages = []stage{
	{worth: always, needs: []need{{BaseBranch, everything, nil}}},
	{worth: always, needs: []need{
		{LastApply, everything, ofRun},
		{MutualWait, applying, ofRun},
		{Reservation, []comment.Verb{comment.Apply, comment.Lock}, ofRun},
		{ShownAt, applying, ofRun},
		{StateCopy, applying, ofRun},
		{UnseenApply, applying, func(q *Request) bool { return q.Together && ofRun(q) }},
	}},
	{worth: unlessRefused, needs: []need{
		{ApplyOrder, applying, ofRun},
		{Requirements, everything, func(q *Request) bool { return ofRun(q) && len(BlocksOf(q.Verb, q.Run)) > 0 }},
	}},
	{worth: orWaits, needs: []need{{ShownPlan, applying, ofRun}, {SavedPlan, applying, ofRun}}},
	{worth: Decision.Allowed, needs: []need{{PresentMerge, []comment.Verb{comment.Plan, comment.Apply}, nil}}},
	{worth: Decision.Allowed, needs: []need{{Removal, []comment.Verb{comment.Plan, comment.Apply}, ofRun}}},
	{worth: Decision.Allowed, needs: []need{{PresentFiles, applying, ofRun}}},
	{worth: orAgain, needs: []need{{StatePlace, everything, ofRun}}},
}

func ofRun(q *Request) bool { return q.Run.Project != "" }

func always(Decision) bool { return true }

// unlessRefused reports whether the gate needs further facts: the request is allowed so far. In two cases it needs them
// although it refuses: only the merge applies the project, or the same comment requests plan and apply. The answer then
// also says what else is missing.
func unlessRefused(d Decision) bool {
	return d.Allowed() || Has[reasons.AppliedLater](d) || Has[reasons.PlanUnseen](d)
}

// orWaits reports whether the request is allowed, or is an apply that can be accepted now and that then waits.
func orWaits(d Decision) bool {
	_, waits := d.WaitsForProjects()
	return d.Allowed() || waits
}

// orAgain reports whether the request is allowed, or would be allowed after the apply has made the plan once
// more.
func orAgain(d Decision) bool { return d.Allowed() || d.PlanAgain() }

// Needs returns the facts that the caller must read next, and the gate's decision without them. It returns no
// facts if the decision is final. readable reports whether the caller can read a fact; the gate decides without
// facts that it cannot read. The caller reads each returned fact, and reports that with [Request.Read].
func Needs(q Request, readable func(Fact) bool) ([]Fact, Decision) {
	d := Decide(q)
	for _, s := range stages {
		var facts []Fact
		begun := false
		for _, n := range s.needs {
			switch {
			case slices.Contains(q.known, n.fact):
				begun = true
			case slices.Contains(n.verbs, q.Verb) && (n.only == nil || n.only(&q)) && readable(n.fact):
				facts = append(facts, n.fact)
			}
		}
		switch {
		case !begun && !s.worth(d):
			return nil, d
		case len(facts) > 0:
			return facts, d
		}
	}
	return nil, d
}

// Read records that a fact was read, so that [Needs] does not return it once more.
func (q *Request) Read(f Fact) { q.known = append(slices.Clip(q.known), f) }
