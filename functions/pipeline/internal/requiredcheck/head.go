package requiredcheck

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A Head is a commit with the pull requests whose head it is, or was.
type Head struct {
	Entries []Entry // sorted by number
}

// An Entry is one pull request at a head.
type Entry struct {
	Number   int
	Base     string // the branch it goes into
	Standing comment.HeadStanding
	// Waiting is the setting of its base branch.
	Waiting project.Waiting `json:",omitempty"`
	Merged  bool            `json:",omitempty"`
	Title   string
	Page    string // Markdown
}

// With returns the head with the entry of a pull request in the place of its former one. Of one that
// has left, or is closed, the entry goes once there is another pull request.
func (h Head) With(e Entry) Head {
	all := slices.DeleteFunc(slices.Clone(h.Entries), func(x Entry) bool { return x.Number == e.Number })
	all = append(all, e)
	if slices.ContainsFunc(all, Entry.counts) {
		all = slices.DeleteFunc(all, func(x Entry) bool { return !x.counts() })
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Number, b.Number) })
	return Head{all}
}

// Known returns the entries of a record that another version may have written: a standing that this one does not know is waited for, until
// its pull request is looked at again.
func (h Head) Known() Head {
	for i, e := range h.Entries {
		if status, _ := concluded(e.Standing, e.Waiting); status == "" {
			h.Entries[i].Standing = comment.HeadAwaited
		}
	}
	return h
}

// Worst returns the entry that decides about the check run of the commit. There must be one. Where an open pull request has the
// head, those that are merged do not count: a check that fails keeps nothing of them out any more.
func (h Head) Worst() Entry {
	all := slices.DeleteFunc(slices.Clone(h.Entries), h.replaced)
	if slices.ContainsFunc(all, func(e Entry) bool { return !e.Merged }) {
		all = slices.DeleteFunc(all, func(e Entry) bool { return e.Merged })
	}
	return slices.MinFunc(all, func(a, b Entry) int { return a.rank() - b.rank() })
}

// replaced reports whether a pull request of which nothing is planned does not count, because
// another one plans the same merge: somebody has pushed the commits of a fork to a branch of the
// repository.
func (h Head) replaced(e Entry) bool {
	return e.Standing == comment.HeadRefused && slices.ContainsFunc(h.Entries, func(x Entry) bool {
		return x.Base == e.Base && x.Standing != comment.HeadRefused
	})
}

// counts reports whether the commit is the head of an open or merged pull request.
func (e Entry) counts() bool {
	return e.Standing != comment.HeadClosed && e.Standing != comment.HeadLeft && e.Standing != comment.HeadDequeued
}

// rank is lower for what is worse. An open end is worse than a good one, and better than a bad one,
// which it cannot mend.
func (e Entry) rank() int {
	_, conclusion := Conclude(e.Standing, e.Waiting)
	order := []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired, "", github.ConcludedNeutral, github.ConcludedSuccess}
	if i := slices.Index(order, conclusion); i >= 0 {
		return i
	}
	return len(order)
}
