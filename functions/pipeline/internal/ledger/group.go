package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Group is a merge group that contains a pull request, as GitHub has reported it.
//   - SHA is the group's commit, and Head the head of the pull request.
//   - Gone is set if the group no longer exists on GitHub. That is final.
//   - Left is set if the checks of a group that is gone, and of the groups after it, are written.
type Group struct {
	Pull      pipeline.Pull
	SHA, Head string
	By        string   `json:",omitempty"` // login of the user who put the pull request into the queue
	Gone      bool     `json:",omitempty"`
	Left      bool     `json:",omitempty"`
	Behind    []string `json:",omitempty"` // the commits of the groups behind it
	// More are the targets of projects that the pull request changes in the group, and that were not planned
	// for Head.
	More []string `json:",omitempty"`
	// Looks is how often GitHub was asked about the group and did not know it.
	Looks int `json:",omitempty"`
}

// A GroupPlan is the result of comparing a run's plan with a plan from the commit of a merge group. The run's
// plan is identified by its hash.
type GroupPlan struct {
	Attempt int
	Hash    string
	Found   comment.QueuedPlan
}

// Of reports whether the comparison was made with the present plan of the run.
func (p GroupPlan) Of(r runs.Run) bool {
	return p.Hash != "" && p.Hash == r.Plan.Hash && p.Attempt == r.Asked.Attempt
}

// Groups reads and writes the records of merge groups.
type Groups struct{ Ledger Ledger }

func groupKey(p pipeline.Pull, sha string) string {
	return fmt.Sprintf("group/%d/%d/%s", p.Repo.ID, p.Number, sha)
}

// maxGroups is the maximum number of merge groups that are recorded for a pull request. GitHub creates a new
// group if the queue changes before the pull request is merged.
const maxGroups = 5

// maxBehind is the maximum number of groups after another one that are recorded. It is GitHub's maximum for the
// number of groups that are checked at the same time. Source:
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
const maxBehind = 100

// Add records a merge group of a pull request.
func (gs Groups) Add(ctx context.Context, g Group) error {
	err := gs.change(ctx, g.Pull, g.SHA, func(now *Group) {
		g.Gone, g.Looks = now.Gone, now.Looks
		g.Behind = slices.Compact(slices.Sorted(slices.Values(slices.Concat(now.Behind, g.Behind))))
		g.Behind = g.Behind[:min(len(g.Behind), maxBehind)]
		g.Left = now.Left && len(g.Behind) == len(now.Behind)
		*now = g
	})
	if err != nil {
		return err
	}
	return gs.Ledger.ChangeLook(ctx, g.Pull, func(l *Look) {
		if !slices.Contains(l.Groups, g.SHA) {
			l.Groups = append(l.Groups, g.SHA)
			l.Groups = l.Groups[max(len(l.Groups)-maxGroups, 0):]
		}
	})
}

// CountMiss records that GitHub was asked about a merge group and did not know it. It returns how often that
// has happened.
func (gs Groups) CountMiss(ctx context.Context, p pipeline.Pull, sha string) (n int, err error) {
	return n, gs.change(ctx, p, sha, func(g *Group) {
		g.Looks++
		n = g.Looks
	})
}

// End records that a merge group no longer exists on GitHub.
func (gs Groups) End(ctx context.Context, p pipeline.Pull, sha string) error {
	return gs.change(ctx, p, sha, func(g *Group) { g.Gone = true })
}

// Leave records that the checks of a group that is gone were written.
func (gs Groups) Leave(ctx context.Context, was Group) error {
	return gs.change(ctx, was.Pull, was.SHA, func(g *Group) { g.Left = len(g.Behind) == len(was.Behind) })
}

func (gs Groups) change(ctx context.Context, p pipeline.Pull, sha string, edit func(*Group)) error {
	return Edit(ctx, gs.Ledger, groupKey(p, sha), func(have *Group) *Group {
		g := cmp.Or(have, &Group{Pull: p, SHA: sha})
		edit(g)
		return g
	})
}

// Read returns a merge group; zero if it is not recorded.
func (gs Groups) Read(ctx context.Context, p pipeline.Pull, sha string) (g Group, err error) {
	return Get[Group](ctx, gs.Ledger, groupKey(p, sha))
}

// Plan returns the latest comparison of a run's plan for a merge group; the zero value if there is none.
func (gs Groups) Plan(ctx context.Context, r runs.Run, sha string) (p GroupPlan, err error) {
	return Get[GroupPlan](ctx, gs.Ledger, groupKey(r.Pull, sha)+"/"+r.Target())
}

// SavePlan records the comparison of a run's plan with the plan made for a merge group.
func (gs Groups) SavePlan(ctx context.Context, r runs.Run, sha string, p GroupPlan) error {
	return Edit(ctx, gs.Ledger, groupKey(r.Pull, sha)+"/"+r.Target(), func(*GroupPlan) *GroupPlan { return &p })
}
