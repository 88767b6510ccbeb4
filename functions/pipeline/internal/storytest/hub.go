package storytest

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
)

// Hub returns the repository h, whose requests pass through the gate g. The name of an effect contains the
// number of the pull request, the commit of the checkout, or the name of the check.
func Hub(h dispatch.GitHub, g memory.Gate) dispatch.GitHub { return hub{h, g} }

type hub struct {
	dispatch.GitHub
	gate memory.Gate
}

func (h hub) PullRequest(ctx context.Context, number int) (github.PullRequest, error) {
	return memory.Pass(ctx, h.gate, memory.Effect{Call: "read pull", Reads: true, With: number}, func(ctx context.Context) (github.PullRequest, error) { return h.GitHub.PullRequest(ctx, number) })
}

func (h hub) MergeResult(ctx context.Context, number int) (github.Merge, error) {
	return memory.Read(ctx, h.gate, "read merge", func(ctx context.Context) (github.Merge, error) { return h.GitHub.MergeResult(ctx, number) })
}

func (h hub) Queue(ctx context.Context, number int) ([]github.Queued, error) {
	return memory.Read(ctx, h.gate, "read queue", func(ctx context.Context) ([]github.Queued, error) { return h.GitHub.Queue(ctx, number) })
}

func (h hub) Permission(ctx context.Context, login string) (github.Permission, error) {
	return memory.Read(ctx, h.gate, "read permission", func(ctx context.Context) (github.Permission, error) { return h.GitHub.Permission(ctx, login) })
}

func (h hub) ChangedFiles(ctx context.Context, number int) (files []github.FileChange, all bool, err error) {
	files, err = memory.Read(ctx, h.gate, "read files", func(ctx context.Context) (files []github.FileChange, err error) {
		files, all, err = h.GitHub.ChangedFiles(ctx, number)
		return files, err
	})
	return files, all, err
}

func (h hub) MergedOnto(ctx context.Context, number int) (onto, merge string, err error) {
	onto, err = memory.Read(ctx, h.gate, "read onto", func(ctx context.Context) (onto string, err error) {
		onto, merge, err = h.GitHub.MergedOnto(ctx, number)
		return onto, err
	})
	return onto, merge, err
}

func (h hub) Onto(ctx context.Context, sha string) (string, error) {
	return memory.Read(ctx, h.gate, "read parent", func(ctx context.Context) (string, error) { return h.GitHub.Onto(ctx, sha) })
}

func (h hub) DefaultBranch(ctx context.Context) (name, tip string, err error) {
	name, err = memory.Read(ctx, h.gate, "read default branch", func(ctx context.Context) (name string, err error) {
		name, tip, err = h.GitHub.DefaultBranch(ctx)
		return name, err
	})
	return name, tip, err
}

func (h hub) IssueAsPull(ctx context.Context, number int) (github.PullRequest, error) {
	return memory.Read(ctx, h.gate, "read issue", func(ctx context.Context) (github.PullRequest, error) { return h.GitHub.IssueAsPull(ctx, number) })
}

func (h hub) Tip(ctx context.Context, branch string) (string, error) {
	return memory.Read(ctx, h.gate, "read tip", func(ctx context.Context) (string, error) { return h.GitHub.Tip(ctx, branch) })
}

func (h hub) File(ctx context.Context, sha, path string) ([]byte, error) {
	return memory.Read(ctx, h.gate, "read file", func(ctx context.Context) ([]byte, error) { return h.GitHub.File(ctx, sha, path) })
}

func (h hub) Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error) {
	return memory.Pass(ctx, h.gate, memory.Effect{Call: "checkout", Reads: true, With: sha}, func(ctx context.Context) (github.Unpacked, error) { return h.GitHub.Checkout(ctx, sha, dir) })
}

func (h hub) Check(ctx context.Context, like github.Check) (github.Check, error) {
	return memory.Read(ctx, h.gate, "read check", func(ctx context.Context) (github.Check, error) { return h.GitHub.Check(ctx, like) })
}

func (h hub) PutCheck(ctx context.Context, id int64, c github.Check) (int64, error) {
	return memory.Pass(ctx, h.gate, memory.Effect{Call: "check " + c.Name + " " + c.Title, With: c}, func(ctx context.Context) (int64, error) { return h.GitHub.PutCheck(ctx, id, c) })
}

func (h hub) PutComment(ctx context.Context, number int, e github.Earlier, marker, body string) (int64, time.Time, error) {
	type written struct {
		id int64
		at time.Time
	}
	out, err := memory.Pass(ctx, h.gate, memory.Effect{Call: "comment"}, func(ctx context.Context) (written, error) {
		id, at, err := h.GitHub.PutComment(ctx, number, e, marker, body)
		return written{id, at}, err
	})
	return out.id, out.at, err
}

func (h hub) Minimize(ctx context.Context, comment int64) error {
	return h.gate(ctx, memory.Effect{Call: "minimize"}, func(ctx context.Context) error { return h.GitHub.Minimize(ctx, comment) })
}

func (h hub) PutIssue(ctx context.Context, number int, x github.Issue) (int, error) {
	return memory.Pass(ctx, h.gate, memory.Effect{Call: "issue " + x.Title}, func(ctx context.Context) (int, error) { return h.GitHub.PutIssue(ctx, number, x) })
}

func (h hub) Propose(ctx context.Context, p github.Proposal) (number int, own bool, err error) {
	number, err = memory.Pass(ctx, h.gate, memory.Effect{Call: "propose " + p.Files[0].Path + " from " + p.Branch}, func(ctx context.Context) (number int, err error) {
		number, own, err = h.GitHub.Propose(ctx, p)
		return number, err
	})
	return number, own, err
}

func (h hub) Land(ctx context.Context, number int, sha, method string) error {
	return h.gate(ctx, memory.Effect{Call: "merge pull"}, func(ctx context.Context) error { return h.GitHub.Land(ctx, number, sha, method) })
}

func (h hub) DeleteBranch(ctx context.Context, number int, name, sha string) error {
	return h.gate(ctx, memory.Effect{Call: "delete branch " + name}, func(ctx context.Context) error { return h.GitHub.DeleteBranch(ctx, number, name, sha) })
}

func (h hub) React(ctx context.Context, comment int64, r github.Reaction) error {
	return h.gate(ctx, memory.Effect{Call: "react"}, func(ctx context.Context) error { return h.GitHub.React(ctx, comment, r) })
}

func (h hub) Reviews(ctx context.Context, number int) ([]github.Review, error) {
	return memory.Read(ctx, h.gate, "read reviews", func(ctx context.Context) ([]github.Review, error) { return h.GitHub.Reviews(ctx, number) })
}

func (h hub) Confirm(ctx context.Context, number int) error {
	return h.gate(ctx, memory.Effect{Call: "read whether it is open", Reads: true}, func(ctx context.Context) error { return h.GitHub.Confirm(ctx, number) })
}

func (h hub) Written(ctx context.Context, number int, s github.Source) (github.Comment, error) {
	return memory.Read(ctx, h.gate, "read comment", func(ctx context.Context) (github.Comment, error) { return h.GitHub.Written(ctx, number, s) })
}

func (h hub) Reports(ctx context.Context, sha string) ([]github.Report, error) {
	return memory.Read(ctx, h.gate, "read reports", func(ctx context.Context) ([]github.Report, error) { return h.GitHub.Reports(ctx, sha) })
}

func (h hub) PutDeployment(ctx context.Context, d github.Deployment) error {
	return h.gate(ctx, memory.Effect{Call: "deployment " + string(d.State)}, func(ctx context.Context) error { return h.GitHub.PutDeployment(ctx, d) })
}
