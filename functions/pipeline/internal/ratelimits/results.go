package ratelimits

import (
	"slices"
	"time"
)

const (
	// commentsPerMinute is the maximum number of writes of comments within a minute, while many pull requests are planned
	// or applied. GitHub accepts 80 writes a minute. The others are for the check runs of projects, which never wait: a
	// merge may wait for them.
	commentsPerMinute = 52
	// resultWrites is the number of writes of comments after a step of a pull request: the status comment, the check of
	// the head, the answer, and the reaction to the command.
	resultWrites = 4
	// beginningWrites is the number of writes of comments and checks about a command and the beginning of its apply.
	beginningWrites = 6
	// manyPulls is the number of pull requests in progress from which results are spread. Fewer do not reach GitHub's limit.
	manyPulls = 6
)

// MaxHeld is the longest time for which a result waits for its turn. After that, GitHub's own limit decides.
const MaxHeld = 2 * time.Minute

// Taken are N writes at a time.
type Taken struct {
	At time.Time
	N  int
}

// take returns the writes with one more, in the order of their times, without those of an earlier minute.
func take(all []Taken, more Taken, now time.Time) []Taken {
	var out []Taken
	for _, x := range append(slices.Clone(all), more) {
		if x.N > 0 && now.Sub(x.At) < time.Minute {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Taken) int { return a.At.Compare(b.At) })
	return out
}

// writesAt returns the number of writes within the minute that ends at a time.
func writesAt(all []Taken, at time.Time) (n int) {
	for _, x := range all {
		if !x.At.After(at) && at.Sub(x.At) < time.Minute {
			n += x.N
		}
	}
	return n
}

// room returns the first time, from the given one on, at which n more writes keep within the limit. all are in the order
// of their times.
func room(all []Taken, from time.Time, n int) time.Time {
	for _, x := range all {
		if writesAt(all, from)+n <= commentsPerMinute {
			break
		}
		if end := x.At.Add(time.Minute); end.After(from) {
			from = end
		}
	}
	return from
}

// Result reserves the writes of comments after a step of a pull request, such as the result of an apply. at is the time
// of its turn: results have their turns in the order in which they ask. Few pull requests in progress need no turns; the
// record then stays as it is.
func (u Updates) Result(now time.Time) (_ Updates, at time.Time) {
	busy := 0
	for _, p := range u.Pulls {
		if now.Sub(p.Next) <= updatesKept {
			busy++
		}
	}
	if busy < manyPulls {
		return u, now
	}
	all := take(u.Taken, Taken{}, now)
	from := now
	if n := len(all); n > 0 && all[n-1].At.After(now) {
		from = all[n-1].At // the turn of the last result
	}
	at = room(all, from, resultWrites)
	if at.Sub(now) > MaxHeld {
		at = now.Add(MaxHeld)
	}
	u.Taken = take(all, Taken{at, resultWrites}, now)
	return u, at
}
