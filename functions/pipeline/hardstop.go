package pipeline

import (
	"context"
	"time"
)

type hardStop struct{}

// WithHardStop returns a context that knows the certain end of the process, which is later than
// its deadline: in between there is time to write down the outcome.
func WithHardStop(ctx context.Context, end time.Time) context.Context {
	return context.WithValue(ctx, hardStop{}, end)
}

// HardStop returns the certain end of the process that ctx belongs to, or the deadline of ctx; zero
// if it has none.
func HardStop(ctx context.Context) time.Time {
	if end, ok := ctx.Value(hardStop{}).(time.Time); ok {
		return end.UTC()
	}
	end, _ := ctx.Deadline()
	return end.UTC()
}
