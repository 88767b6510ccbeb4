package jobs

import "time"

// Times are the times at which an apply that takes too long is ended, step by step. A zero time means that the
// step never happens.
type Times struct {
	// StopStarting is when the apply begins no more changes. Changes in progress are completed.
	StopStarting time.Time
	// StopCalls is when providers are asked to end the calls that are still in progress.
	StopCalls time.Time
	// End is the time at which the process is killed, with all processes that it has started. The journal
	// records a call that is still in progress as unfinished.
	End time.Time
	// HardStop is the time at which Lockstep's own process has certainly ended, such as the end of a Lambda
	// invocation.
	HardStop time.Time
}

// TimesBefore returns the stages of an apply whose process is killed at end. The apply starts no changes after end
// minus before, and providers are asked to end their calls at end minus half of before. For example, with before =
// 2 minutes they are asked 1 minute before end. hardStop is [Times.HardStop].
func TimesBefore(end, hardStop time.Time, before time.Duration) Times {
	return Times{StopStarting: end.Add(-before), StopCalls: end.Add(-before / 2), End: end, HardStop: hardStop}
}
