package report

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// Hub has those requests to GitHub's API by which Lockstep writes what people read on a pull request. A write
// that is repeated has no further effect.
type Hub interface {
	// PutComment writes the comment that begins with marker, and creates it if there is none. at is the time at
	// which its present text was written, by GitHub's clock.
	PutComment(ctx context.Context, number int, e github.Earlier, marker, body string) (id int64, at time.Time, err error)
	// Minimize folds a comment of Lockstep.
	Minimize(ctx context.Context, comment int64) error
	React(ctx context.Context, comment int64, r github.Reaction) error
	// PutCheck writes a check run and returns its ID. With id 0 it writes Lockstep's check run with the name
	// and the external ID of c on the commit of c, and creates it if there is none.
	PutCheck(ctx context.Context, id int64, c github.Check) (int64, error)
	// PutIssue writes an issue and returns its number; 0 if there is none. With number 0 it writes Lockstep's
	// open issue with the marker of x, and creates it if there is none.
	PutIssue(ctx context.Context, number int, x github.Issue) (int, error)
	// Reviews returns the reviews that count now, one for each reviewer.
	Reviews(ctx context.Context, number int) ([]github.Review, error)
}
