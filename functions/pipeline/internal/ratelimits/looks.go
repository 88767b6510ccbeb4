package ratelimits

import "time"

// LookEvery is the least time between two looks at a pull request that follow reports of GitHub. Each look
// costs some ten requests, and check runs come by the hundred.
const LookEvery = 10 * time.Second

// A Pause is the rule for looks. The first Burst of them come as soon as possible, and further ones one each
// Gap. The burst refills with time. Gap is a multiple of LookEvery.
type Pause struct{ Burst, Gap int }

// OfPull and OfRepository are the pauses of a pull request and of a repository. They allow a repository some
// 2,500 requests an hour, half of the 5,000 that GitHub gives an installation at least. Source:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
var (
	OfPull       = Pause{Burst: 10, Gap: 6}
	OfRepository = Pause{Burst: 60, Gap: 2}
)

// Looks are the looks at one pull request, or in one repository.
type Looks struct {
	// Began is the time of the last look. The look has seen everything that was reported before.
	Began time.Time `json:",omitzero"`
	// Due is the time of the next look; zero if nobody waits for one.
	Due time.Time `json:",omitzero"`
	// Full is the time at which the whole burst is available again.
	Full time.Time `json:",omitzero"`
}

// Seen reports whether the last look came after a report. The two clocks may differ by half of every.
func (l Looks) Seen(told time.Time, every time.Duration) bool {
	return l.Began.Sub(told) > every/2
}

// Next takes the next look, and returns its time.
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
