package ratelimits

import "time"

// LookEvery is the shortest time between two looks at a pull request that webhooks have caused. Each look
// costs some ten requests, and check runs come by the hundred.
const LookEvery = 10 * time.Second

// A Pause limits looks. The first Burst looks are made as soon as possible, and after them one look in each
// Gap. While fewer looks are made, the burst becomes available again. Gap is a number of LookEvery intervals.
type Pause struct{ Burst, Gap int }

// OfPull and OfRepository are the pauses of a pull request and of a repository. They allow a repository about
// 2,500 requests an hour. That is half of the 5,000 that every installation has at least. Source:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
var (
	OfPull       = Pause{Burst: 10, Gap: 6}
	OfRepository = Pause{Burst: 60, Gap: 2}
)

// Looks is the record of the looks at one pull request, or in one repository.
type Looks struct {
	// Began is the time of the last look. The look has read all changes that were reported before that time.
	Began time.Time `json:",omitzero"`
	// Due is the time of the next look; zero if none is planned.
	Due time.Time `json:",omitzero"`
	// Full is the time at which the whole burst is available again.
	Full time.Time `json:",omitzero"`
}

// Seen reports whether the last look began after a report that we have received at the given time. The clocks
// of the two processes may differ by half of the parameter every.
func (l Looks) Seen(received time.Time, every time.Duration) bool {
	return l.Began.Sub(received) > every/2
}

// Next reserves the next look, and returns the record with it, and the time from which on the look is allowed.
func (l Looks) Next(now time.Time, every time.Duration, p Pause) (Looks, time.Time) {
	at, gap := now, every*time.Duration(p.Gap)
	full := now
	if l.Full.After(full) {
		full = l.Full
	}
	if x := full.Add(-gap * time.Duration(p.Burst-1)); x.After(at) {
		at = x
	}
	l.Full = full.Add(gap)
	return l, at
}
