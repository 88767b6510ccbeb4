package evidence

import (
	"context"
	"time"
)

// A Group is the merge group of a pull request as GitHub has it.
type Group struct {
	SHA    string    // its commit; "" if there is none
	At     time.Time // since when the pull request is in the queue, by GitHub's clock
	Ahead  []int     // the pull requests before it in the queue, which it has, too
	Behind []string  // the commits of those behind it, which have this pull request, too
}

// MergeGroup returns the merge group of a pull request as GitHub has it now. The name of a group in a webhook is a hint.
func MergeGroup(ctx context.Context, e *Reader) (g Group, err error) {
	queue, err := e.Hub.Queue(ctx, e.Message.Pull.Number)
	for _, q := range queue {
		switch {
		case q.Number == e.Message.Pull.Number:
			g.SHA, g.At = q.SHA, q.At
		case g.SHA == "":
			g.Ahead = append(g.Ahead, q.Number)
		case q.SHA != "":
			g.Behind = append(g.Behind, q.SHA)
		}
	}
	if g.SHA == "" {
		return Group{}, err
	}
	return g, err
}
