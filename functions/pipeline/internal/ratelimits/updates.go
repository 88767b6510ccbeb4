package ratelimits

import (
	"maps"
	"time"
)

// A bucket limits writes: burst may come at once, and after that one in each gap.
type bucket struct {
	burst int
	gap   time.Duration
}

// GitHub accepts 80 writes a minute and 500 an hour from an installation. Updates about applies and plans in
// progress take at most 60 a minute and 400 an hour, so that results always find room. A part is reserved for the
// first update about a pull request with an apply, so that no reader waits for it because of applies that began
// before. Updates about plans yield to those about applies: they take only from the first half of the burst of
// nextUpdates, and are reserved at most maxPlanWait ahead.
//
// Source:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
var (
	firstUpdates = bucket{burst: 20, gap: time.Hour / 60}
	nextUpdates  = bucket{burst: 30, gap: time.Hour / 280}
)

// take takes n writes. full is the time from which the whole burst is available. It returns the new value of
// full, and the time from which the writes are allowed.
func (b bucket) take(full, now time.Time, n int) (_, at time.Time) {
	if full.Before(now) {
		full = now
	}
	full = full.Add(b.gap * time.Duration(n))
	return full, full.Add(-b.gap * time.Duration(b.burst))
}

// FirstUpdate is how long an apply or a plan is in progress before the first update about it. Most of them end before
// that.
const FirstUpdate = 5 * time.Second

// maxPlanWait is how far ahead an update about plans is reserved at most. In this time, nextUpdates allows fewer
// writes than half of its burst. So an update about an apply never waits for one about a plan.
const maxPlanWait = 2 * time.Minute

// retryPlans is how long nobody asks for an update about the plans of a pull request, after one was not available.
const retryPlans = time.Minute

// updatePauses are the shortest times between two updates about a pull request; the last one is repeated. So a
// reader who waits for a short apply sees it move, and a long apply costs one update a minute.
var updatePauses = []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute}

// An Extent says what is written about the applies and plans in progress of a pull request.
type Extent string

const (
	AnswerOnly  Extent = "answer"   // the answers to commands
	AndComments Extent = "comments" // the status comment, too
	AndChecks   Extent = "checks"   // the status comment, and the check run of the project that asks, too
)

// writes returns how many requests with changes GitHub gets for an extent of an update about the work.
func (w Work) writes(e Extent) int {
	if w.Unanswered {
		return e.writes() - 1
	}
	return e.writes()
}

// A Work is what is in progress when somebody asks for an update about a pull request.
type Work struct {
	// Began is the time at which it began.
	Began time.Time
	// Plan is set for a plan. Unanswered is set if there is no answer to a command in which people read of it, so
	// that the smallest update is that of the status comment.
	Plan, Unanswered bool
}

// writes returns how many requests with changes GitHub gets for an extent.
func (e Extent) writes() int {
	return map[Extent]int{AnswerOnly: 1, AndComments: 3, AndChecks: 4}[e]
}

// Updates is the record of the updates about all applies and plans in progress of an installation. Each pull
// request has one reserved update, and its readers know when that comes. All processes that apply and plan projects
// of a pull request share its updates.
type Updates struct {
	// FirstFull and NextFull are the times from which the whole burst of first updates, and of others, is
	// available.
	FirstFull, NextFull time.Time
	// Taken are the writes of comments within the last minute, and those that are reserved for results, in the order of
	// their times.
	Taken []Taken `json:",omitempty"`
	// Pulls are the pull requests with applies or plans in progress, by a name for the pull request.
	Pulls map[string]PullUpdates `json:",omitempty"`
}

// PullUpdates says when the next update about a pull request is due.
type PullUpdates struct {
	// Next is the time of the next update, and Extent what it writes. Extent is "" if no update about plans was
	// available: at the time Next, the next one may be.
	Next   time.Time
	Extent Extent
	// Made is the number of updates so far. Last is the time of the latest. Turn is a small number that differs
	// between pull requests, so that they do not all have a large update in the same round.
	Made int       `json:",omitempty"`
	Last time.Time `json:",omitzero"`
	Turn int       `json:",omitempty"`
}

// largeEach is how many updates about a pull request there are for each one with the status comment, while there are
// many applies.
const largeEach = 8

// maxUpdatedPulls is the maximum number of pull requests in the record of updates, so that the record stays
// small. Others get no updates until one of these has ended.
const maxUpdatedPulls = 500

// updatesKept is how long a reserved update is kept that no process makes, because the apply has ended.
const updatesKept = 2 * time.Minute

// Ask asks for an update about the work in progress of a pull request. If the update is due, it returns its extent,
// and the record with the next one reserved. If not, the extent is "". next is the time from which a further question
// is useful.
func (u Updates) Ask(pull string, w Work, now time.Time) (_ Updates, _ Extent, next time.Time) {
	u.Pulls = maps.Clone(u.Pulls)
	maps.DeleteFunc(u.Pulls, func(name string, p PullUpdates) bool { return name != pull && now.Sub(p.Next) > updatesKept })
	p, known := u.Pulls[pull]
	if !known && len(u.Pulls) >= maxUpdatedPulls {
		return u, "", now.Add(10 * time.Minute)
	}
	if u.Pulls == nil {
		u.Pulls = map[string]PullUpdates{}
	}
	if !known && !w.Plan {
		u.Taken = take(u.Taken, Taken{w.Began, beginningWrites}, now)
	}
	switch {
	// An update that was reserved for an earlier apply may come late for this one. The plans of a push begin one
	// after the other, so their updates go on.
	case !known || now.Sub(p.Next) > updatesKept || !w.Plan && p.Made > 0 && w.Began.After(p.Last):
		p = u.reserve(PullUpdates{Turn: len(u.Pulls) % largeEach}, w, now, now)
	case p.Extent == "" && (!w.Plan || !now.Before(p.Next)): // an apply does not wait for what no plan got
		p = u.reserve(p, w, now, now)
	}
	if now.Before(p.Next) {
		u.Pulls[pull] = p
		return u, "", p.Next
	}
	if at := room(u.Taken, now, w.writes(p.Extent)); p.Made > 0 && at.After(now) {
		p.Next = at
		u.Pulls[pull] = p
		return u, "", at
	}
	u.Taken = take(u.Taken, Taken{now, w.writes(p.Extent)}, now)
	extent := p.Extent
	pause := updatePauses[min(p.Made, len(updatePauses)-1)]
	p.Made, p.Last = p.Made+1, now
	p = u.reserve(p, w, now.Add(pause), now)
	u.Pulls[pull] = p
	return u, extent, p.Next
}

// Pause returns the record with no update before the time until.
func (u Updates) Pause(until time.Time) Updates {
	later := func(t, least time.Time) time.Time {
		if t.Before(least) {
			return least
		}
		return t
	}
	u.FirstFull = later(u.FirstFull, until.Add(firstUpdates.gap*time.Duration(firstUpdates.burst)))
	u.NextFull = later(u.NextFull, until.Add(nextUpdates.gap*time.Duration(nextUpdates.burst)))
	u.Pulls = maps.Clone(u.Pulls)
	for name, p := range u.Pulls {
		p.Next = later(p.Next, until)
		u.Pulls[name] = p
	}
	return u
}

// reserve returns p with the next update reserved, at the time want or later. The first update is only in the
// answer, if there is one. The others are as large as the budget permits: if less than half of the burst is left, only
// the second and then one in largeEach have the status comment, too. For plans, it is a quarter of the burst.
func (u *Updates) reserve(p PullUpdates, w Work, want, now time.Time) PullUpdates {
	ample := nextUpdates.gap * time.Duration(nextUpdates.burst) / 2
	if w.Plan {
		ample /= 2
	}
	p.Extent = AnswerOnly
	switch {
	case p.Made == 0:
	case u.NextFull.Sub(now) <= ample:
		p.Extent = AndChecks
	case p.Made == 1 || (p.Made+p.Turn)%largeEach == 0:
		p.Extent = AndComments
	}
	if w.Unanswered && p.Extent == AnswerOnly {
		p.Extent = AndComments
	}
	var at time.Time
	switch {
	case w.Plan:
		var full time.Time
		full, at = bucket{nextUpdates.burst / 2, nextUpdates.gap}.take(u.NextFull, now, w.writes(p.Extent))
		if at.Sub(now) > maxPlanWait {
			p.Extent, p.Next = "", now.Add(retryPlans)
			return p
		}
		u.NextFull = full
	case p.Made == 0:
		u.FirstFull, at = firstUpdates.take(u.FirstFull, now, p.Extent.writes())
	default:
		u.NextFull, at = nextUpdates.take(u.NextFull, now, p.Extent.writes())
	}
	p.Next = want
	if at.After(want) {
		p.Next = at
	}
	return p
}
