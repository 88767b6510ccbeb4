package ratelimits

import "time"

// LookEvery is the minimum time between two reads of a pull request because of webhooks. A read costs about ten
// requests to GitHub, and webhooks about check runs come by the hundred.
const LookEvery = 10 * time.Second

// A Pause limits how often a pull request is read. The first Burst reads are made as soon as possible, and
// after that, one read in each Gap. When there are fewer reads, the Burst becomes available once more. Gap is a
// number of LookEvery intervals.
type Pause struct{ Burst, Gap int }

// OfPull and OfRepository limit the reads of one pull request and of one repository. They allow a repository
// about 2,500 requests to GitHub in an hour. That is half of the 5,000 that every installation has at least.
// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
var (
	OfPull       = Pause{Burst: 10, Gap: 6}
	OfRepository = Pause{Burst: 60, Gap: 2}
)

// Looks is the record that says when a pull request is read, or pull requests of a repository.
type Looks struct {
	// Began is the time at which the pull request was last read. All changes that were reported before this
	// time were read.
	Began time.Time `json:",omitzero"`
	// Due is the time at which the pull request will be read next; zero if that is not planned.
	Due time.Time `json:",omitzero"`
	// Full is the time from which the whole Burst is available once more.
	Full time.Time `json:",omitzero"`
}

// Seen reports whether the pull request was read after the time received, at which Lockstep got a webhook. The
// clocks of the two processes may differ by half of every.
func (l Looks) Seen(received time.Time, every time.Duration) bool {
	return l.Began.Sub(received) > every/2
}

// Next reserves the next read. It returns the changed record, and the time from which the read is allowed.
// every is as LookEvery.
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
