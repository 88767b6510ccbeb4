package runs

import (
	"slices"
	"time"
)

// MaxCommands is how many comments with commands of one person on one pull request are
// carried out within PaceWindow, if nothing else is said: more than anybody types, and
// few enough that a loop does not keep everybody else waiting.
const MaxCommands = 30

// PaceWindow is the time in which they are counted.
const PaceWindow = time.Hour

// A Pace is what one person asked for on one pull request within PaceWindow, by GitHub's
// clock. It is counted a person, so that nobody can keep others from asking.
type Pace struct {
	Asked []Asked // what was carried out, in the order of its coming
	// Answered is what was answered with that it is too much. The zero value is nothing.
	Answered Asked `json:"Told"`
}

// An Asked is one comment, by the ID of the message that brought it.
type Asked struct {
	ID string
	At time.Time
}

// An Admission says what to do about a comment with commands.
type Admission string

const (
	Admitted Admission = "carry it out"
	TooMany  Admission = "say that it is too much"
	Ignored  Admission = "pass over it" // as it was said already
)

// Next decides about what is asked, of which max are carried out within the window, and
// returns the pace with it. About one that was decided about it decides the same again.
func (p Pace) Next(x Asked, max int) (Pace, Admission) {
	old := func(y Asked) bool { return !y.At.After(x.At.Add(-PaceWindow)) }
	same := func(y Asked) bool { return y.ID == x.ID }
	if slices.ContainsFunc(p.Asked, same) {
		return p, Admitted
	}
	if same(p.Answered) {
		return p, TooMany
	}
	next := Pace{Asked: slices.DeleteFunc(slices.Clone(p.Asked), old), Answered: p.Answered}
	if len(next.Asked) < max {
		next.Asked = append(next.Asked, x)
		return next, Admitted
	}
	if old(p.Answered) {
		next.Answered = x
		return next, TooMany
	}
	return next, Ignored
}

// Free is when the next comment can be carried out, where there were too many.
func (p Pace) Free() time.Time {
	if len(p.Asked) == 0 {
		return time.Time{}
	}
	first := slices.MinFunc(p.Asked, func(x, y Asked) int { return x.At.Compare(y.At) })
	return first.At.Add(PaceWindow)
}
