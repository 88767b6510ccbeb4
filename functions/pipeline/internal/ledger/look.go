package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/order"
	"github.com/lockstep-iac/lockstep/github"
)

// A Look is the result of the last look at the head of a pull request. It has the parts of the status that do
// not come from runs.
type Look struct {
	Pull              pipeline.Pull
	Head, Base, Merge string
	// Into is the name of the base branch.
	Into string `json:",omitempty"`
	// Seen is a time at which Head existed already, by GitHub's clock: see [Look.Before].
	Seen time.Time `json:",omitzero"`
	// GivenUp is a later head than Head that nobody could look at.
	GivenUp string `json:",omitempty"`
	Discovery
	Obstacles
	Ending
	Display
}

// A Discovery is what a look has found at the head.
type Discovery struct {
	// Conflict is set if Head conflicts with Base.
	Conflict bool `json:",omitempty"`
	// Asked is set if only commands for some projects caused looks at Head. The other projects were not looked
	// at.
	Asked bool `json:",omitempty"`
	// Compared is set if Head was compared with Base by content.
	Compared bool `json:",omitempty"`
	// Projects is the number of projects of our deployment that Head touches.
	Projects int `json:",omitempty"`
	// Touches are the targets of those projects that belong to our deployment, if a look has found them: see
	// [runs.ID.Target]. It is not recorded.
	Touches []string `json:"-"`
	// Elsewhere are the pull request's projects that other deployments serve.
	Elsewhere []Elsewhere `json:",omitempty"`
	// Order is the order of applies at the head. It is nil if no project depends on another one, there or on
	// the base branch.
	Order *HeadOrder `json:",omitempty"`
	// Removed is the note on the projects that the pull request removes, in Markdown; "" for none.
	Removed string `json:",omitempty"`
	// Removes are the targets of the removed projects: see [runs.ID.Target].
	Removes []string `json:",omitempty"`
}

// Obstacles are why projects of the head have no plan, or would not be applied.
type Obstacles struct {
	// Problem is why the projects are unknown, in Markdown. Refused is why nothing is planned at all.
	Problem string `json:",omitempty"`
	Refused string `json:",omitempty"`
	// Policies are the broken policies in Head, in Markdown. After a merge they would block applies.
	Policies string `json:",omitempty"`
	// Denied is the text about the refused plans of single projects, in Markdown. It is shown while there are
	// fewer plans than projects.
	Denied string `json:",omitempty"`
	// Denials are the refusals that Denied describes, one for each project. A denial counts until the project
	// has a plan of Head.
	Denials []Denial `json:",omitempty"`
}

// An Ending is what is known of the close or the merge of the pull request.
type Ending struct {
	// Closed is set once the pull request is closed: if it is reopened, its head has to be looked at again.
	// Merged is set if a merge closed it.
	Closed bool `json:",omitempty"`
	Merged bool `json:",omitempty"`
	// Unheard is set if the handler of another message found the pull request closed. The event of the close is
	// still to be handled.
	Unheard bool `json:",omitempty"`
	// Landing is a head that Lockstep is merging or has merged, and whose branch it still has to delete; "" for
	// none.
	Landing string `json:",omitempty"`
	// Queued is the head that Lockstep put into the base branch's merge queue.
	Queued string `json:",omitempty"`
	// Groups are the last commits of merge groups for the pull request: see [Group].
	Groups []string `json:",omitempty"`
	// FollowUp is the issue about merged changes that are not applied.
	FollowUp FollowUp `json:",omitzero"`
}

// A Display is what people see of a look, and where.
type Display struct {
	// Notes are sentences for people, in Markdown.
	Notes []string `json:",omitempty"`
	// Settings is the hash of the base branch's settings that were used when the waiting plans at Head were
	// last shown.
	Settings string `json:",omitempty"`
	// Heads are the commits whose check has an entry of this pull request. It is written before the entries.
	Heads []string `json:",omitempty"`
	// Told is set once there was something to report that is not about a run. So a status comment may exist.
	Told bool `json:",omitempty"`
	// Comment is the comment with the status.
	Comment Comment `json:",omitzero"`
}

// A Comment is one of our comments, as it was last written.
type Comment struct {
	ID int64
	// Alone is set once the comment was found again. Two processes that write it at the same time make two
	// comments; the process that finds both deletes one.
	Alone bool `json:",omitempty"`
}

// Earlier says where GitHub's client has to look for the comment: at its ID once it is Alone, else everywhere.
func (c Comment) Earlier() github.Earlier {
	if !c.Alone {
		return github.Earlier{}
	}
	return github.Earlier{ID: c.ID}
}

// Next returns the comment after it was written again, with an ID.
func (c Comment) Next(id int64) Comment { return Comment{ID: id, Alone: c.ID == id} }

// A Denial is a project of the head without a plan, because the gate refused one.
type Denial struct {
	Project, Dir, Workspace string
	Environment             string `json:",omitempty"`
	// ByMerge is set if the merge applies the project. Removed is set if the pull request removes it.
	ByMerge, Removed bool `json:",omitempty"`
}

// Run returns the run of the project before its first plan.
func (d Denial) Run(p pipeline.Pull) runs.Run {
	return runs.Run{ID: runs.ID{Pull: p, Project: d.Project, Workspace: d.Workspace}, Spec: runs.Spec{Dir: d.Dir, Environment: d.Environment, Removed: d.Removed}}
}

// DeniedOf returns the denials of a look that still count: those of projects that have no plan of the look's
// head. all are the runs of the look's pull request.
func DeniedOf(l Look, all []Versioned) []Denial {
	return slices.DeleteFunc(slices.Clone(l.Denials), func(d Denial) bool {
		return slices.ContainsFunc(all, func(s Versioned) bool {
			return s.Spec.Head == l.Head && s.Target() == d.Run(l.Pull).Target() && (s.Phase != runs.Superseded || s.End.Fate == runs.Gone)
		})
	})
}

// An Elsewhere is a project that another deployment serves, by the base commit.
type Elsewhere struct {
	Project, Dir, Workspace string
	By                      string // the name of the deployment
}

// A FollowUp is an issue about a pull request, as it was last written.
type FollowUp struct {
	Number int    // 0 if there is none, or if nobody has asked for it yet
	Open   bool   `json:",omitempty"`
	Hash   string // the hash of its text
}

// A HeadOrder is the head's part of the order of applies.
type HeadOrder struct {
	Edges order.Edges `json:",omitempty"`
	// Touched are the projects that the pull request changes. If one of them has no plan, that does not mean
	// that it has no changes.
	Touched []string `json:",omitempty"`
}

func lookKey(p pipeline.Pull) string { return fmt.Sprintf("pull/%d/%d", p.Repo.ID, p.Number) }

// SaveLook writes a look. Looks at a pull request are made one after the other, so the last one is the newest.
func (ld Ledger) SaveLook(ctx context.Context, l Look) error {
	return ld.ChangeLook(ctx, l.Pull, func(was *Look) {
		l.Heads, l.Groups, l.Landing, l.Queued, l.FollowUp, l.Comment = was.Heads, was.Groups, was.Landing, was.Queued, was.FollowUp, was.Comment
		l.Settings = cmp.Or(l.Settings, was.Settings)
		l.Told = was.Told || l.Conflict || l.Problem != "" || l.Denied != "" || l.Removed != "" || l.Policies != ""
		l.Unheard = l.Closed && endUnhandled(*was)
		l.Asked = l.Asked && (was.Asked || was.Head != l.Head || was.Into != l.Into || was.Closed)
		if was.Head == l.Head && !was.Seen.IsZero() {
			l.Seen = was.Seen
		}
		if was.Head == l.Head {
			l.Denied = cmp.Or(l.Denied, was.Denied)
			if l.Denials == nil && was.Into == l.Into {
				l.Denials = slices.DeleteFunc(slices.Clone(was.Denials), func(d Denial) bool {
					return l.Touches != nil && !slices.Contains(l.Touches, d.Run(l.Pull).Target())
				})
			}
			failed := l.Problem != "" || l.Refused != "" || l.Conflict // the look failed before it found the projects
			if failed {
				l.Projects = max(l.Projects, was.Projects)
			}
			if was.Into == l.Into {
				l.Order = l.Order.since(was.Order, failed)
			}
		}
		*was = l
	})
}

// since returns the order o with the touched projects of a former look added, because a command looks only at
// some projects. The former look must be at the same head with the same base branch. If the new look has
// failed, the former order stays. A look that succeeds and finds no order ends the former order.
func (o *HeadOrder) since(was *HeadOrder, failed bool) *HeadOrder {
	switch {
	case o == nil && failed:
		return was
	case o == nil || was == nil:
		return o
	}
	now := *o
	now.Touched = slices.Compact(slices.Sorted(slices.Values(slices.Concat(was.Touched, o.Touched))))
	return &now
}

// Before reports whether the head existed before a comment was written, so its author could look at the head.
// GitHub's clock counts seconds: within one second the order is unknown, and the answer is false.
func (l Look) Before(written time.Time) bool {
	return !l.Seen.IsZero() && l.Seen.Before(written)
}

// CloseLook records that a pull request is closed, by a merge or without one. The handler of that event calls
// it.
func (ld Ledger) CloseLook(ctx context.Context, p pipeline.Pull, merged bool) error {
	return ld.ChangeLook(ctx, p, func(l *Look) { l.Closed, l.Merged, l.Unheard = true, merged, false })
}

// FoundClosed records that a pull request is closed. The handlers of other events call it.
func FoundClosed(ctx context.Context, ld Ledger, p pipeline.Pull, merged bool) error {
	return ld.ChangeLook(ctx, p, func(l *Look) { l.Unheard, l.Closed, l.Merged = endUnhandled(*l), true, merged })
}

// endUnhandled reports whether the end of a pull request that is found closed still has to be handled. If it
// was never looked at while it was open, nothing has to be done.
func endUnhandled(l Look) bool { return l.Unheard || !l.Closed && l.Head != "" }

// GiveUpLook records that all attempts to look at a head failed.
func (ld Ledger) GiveUpLook(ctx context.Context, p pipeline.Pull, sha string) error {
	return ld.ChangeLook(ctx, p, func(l *Look) { l.GivenUp = sha })
}

// AddHead adds a commit to [Look.Heads]: the check of the commit has an entry of this pull request.
func (ld Ledger) AddHead(ctx context.Context, p pipeline.Pull, sha string) error {
	return ld.ChangeLook(ctx, p, func(l *Look) {
		if !slices.Contains(l.Heads, sha) {
			l.Heads = append(l.Heads, sha)
		}
	})
}

// RemoveHead removes a commit that [Ledger.AddHead] has added.
func (ld Ledger) RemoveHead(ctx context.Context, p pipeline.Pull, sha string) error {
	return ld.ChangeLook(ctx, p, func(l *Look) {
		l.Heads = slices.DeleteFunc(l.Heads, func(x string) bool { return x == sha })
	})
}

// ChangeLook changes the record of the last look at a pull request.
func (ld Ledger) ChangeLook(ctx context.Context, p pipeline.Pull, edit func(*Look)) error {
	return change(ctx, ld, lookKey(p), func(have *Look) *Look {
		l := cmp.Or(have, &Look{Pull: p})
		edit(l)
		return l
	})
}

// LastLook returns the last look; zero if there was none.
func (ld Ledger) LastLook(ctx context.Context, pull pipeline.Pull) (Look, error) {
	return getOrZero[Look](ctx, ld, lookKey(pull))
}

// Looks returns the last looks at all pull requests of a repository.
func Looks(ctx context.Context, ld Ledger, repo int64) (all []Look, err error) {
	return listAll[Look](ctx, ld, fmt.Sprintf("pull/%d", repo))
}

// DecodeLook decodes the record of a look.
func DecodeLook(rec pipeline.Record) (Look, error) {
	l, err := decode[Look](rec)
	if l == nil {
		return Look{}, err
	}
	return *l, err
}
