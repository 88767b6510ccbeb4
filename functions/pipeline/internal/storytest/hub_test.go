package storytest

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
)

// hub is GitHub, whose calls are effects of the story.
type hub struct {
	dispatch.GitHub
	w *world
}

// seen carries out a call, unless the world decides otherwise.
func seen[T any](w *world, call string, f func() (T, error)) (T, error) {
	v := w.decide(memory.Effect{Call: call})
	if v.Undone != nil {
		var none T
		return none, fmt.Errorf("%s: %w", call, v.Undone)
	}
	out, err := f()
	if err == nil && v.Done != nil {
		err = fmt.Errorf("%s: %w", call, v.Done)
	}
	return out, err
}

func (h hub) PullRequest(ctx context.Context, number int) (github.PullRequest, error) {
	return seen(h.w, "read pull", func() (github.PullRequest, error) { return h.GitHub.PullRequest(ctx, number) })
}

func (h hub) MergeResult(ctx context.Context, number int) (github.Merge, error) {
	return seen(h.w, "read merge", func() (github.Merge, error) { return h.GitHub.MergeResult(ctx, number) })
}

func (h hub) Queue(ctx context.Context, number int) ([]github.Queued, error) {
	return seen(h.w, "read queue", func() ([]github.Queued, error) { return h.GitHub.Queue(ctx, number) })
}

func (h hub) Permission(ctx context.Context, login string) (github.Permission, error) {
	return seen(h.w, "read permission", func() (github.Permission, error) { return h.GitHub.Permission(ctx, login) })
}

func (h hub) ChangedFiles(ctx context.Context, number int) (paths []string, all bool, err error) {
	paths, err = seen(h.w, "read files", func() (paths []string, err error) {
		paths, all, err = h.GitHub.ChangedFiles(ctx, number)
		return paths, err
	})
	return paths, all, err
}

func (h hub) MergedOnto(ctx context.Context, number int) (onto, merge string, err error) {
	onto, err = seen(h.w, "read onto", func() (onto string, err error) {
		onto, merge, err = h.GitHub.MergedOnto(ctx, number)
		return onto, err
	})
	return onto, merge, err
}

func (h hub) Onto(ctx context.Context, sha string) (string, error) {
	return seen(h.w, "read parent", func() (string, error) { return h.GitHub.Onto(ctx, sha) })
}

func (h hub) Tip(ctx context.Context, branch string) (string, error) {
	return seen(h.w, "read tip", func() (string, error) { return h.GitHub.Tip(ctx, branch) })
}

func (h hub) File(ctx context.Context, sha, path string) ([]byte, error) {
	return seen(h.w, "read file", func() ([]byte, error) { return h.GitHub.File(ctx, sha, path) })
}

func (h hub) Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error) {
	return seen(h.w, "checkout", func() (github.Unpacked, error) { return h.GitHub.Checkout(ctx, sha, dir) })
}

func (h hub) Check(ctx context.Context, like github.Check) (github.Check, error) {
	return seen(h.w, "read check", func() (github.Check, error) { return h.GitHub.Check(ctx, like) })
}

func (h hub) PutCheck(ctx context.Context, id int64, c github.Check) (int64, error) {
	return seen(h.w, "check "+c.Name+" "+c.Title, func() (int64, error) { return h.GitHub.PutCheck(ctx, id, c) })
}

func (h hub) PutComment(ctx context.Context, number int, e github.Earlier, marker, body string) (int64, time.Time, error) {
	type written struct {
		id int64
		at time.Time
	}
	out, err := seen(h.w, "comment", func() (written, error) {
		id, at, err := h.GitHub.PutComment(ctx, number, e, marker, body)
		return written{id, at}, err
	})
	return out.id, out.at, err
}

func (h hub) PutIssue(ctx context.Context, number int, x github.Issue) (int, error) {
	return seen(h.w, "issue "+x.Title, func() (int, error) { return h.GitHub.PutIssue(ctx, number, x) })
}

func (h hub) Land(ctx context.Context, number int, sha, method string) error {
	_, err := seen(h.w, "merge pull", func() (any, error) { return nil, h.GitHub.Land(ctx, number, sha, method) })
	return err
}

func (h hub) DeleteBranch(ctx context.Context, number int, name, sha string) error {
	_, err := seen(h.w, "delete branch "+name, func() (any, error) { return nil, h.GitHub.DeleteBranch(ctx, number, name, sha) })
	return err
}

func (h hub) React(ctx context.Context, comment int64, r github.Reaction) error {
	_, err := seen(h.w, "react", func() (bool, error) { return true, h.GitHub.React(ctx, comment, r) })
	return err
}

func (h hub) Reviews(ctx context.Context, number int) ([]github.Review, error) {
	return seen(h.w, "read reviews", func() ([]github.Review, error) { return h.GitHub.Reviews(ctx, number) })
}
