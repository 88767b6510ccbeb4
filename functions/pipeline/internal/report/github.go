package report

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// Hub is the part of GitHub's API for everything that people read on a pull request. Repeating a write has no
// further effect.
type Hub interface {
	// PutComment writes the comment that begins with a marker. at is the time at which its present text was
	// written, by GitHub's clock.
	PutComment(ctx context.Context, number int, e github.Earlier, marker, body string) (id int64, at time.Time, err error)
	React(ctx context.Context, comment int64, r github.Reaction) error
	// PutCheck writes a check run and returns its ID. With id 0 it writes our check run with c's name and
	// external ID on c's commit, and creates it if there is none.
	PutCheck(ctx context.Context, id int64, c github.Check) (int64, error)
	// PutIssue writes an issue and returns its number; 0 if there is none. With number 0 it writes our open
	// issue with x's marker, and creates it if there is none.
	PutIssue(ctx context.Context, number int, x github.Issue) (int, error)
	// Reviews returns the reviews that count now, one for each reviewer.
	Reviews(ctx context.Context, number int) ([]github.Review, error)
}
