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

// A Look is the result of examining the head of a pull request. It has those parts of the status that do not
// belong to runs.
type Look struct {
	Pull              pipeline.Pull
	Head, Base, Merge string
	// Into is the name of the pull request's base branch.
	Into string `json:",omitempty"`
	// Seen is a time at which Head existed already, by GitHub's clock: see [Look.Before].
	Seen time.Time `json:",omitzero"`
	// GivenUp is a head that was pushed after Head, and that Lockstep could not examine.
	GivenUp string `json:",omitempty"`
	Discovery
	Obstacles
	Ending
	Display
}

// A Discovery is what Lockstep has found when it examined the head.
type Discovery struct {
	// Conflict is set if Head conflicts with Base.
	Conflict bool `json:",omitempty"`
	// Asked is set if Head was examined only for commands that name certain projects. All other projects were
	// not examined.
	Asked bool `json:",omitempty"`
	// Compared is set if the contents of Head and Base were compared.
	Compared bool `json:",omitempty"`
	// Projects is the number of projects that Head changes and for which this deployment works.
	Projects int `json:",omitempty"`
	// Touches are the targets of those projects in Touched for which this deployment works: see
	// [runs.ID.Target]. It is set only after the head was examined in this process, and is not recorded.
	Touches []string `json:"-"`
	// Elsewhere are those projects of the pull request for which other deployments work.
	Elsewhere []Elsewhere `json:",omitempty"`
	// Shadow are those projects of the pull request that are in shadow mode. Silent is set if all projects of the base branch
	// are: Lockstep then writes nothing but the check about these projects.
	Shadow []Shadowed `json:",omitempty"`
	Silent bool       `json:",omitempty"`
	// ShadowRemoved is set if the pull request removes a project in shadow mode.
	ShadowRemoved bool `json:",omitempty"`
	// Order are the dependencies between projects at the head. It is nil if neither the head nor the base
	// branch has any.
	Order *HeadOrder `json:",omitempty"`
	// Removed is the note about projects that the pull request removes, in Markdown; "" if it removes none.
	Removed string `json:",omitempty"`
	// Removes are the targets of the removed projects: see [runs.ID.Target].
	Removes []string `json:",omitempty"`
}

// Obstacles are the reasons why projects at the head have no plan, or could not be applied.
type Obstacles struct {
	// Problem is the reason why Lockstep cannot determine the projects, in Markdown. Refused is the reason why
	// it plans nothing at all.
	Problem string `json:",omitempty"`
	Refused string `json:",omitempty"`
	// Policies has the errors of policies in Head, in Markdown. If they were merged, they would block applies.
	Policies string `json:",omitempty"`
	// Denied says which projects the gate refused to plan, and why, in Markdown. It is shown until each of these
	// projects has a plan.
	Denied string `json:",omitempty"`
	// Denials are the refused plans that Denied describes, one for each project. A denial counts until the
	// project has a plan of Head.
	Denials []Denial `json:",omitempty"`
}

// An Ending is what Lockstep knows about the merge or the close of a pull request.
type Ending struct {
	// Closed is set if the pull request was closed: if it is reopened, its head must be examined once more.
	// Merged is set if it was merged.
	Closed bool `json:",omitempty"`
	Merged bool `json:",omitempty"`
	// Unheard is set if the pull request was found closed before the webhook about its close was handled.
	Unheard bool `json:",omitempty"`
	// Landing is the SHA of a head that Lockstep is merging, or has merged without having deleted the branch yet; "" if
	// there is none.
	Landing string `json:",omitempty"`
	// Queued is a head that Lockstep has added to the base branch's merge queue.
	Queued string `json:",omitempty"`
	// Groups are the last commits of merge groups for the pull request: see [Group].
	Groups []string `json:",omitempty"`
	// FollowUp is the issue about merged changes that are not applied.
	FollowUp FollowUp `json:",omitzero"`
}

// A Display says which parts of a Look people see, and where.
type Display struct {
	// Notes are sentences for people, in Markdown.
	Notes []string `json:",omitempty"`
	// Settings is the hash of the base branch's settings with which Lockstep decided about the waiting plans at
	// Head when it last showed them.
	Settings string `json:",omitempty"`
	// Heads are the commits whose checks contain a part about this pull request. A commit is added before that
	// part is written.
	Heads []string `json:",omitempty"`
	// Told is set if there was ever something to report that is not about a run. A status comment may then
	// exist.
	Told bool `json:",omitempty"`
	// Comment is the status comment on GitHub.
	Comment Comment `json:",omitzero"`
}

// A Comment is a comment of Lockstep on GitHub, as Lockstep last wrote it.
type Comment struct {
	ID int64
	// Alone is set after the comment was found on GitHub, without a second one. If two processes write the
	// comment at the same time, there are two; the process that finds both deletes one.
	Alone bool `json:",omitempty"`
}

// Earlier says where to search for the comment on GitHub: at its ID if it is Alone, otherwise in all comments.
func (c Comment) Earlier() github.Earlier {
	if !c.Alone {
		return github.Earlier{}
	}
	return github.Earlier{ID: c.ID}
}

// Next returns the comment after Lockstep has written it once more; id is the ID on GitHub.
func (c Comment) Next(id int64) Comment { return Comment{ID: id, Alone: c.ID == id} }

// A Denial is a project at the head whose plan the gate has refused.
type Denial struct {
	Project, Dir, Workspace string
	Environment             string `json:",omitempty"`
	// ByMerge is set if the merge applies the project. Removed is set if the pull request removes it.
	ByMerge, Removed bool `json:",omitempty"`
}

// Run returns a run for the project of the denial, as it was before its first plan.
func (d Denial) Run(p pipeline.Pull) runs.Run {
	return runs.Run{ID: runs.ID{Pull: p, Project: d.Project, Workspace: d.Workspace}, Spec: runs.Spec{Dir: d.Dir, Environment: d.Environment, Removed: d.Removed}}
}

// DeniedOf returns those denials that still count: of projects without a plan of the head. all are the runs of
// the pull request.
func DeniedOf(l Look, all []Versioned) []Denial {
	return slices.DeleteFunc(slices.Clone(l.Denials), func(d Denial) bool {
		return slices.ContainsFunc(all, func(s Versioned) bool {
			return s.Spec.Head == l.Head && s.Target() == d.Run(l.Pull).Target() && (s.Phase != runs.Superseded || s.End.Fate == runs.Gone)
		})
	})
}

// An Elsewhere is a project for which another deployment works, according to the base commit.
type Elsewhere struct {
	Project, Dir, Workspace string
	By                      string // the name of the deployment
}

// A FollowUp is an issue about a merged pull request, as Lockstep last wrote it.
type FollowUp struct {
	Number int    // 0 if there is none, or if nobody has asked for it yet
	Open   bool   `json:",omitempty"`
	Hash   string // the hash of its text
}

// A HeadOrder has the dependencies between the projects at the head.
type HeadOrder struct {
	Edges order.Edges `json:",omitempty"`
	// Touched are the names of the projects that the pull request changes. A project among them without a plan
	// may have changes.
	Touched []string `json:",omitempty"`
}

func lookKey(p pipeline.Pull) string { return fmt.Sprintf("pull/%d/%d", p.Repo.ID, p.Number) }

// SaveLook records a Look. A pull request is never examined twice at the same time, so the latest record is the
// newest.
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

// since returns the order o with the projects of an earlier Look added, because a command examines only some
// projects. The earlier Look must be about the same head and the same base branch. If the new Look has failed,
// since returns the earlier order. If it has succeeded and found no dependencies, the earlier ones no longer
// count.
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

// Before reports whether the head existed before a comment was written, so that the comment's author could read
// the head. GitHub's clock counts seconds. Within the same second the order is not known, and Before returns
// false.
func (l Look) Before(written time.Time) bool {
	return !l.Seen.IsZero() && l.Seen.Before(written)
}

// CloseLook records that a pull request was merged or closed. The handler of the webhook about that calls it.
func (ld Ledger) CloseLook(ctx context.Context, p pipeline.Pull, merged bool) error {
	return ld.ChangeLook(ctx, p, func(l *Look) { l.Closed, l.Merged, l.Unheard = true, merged, false })
}

// FoundClosed records that a pull request was found to be closed. Handlers of webhooks about something else
// call it.
func FoundClosed(ctx context.Context, ld Ledger, p pipeline.Pull, merged bool) error {
	return ld.ChangeLook(ctx, p, func(l *Look) { l.Unheard, l.Closed, l.Merged = endUnhandled(*l), true, merged })
}

// endUnhandled reports whether the end of a pull request that was found closed must still be handled. If
// Lockstep never examined the pull request while it was open, there is nothing to do.
func endUnhandled(l Look) bool { return l.Unheard || !l.Closed && l.Head != "" }

// GiveUpLook records that all attempts to examine a head have failed.
func (ld Ledger) GiveUpLook(ctx context.Context, p pipeline.Pull, sha string) error {
	return ld.ChangeLook(ctx, p, func(l *Look) { l.GivenUp = sha })
}

// AddHead adds a commit to [Look.Heads]. The check of this commit will contain a part about this pull request.
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

// ChangeLook changes the record of the latest [Look] at a pull request.
func (ld Ledger) ChangeLook(ctx context.Context, p pipeline.Pull, edit func(*Look)) error {
	return Edit(ctx, ld, lookKey(p), func(have *Look) *Look {
		l := cmp.Or(have, &Look{Pull: p})
		edit(l)
		return l
	})
}

// LastLook returns the latest Look at a pull request; the zero value if there is none.
func (ld Ledger) LastLook(ctx context.Context, pull pipeline.Pull) (Look, error) {
	return Get[Look](ctx, ld, lookKey(pull))
}

// Looks returns the latest Look at each pull request of a repository.
func Looks(ctx context.Context, ld Ledger, repo int64) (all []Look, err error) {
	return List[Look](ctx, ld, fmt.Sprintf("pull/%d", repo))
}

// DecodeLook decodes the record of a look.
func DecodeLook(rec pipeline.Record) (Look, error) {
	l, err := decode[Look](rec)
	if l == nil {
		return Look{}, err
	}
	return *l, err
}
