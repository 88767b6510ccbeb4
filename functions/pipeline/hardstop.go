package pipeline

import (
	"context"
	"time"
)

type hardStop struct{}

// WithHardStop returns a context with the time end, at which this process has certainly ended. It is later than
// the deadline of ctx; in between, the process records its result.
func WithHardStop(ctx context.Context, end time.Time) context.Context {
	return context.WithValue(ctx, hardStop{}, end)
}

// HardStop returns the time at which the process that works with ctx has certainly ended. [WithHardStop] sets
// it. Without that, HardStop returns the deadline of ctx, or the zero time if ctx has none.
func HardStop(ctx context.Context) time.Time {
	if end, ok := ctx.Value(hardStop{}).(time.Time); ok {
		return end.UTC()
	}
	end, _ := ctx.Deadline()
	return end.UTC()
}
