package ratelimits

import "time"

// LookEvery is the least time between two looks at a pull request because of what GitHub tells of: each look costs some ten requests that
// count, and check runs come by the hundred.
const LookEvery = 10 * time.Second

// A Pause is the rule for looks: the first Burst of them as soon as they may be, the further ones one each Gap. The rest of a burst
// comes back with time. Gap is a multiple of LookEvery.
type Pause struct{ Burst, Gap int }

// The pauses of a pull request and of a repository leave a repository some 2,500 requests an hour, half of the 5,000 that GitHub gives an
// installation at least.
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
var (
	OfPull       = Pause{Burst: 10, Gap: 6}
	OfRepository = Pause{Burst: 60, Gap: 2}
)

// Looks are those at one pull request, or in one repository.
type Looks struct {
	// Began is the time of the last look: whatever was told before, it has seen.
	Began time.Time `json:",omitzero"`
	// Due is the time at which the next look is made; zero if nobody waits for one.
	Due time.Time `json:",omitzero"`
	// Full is the time at which the whole burst is back.
	Full time.Time `json:",omitzero"`
}

// Seen reports whether the last look was after something was told of, by clocks that may be apart by half of every.
func (l Looks) Seen(told time.Time, every time.Duration) bool {
	return l.Began.Sub(told) > every/2
}

// Next takes the next look, and returns the time for it.
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
