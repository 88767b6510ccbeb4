// Package ratelimits is the limit of comments with commands that one person makes on one pull request, of looks at a pull request, and of what a repository
// uses of GitHub's requests, as data and decisions without effects. It refuses to know the commands. Start at [Pace].
package ratelimits

import (
	"slices"
	"time"
)

// MaxCommands is the default maximum of comments with commands that one person may make on one pull
// request within Window: more than anybody types, and few enough that a loop does not delay
// everybody else.
const MaxCommands = 30

// MaxStrangers and MaxStrangersHere are the default maxima of answers within Window to all who may not write together: on one pull request, and
// in one repository. On a public one that is anybody, with any number of accounts, and each answer uses up what GitHub lets an App write.
const (
	MaxStrangers     = 1
	MaxStrangersHere = 20
)

// StrangerFor is how long somebody who was found without the right to write is taken for a stranger once the answers to strangers are used
// up: a comment then costs no request to GitHub, and whoever gets the right is heard soon.
const StrangerFor = 10 * time.Minute

// Window is the time in which comments are counted.
const Window = time.Hour

// A Pace counts the commands of one person on one pull request within Window, by GitHub's
// clock. Each person has one, so that nobody can use up the limit of others.
type Pace struct {
	Asked []Asked // comments that were admitted, in order of arrival
	// Answered is the comment that was answered with a reference to the limit; zero if none was.
	Answered Asked `json:"Told"`
}

// An Asked is one comment, by the ID of the message that brought it.
type Asked struct {
	ID string
	At time.Time
}

// An Admission is the decision about a comment with commands.
type Admission string

const (
	Admitted Admission = "carry it out"
	TooMany  Admission = "say that it is too much"
	Ignored  Admission = "pass over it" // as it was said already
)

// Next decides about a comment, of which max are admitted within the window, and returns the pace
// that includes it. It decides about a comment that comes a second time as it did before.
func (p Pace) Next(x Asked, max int) (Pace, Admission) {
	old := func(y Asked) bool { return !y.At.After(x.At.Add(-Window)) }
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

// Free is the earliest time at which another comment is admitted after the limit was reached.
func (p Pace) Free() time.Time {
	if len(p.Asked) == 0 {
		return time.Time{}
	}
	first := slices.MinFunc(p.Asked, func(x, y Asked) int { return x.At.Compare(y.At) })
	return first.At.Add(Window)
}
