package admission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

func headMoved(q *Request) reasons.Reason {
	if q.Run.Spec.Head != q.Pull.Head.SHA {
		return reasons.HeadMoved{Planned: q.Run.Spec.Head, Head: q.Pull.Head.SHA, Merged: q.merged(), Project: q.Run.Project, OnIssue: q.Run.Spec.OnIssue}
	}
	return nil
}

// unseen refuses an apply that was requested by somebody who cannot have seen the plan. The author of a comment
// has seen it if the comment names it, or if it was shown before the comment. A person who merges has seen it
// if it was shown before the merge. A plan that the same comment requests is applied only if the base branch
// allows that, and if the plan only creates and updates in place.
func unseen(q *Request) reasons.Reason {
	newer := reasons.PlanIsNewer{Project: q.Run.Project, Plan: q.Run.Plan.Hash, Merged: q.merged()}
	switch {
	case q.Decided, q.asksForMerge(), q.merged() && !runs.PlansEverything(q.Run): // nobody is shown the name of such a plan, and notAll refuses it
		return nil
	case q.Together && !(q.ApplyUnseen && runs.Additive(q.Run)):
		return reasons.PlanUnseen{Project: q.Run.Project, Let: q.ApplyUnseen}
	case q.Named != "" && !strings.HasPrefix(q.Run.Plan.Hash, q.Named):
		return reasons.OtherPlan{Project: q.Run.Project, Named: q.Named, Plan: q.Run.Plan.Hash}
	case q.Named != "":
		return nil
	case !runs.CouldHaveSeen(q.Shown, q.At):
		newer.Shown = !q.Shown.IsZero()
		return newer
	}
	return nil
}

// savedExchanged, shownExchanged and keptExchanged refuse a plan that is not the one that was made and shown.
// So a person who can write to the storage of plans or records cannot apply another plan.
//
// An apply that was stopped, or that has died, may have made the plan once more. If Lockstep's check run has
// the new plan, this plan is the approved one.
func savedExchanged(q *Request) reasons.Reason {
	again := q.Saved == q.Run.Plan.Again && q.Saved == q.AgainOnGitHub
	if made := q.Run.Saved(); q.Saved != "" && q.Saved != made && !again {
		return reasons.SavedExchanged{Saved: q.Saved, Made: made, Merged: q.merged()}
	}
	return nil
}

func shownExchanged(q *Request) reasons.Reason {
	made := q.Run.Plan.Hash
	switch on := q.OnGitHub; {
	case on == nil || *on == made && made != "":
		return nil
	default:
		return reasons.ShownExchanged{Check: q.Run.CheckRun(), Shown: *on, Made: made, Merged: q.merged()}
	}
}

func keptExchanged(q *Request) reasons.Reason {
	if kept := cmp.Or(q.Kept, q.Run.Defect()); kept != "" {
		return reasons.KeptExchanged{Problem: kept, Merged: q.merged()}
	}
	return nil
}

func conflictSince(q *Request) reasons.Reason {
	if q.Conflict {
		return reasons.Conflicts{Head: q.Pull.Head.SHA, Planned: true}
	}
	return nil
}

// inputsMoved refuses if files of the plan have changed. If the project is not found because the settings have
// errors, nobody knows whether they have. The plan is then kept until the settings are corrected.
func inputsMoved(q *Request) reasons.Reason {
	if q.Broken != "" {
		return reasons.SettingsBroken{Project: q.Run.Project, Problem: q.Broken, OfBase: q.OfBase, Merged: q.merged()}
	}
	if len(q.Differ) > 0 {
		return reasons.InputsMoved{Files: reasons.SomeOf(q.ownFirst()), Whole: q.Whole, Merged: q.merged(), Late: q.Run.Asked.Late, Generated: q.Generated}
	}
	return nil
}

// ownFirst returns all changed files, beginning with those in the project's directory: people see only the
// first ones.
func (q *Request) ownFirst() []string {
	own := func(name string) bool { return q.Run.Spec.Dir == "." || strings.HasPrefix(name, q.Run.Spec.Dir+"/") }
	return slices.SortedStableFunc(slices.Values(slices.Concat(q.Differ, q.Blocks, q.Around)), func(a, b string) int {
		switch {
		case own(a) == own(b):
			return 0
		case own(a):
			return -1
		}
		return 1
	})
}

func modulesMoved(q *Request) reasons.Reason {
	if len(q.Modules) > 0 {
		return reasons.ModulesMoved{Modules: reasons.SomeOf(q.Modules), Merged: q.merged()}
	}
	return nil
}

func otherVersion(q *Request) reasons.Reason {
	if q.OtherVersion {
		return reasons.OtherVersion{Merged: q.merged()}
	}
	return nil
}

// otherUnmerged refuses an apply that could revert the changes of another pull request, which was applied and
// is not merged.
func otherUnmerged(q *Request) reasons.Reason {
	if l := q.Last; l != nil && l.Number != q.Pull.Number && !l.Settled {
		return reasons.OtherUnmerged{Number: l.Number, Merged: q.merged(), Mutual: q.Mutual}
	}
	return nil
}

// stateMoved refuses if the state has changed since the plan was made.
func stateMoved(q *Request) reasons.Reason {
	if q.State == nil {
		return nil
	}
	was, is := q.Run.Plan.State, *q.State
	if was == is {
		return nil
	}
	r := reasons.StateMoved{Was: was.Serial, Is: is.Serial, Merged: q.merged()}
	switch {
	case was == runs.StateID{}:
		r.Change = reasons.StateCreated
	case is == runs.StateID{}:
		r.Change = reasons.StateGone
	case was.Lineage != is.Lineage:
		r.Change = reasons.StateReplaced
	case was.Serial != is.Serial:
		r.Change = reasons.SerialMoved
	default:
		r.Change = reasons.SameSerial
	}
	if l := q.Last; l != nil && l.State == is {
		r.By, r.Number = l.By, l.Number
	}
	return r
}

// placeRenamed refuses to apply a project under a new name, until the base branch has the new name.
func placeRenamed(q *Request) reasons.Reason {
	if q.Placing.Kind == RenamedPlace {
		return reasons.PlaceRenamed{Project: q.Run.Project, Owner: q.Placing.Owner}
	}
	return nil
}

// placeLeft refuses a plan that destroys objects which an earlier project with this address has left in the
// state.
func placeLeft(q *Request) reasons.Reason { return q.Placing.DestroysFormer(q.Run) }

// copied refuses to destroy the objects of a removed project, if another project of the pull request now has
// them in its state.
func copied(q *Request) reasons.Reason {
	if q.Copied == "" {
		return nil
	}
	return reasons.StateCopied{Project: q.Run.Project, Place: q.Run.Address.Place, Owner: q.Copied}
}

// encryptedFirst refuses to write the state of a new project in clear text, if the pull request has an
// encryption block. Otherwise, versions of the state in clear text would stay in the bucket.
func encryptedFirst(q *Request) reasons.Reason {
	if q.Placing.InClear {
		return reasons.NotEncrypted{Project: q.Run.Project}
	}
	return nil
}

func placeMoved(q *Request) reasons.Reason {
	if was, is := q.Run.Address.Place, q.Placing.Place.String(); was != "" && was != is {
		return reasons.PlaceMoved{Project: q.Run.Project, Planned: was, Place: is, Merged: q.merged()}
	}
	return nil
}

// reserved refuses if a person has locked the state for another pull request.
func reserved(q *Request) reasons.Reason {
	no := q.Reserved.Blocks(q.Pull.Number)
	if no == nil {
		return nil
	}
	no.Merged, no.Locking = q.merged(), q.Verb == comment.Lock
	return *no
}
