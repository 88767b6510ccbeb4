package jobs

import "time"

// Times are the stages in which an apply comes to its end before it is done. Zero times are never.
type Times struct {
	// StopStarting is when it begins no more changes; those under way are completed.
	StopStarting time.Time
	// StopCalls is when providers are asked to end the calls that are still under way.
	StopCalls time.Time
	// End is when its process is killed, with all that it has started. A call that is under
	// way even then is an open one in the journal.
	End time.Time
	// HardStop is when the function itself ends, whatever it does.
	HardStop time.Time
}

// TimesBefore returns the stages of an apply whose process has until end: it begins no more changes
// for the time before that, and providers have half of it to end their calls.
func TimesBefore(end, hardStop time.Time, before time.Duration) Times {
	return Times{StopStarting: end.Add(-before), StopCalls: end.Add(-before / 2), End: end, HardStop: hardStop}
}
