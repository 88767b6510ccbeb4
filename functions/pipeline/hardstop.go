package pipeline

import (
	"context"
	"time"
)

type hardStop struct{}

// WithHardStop returns a context with end, the moment at which the process has certainly ended. It is later
// than the deadline of ctx: the time between the two is for recording the outcome.
func WithHardStop(ctx context.Context, end time.Time) context.Context {
	return context.WithValue(ctx, hardStop{}, end)
}

// HardStop returns the moment at which the process of ctx certainly ends. If [WithHardStop] did not set the
// moment, HardStop returns the deadline of ctx, or the zero time if ctx has none.
func HardStop(ctx context.Context) time.Time {
	if end, ok := ctx.Value(hardStop{}).(time.Time); ok {
		return end.UTC()
	}
	end, _ := ctx.Deadline()
	return end.UTC()
}
