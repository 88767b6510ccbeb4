package requirementrules

import (
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// mergeQueue is the login with which GitHub's merge queue merges. It is the actor of a merge if the user who
// added the pull request to the queue is not known.
const mergeQueue = "github-merge-queue[bot]"

// An Environment has the protection rules of a GitHub environment, for the base branch.
type Environment struct {
	// Reviewers are people and teams, one of whom must approve. nil means that no approval is needed. OwnReview
	// is set if a reviewer who requests the apply need not approve it.
	Reviewers []requirements.Party
	OwnReview bool          `json:",omitempty"`
	Wait      time.Duration `json:",omitempty"` // since people saw the plan
	Closed    bool          `json:",omitempty"` // for the base branch
	Others    []string      `json:",omitempty"` // rules that only GitHub Actions can check
}

// environment requires that the protection rules of a GitHub environment are met.
func environment(f Facts, r requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Wanted: []string{r.Environment}}
	fact := f.Environments[r.Environment]
	if out.Problem = missing(fact); out.Problem != "" {
		out.Outcome = rulings.Unknown
		return out
	}
	e := fact.Value
	if e.Reviewers != nil {
		out.Of = append(out.Of, reviewed(f, e))
	}
	if e.Wait > 0 {
		out.Of = append(out.Of, waited(f, e.Wait))
	}
	if e.Closed {
		out.Of = append(out.Of, rulings.Ruling{Rule: rulings.OpenTo, Outcome: rulings.Fails})
	}
	for _, name := range e.Others {
		out.Of = append(out.Of, rulings.Ruling{Rule: rulings.ActionsOnly, Outcome: rulings.Fails, Wanted: []string{name}})
	}
	out.Outcome = all(out.Of)
	return out
}

// reviewed requires that a reviewer of an environment has approved the planned commit. If the environment
// allows it (OwnReview), it is enough that a reviewer requests the apply.
func reviewed(f Facts, e Environment) rulings.Ruling {
	out := approvals(f, requirements.Rules{Approvals: 1, ApprovedBy: e.Reviewers})
	out.Rule = rulings.Approvals
	if yes, _ := belongs(f, f.Actor, e.Reviewers); yes && e.OwnReview {
		return rulings.Ruling{Rule: rulings.Approvals, Outcome: rulings.Holds, Want: 1, Wanted: out.Wanted, Found: []string{f.Actor}, Have: 1}
	}
	if e.OwnReview || out.Have == 0 {
		return out
	}
	if f.Actor == mergeQueue && out.Have == 1 {
		out.Outcome, out.Problem = rulings.Unknown, "it is not known who put the pull request into the merge queue, and that user's own approval does not count"
		return out
	}
	for i, who := range out.Found {
		if samePerson(who, f.Actor) {
			out.Against = append(out.Against, rulings.Against{Name: who, Why: rulings.OwnOrder})
			out.Found, out.Have = append(out.Found[:i:i], out.Found[i+1:]...), out.Have-1
			break
		}
	}
	if out.Have == 0 {
		out.Outcome = rulings.Fails
	}
	return out
}

// waited requires that the plan was first shown at least the duration wait ago.
func waited(f Facts, wait time.Duration) rulings.Ruling {
	out := rulings.Ruling{Rule: rulings.Waited, Outcome: rulings.Fails, Want: int(wait.Minutes())}
	if f.Shown.IsZero() {
		return out
	}
	until := f.Shown.Add(wait)
	if out.Found = []string{until.UTC().Format("2006-01-02 15:04 UTC")}; !f.Now.Before(until) {
		out.Outcome = rulings.Holds
	}
	return out
}
