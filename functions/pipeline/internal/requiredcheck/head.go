package requiredcheck

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A Head is a commit with the pull requests of which it is, or was, the head.
type Head struct {
	Entries []Entry // sorted by number
}

// An Entry is the result for one pull request in the check of a head.
type Entry struct {
	Number   int
	Base     string // the base branch of the pull request
	Standing comment.HeadStanding
	// Waiting is the base branch's setting for the check while plans wait for their applies.
	Waiting project.Waiting `json:",omitempty"`
	Merged  bool            `json:",omitempty"`
	Title   string
	Page    string // in Markdown
}

// With returns the head with the new entry of a pull request. The entry of a pull request that has another
// head, or is closed, is removed if another entry remains.
func (h Head) With(e Entry) Head {
	all := slices.DeleteFunc(slices.Clone(h.Entries), func(x Entry) bool { return x.Number == e.Number })
	all = append(all, e)
	if slices.ContainsFunc(all, Entry.counts) {
		all = slices.DeleteFunc(all, func(x Entry) bool { return !x.counts() })
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Number, b.Number) })
	return Head{all}
}

// Known returns the head with entries that this version of Lockstep understands. A state that it does not know
// counts as pending, until its pull request is examined once more.
func (h Head) Known() Head {
	for i, e := range h.Entries {
		if status, _ := concluded(e.Standing, e.Waiting); status == "" {
			h.Entries[i].Standing = comment.HeadAwaited
		}
	}
	return h
}

// Worst returns the entry that decides about the commit's check run. There must be at least one entry. If the
// commit is the head of an open pull request, merged ones do not count, because a failed check cannot prevent
// their merge any more.
func (h Head) Worst() Entry {
	all := slices.DeleteFunc(slices.Clone(h.Entries), h.replaced)
	if slices.ContainsFunc(all, func(e Entry) bool { return !e.Merged }) {
		all = slices.DeleteFunc(all, func(e Entry) bool { return e.Merged })
	}
	return slices.MinFunc(all, func(a, b Entry) int { return a.rank() - b.rank() })
}

// replaced reports whether the entry of a pull request without plans does not count, because another pull
// request plans the same merge. For example, somebody has pushed the commits of a fork to a branch of the
// repository.
func (h Head) replaced(e Entry) bool {
	return e.Standing == comment.HeadRefused && slices.ContainsFunc(h.Entries, func(x Entry) bool {
		return x.Base == e.Base && x.Standing != comment.HeadRefused
	})
}

// counts reports whether the entry's pull request is open or merged, and the commit is its head.
func (e Entry) counts() bool {
	return e.Standing != comment.HeadClosed && e.Standing != comment.HeadLeft && e.Standing != comment.HeadDequeued
}

// rank returns a lower number for a worse entry. A pending entry is worse than a good one. It is better than a
// bad one, because waiting does not make the bad one good.
func (e Entry) rank() int {
	_, conclusion := Conclude(e.Standing, e.Waiting)
	order := []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired, "", github.ConcludedNeutral, github.ConcludedSuccess}
	if i := slices.Index(order, conclusion); i >= 0 {
		return i
	}
	return len(order)
}
