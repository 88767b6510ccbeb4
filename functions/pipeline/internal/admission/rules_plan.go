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
		return reasons.HeadMoved{Planned: q.Run.Spec.Head, Head: q.Pull.Head.SHA, Merged: q.merged(), Project: q.Run.Project}
	}
	return nil
}

// unseen holds that the author of a comment, or who merges, has seen this plan: the comment names it, or it was shown before the
// comment was written, or before the merge. A plan that the same comment has asked for is applied unseen only where the base branch
// lets it be, and if it creates and updates in place, and no more.
func unseen(q *Request) reasons.Reason {
	newer := reasons.PlanIsNewer{Project: q.Run.Project, Plan: q.Run.Plan.Hash, Merged: q.merged()}
	switch {
	case q.Decided, q.later(), q.merged() && !runs.PlansEverything(q.Run): // nobody is shown the name of the latter, and notAll refuses it
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

// savedExchanged, shownExchanged and keptExchanged hold that the plan to apply is the one that was
// made, and shown: the right to write where plans or records are kept is not the right to apply.
func savedExchanged(q *Request) reasons.Reason {
	if made := q.Run.Saved(); q.Saved != "" && q.Saved != made {
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
		return reasons.ShownExchanged{Check: q.Run.Check(), Shown: *on, Made: made, Merged: q.merged()}
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

// inputsMoved holds that the files are the same. Where the project is not found, since the settings have errors, it is not known
// whether they are, and the plan stays for the time when they have none.
func inputsMoved(q *Request) reasons.Reason {
	if q.Broken != "" {
		return reasons.SettingsBroken{Project: q.Run.Project, Problem: q.Broken, OfBase: q.OfBase, Merged: q.merged()}
	}
	if len(q.Differ) > 0 {
		return reasons.InputsMoved{Files: reasons.SomeOf(q.ownFirst()), Whole: q.Whole, Merged: q.merged(), Late: q.Run.Asked.Late}
	}
	return nil
}

// ownFirst lists all changed files, those in the project's directory first: of the others there
// may be many.
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

// otherUnmerged holds that an apply reverts no other pull request.
func otherUnmerged(q *Request) reasons.Reason {
	if l := q.Last; l != nil && l.Number != q.Pull.Number && !l.Settled {
		return reasons.OtherUnmerged{Number: l.Number, Merged: q.merged(), Mutual: q.Mutual}
	}
	return nil
}

// stateMoved compares the state of the plan with the present one.
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

// placeRenamed holds that a state under a new name is applied only once the base branch has it.
func placeRenamed(q *Request) reasons.Reason {
	if q.Placing.Kind == RenamedPlace {
		return reasons.PlaceRenamed{Project: q.Run.Project, Owner: q.Placing.Owner}
	}
	return nil
}

// placeLeft holds that nobody destroys by one project what another one has left at the address of its state.
func placeLeft(q *Request) reasons.Reason { return q.Placing.Destroys(q.Run) }

// copied holds that a removed project destroys no objects that another one of the pull request has by now.
func copied(q *Request) reasons.Reason {
	if q.Copied == "" {
		return nil
	}
	return reasons.StateCopied{Project: q.Run.Project, Place: q.Run.Address.Place, Owner: q.Copied}
}

// sealedFirst holds that the state of a new project is written encrypted from the beginning, if it is to
// be encrypted: versions of it in clear would stay in its bucket.
func sealedFirst(q *Request) reasons.Reason {
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

// reserved holds that a state which a person keeps for one pull request is left alone by all others.
func reserved(q *Request) reasons.Reason {
	no := q.Reserved.Blocks(q.Pull.Number)
	if no == nil {
		return nil
	}
	no.Merged, no.Locking = q.merged(), q.Verb == comment.Lock
	return *no
}
