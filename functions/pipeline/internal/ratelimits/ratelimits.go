// Package ratelimits decides about four limits: for comments with commands by one person on one pull request, for
// reads of a pull request, for a repository's use of GitHub's requests, and for updates about applies in progress.
// It has data and decisions, and no effects. It does not know the commands. Start reading at [Pace].
package ratelimits

import (
	"slices"
	"time"
)

// MaxCommands is the default maximum number of comments with commands by one person on one pull request within
// Window. No person types more. Comments that a program writes in a loop do not delay other people much.
const MaxCommands = 30

// Default maximum numbers of answers within Window, for all people without write access together: MaxStrangers
// on one pull request, MaxStrangersHere in one repository. In a public repository these people can be anybody,
// with any number of accounts, and GitHub limits how many comments an App may write.
const (
	MaxStrangers     = 1
	MaxStrangersHere = 20
)

// StrangerFor is how long Lockstep assumes that a person still has no write access, after it has found that
// out. It assumes this only if the limit of answers to people without write access is reached. During that
// time, comments of this person cost no request to GitHub. It is short, so that a person who gets write access
// is soon answered.
const StrangerFor = 10 * time.Minute

// Window is the time in which comments are counted.
const Window = time.Hour

// A Pace counts the comments with commands by one person on one pull request within Window, by GitHub's clock.
// Each person has a separate Pace, so nobody can use up the limit of others.
type Pace struct {
	Asked []Asked // admitted comments, in order of arrival
	// Answered is the comment that was answered with a text about the limit; zero if there is none.
	Answered Asked `json:"Told"`
}

// An Asked is a comment, identified by the ID of its message.
type Asked struct {
	ID string
	At time.Time
}

// An Admission is the decision whether to carry out the commands of a comment.
type Admission string

const (
	Admitted Admission = "carry it out"
	TooMany  Admission = "say that it is too much"
	Ignored  Admission = "pass over it" // the person was told about the limit before
)

// Next decides about a comment, and returns the Pace in which the comment is counted. max is the number of
// comments that are allowed within the window. For a repeated comment it returns the same decision as the first
// time.
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

// Free returns the earliest time at which another comment is allowed, after the limit was reached.
func (p Pace) Free() time.Time {
	if len(p.Asked) == 0 {
		return time.Time{}
	}
	first := slices.MinFunc(p.Asked, func(x, y Asked) int { return x.At.Compare(y.At) })
	return first.At.Add(Window)
}
