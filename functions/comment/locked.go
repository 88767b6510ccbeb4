package comment

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Locked reports that a person keeps other pull requests from applying to the state of a project. Workspace is that of the
// project where another one of the pull request has its name, "" elsewhere.
type Locked struct {
	Project, Because string
	Workspace        string `json:",omitempty"`
}

func (l Locked) markdown() string {
	p := ProjectStatus{Name: l.Project, Workspace: l.Workspace}
	return fmt.Sprintf("**Locked** %s: %s. Until %s here, the merge or the close of this pull request, no other one is applied to its state. Pushes do not lift it.",
		markdown.Code(p.Label()), markdown.Code(l.Because), p.command(Unlock))
}

// Lifted reports that the lock of a person is lifted.
type Lifted struct {
	Project, By, Because string // of the lock
	// Applying is the login of the user who has asked for the apply that is under way; "" if none is.
	Applying string `json:",omitempty"`
}

func (l Lifted) markdown() string {
	text := fmt.Sprintf("**Unlocked** %s for other pull requests: %s had locked it (%s).", markdown.Code(l.Project), markdown.Code(l.By), markdown.Code(l.Because))
	if l.Applying != "" {
		text += fmt.Sprintf(" An apply, asked for by %s, is under way, and goes on. Its own lock is released when it ends.", markdown.Code(l.Applying))
	}
	return text
}

// An OwnLock is the lock that a person has on the state of a project, as its own pull request tells of it.
type OwnLock struct {
	By, Because string
	Since       time.Time `json:",omitzero"`
}

// maxLocked is the maximum number of projects that a note about a lock names.
const maxLocked = 10

// on is the note about the lock, which is on the states of some projects.
func (l OwnLock) on(projects []ProjectStatus) string {
	var labels []string
	for _, p := range projects {
		labels = append(labels, p.Label())
	}
	n := min(len(projects), maxLocked)
	lift := Command{Verb: Unlock}
	if len(projects) == 1 {
		lift.Project, lift.Workspace = projects[0].Name, projects[0].Workspace
	}
	return fmt.Sprintf("%s has locked the state of %s for this pull request%s: %s. No other one is applied to it before %s here.",
		markdown.Code(l.By), markdown.Few(labels[:n], len(labels)-n), reasons.SinceWhen(l.Since), markdown.Code(l.Because), markdown.Code(lift.String()))
}

// locks are the notes about the locks for this pull request.
func (s Status) locks() []string {
	var all []OwnLock
	projects := map[OwnLock][]ProjectStatus{}
	for _, p := range s.Projects {
		if p.Lock == nil {
			continue
		}
		if projects[*p.Lock] == nil {
			all = append(all, *p.Lock)
		}
		projects[*p.Lock] = append(projects[*p.Lock], p)
	}
	var out []string
	for _, l := range all {
		out = append(out, l.on(projects[l]))
	}
	return out
}

// unblocked is the remedy for a blocked plan.
func (p ProjectStatus) unblocked() string {
	lifted := markdown.Code("lockstep unlock") + " there has lifted the lock"
	apply, missing := p.command(Apply), ""
	if p.lacks() {
		lifted += ", and what is missing is there"
		missing = " What is missing has to be there, too."
	}
	if p.Behind.outOfTurn() && !p.Removed {
		apply = markdown.Code("lockstep apply") // the others, too
	}
	switch {
	case p.Copied:
		return "Nothing applies it as long as that is so."
	case p.Locked && p.ByMerge:
		return fmt.Sprintf("Merge this pull request once %s: that applies this plan.", lifted)
	case p.Locked:
		return fmt.Sprintf("Once %s, comment %s on this pull request.", lifted, apply)
	}
	if p.Reserved {
		return fmt.Sprintf("It is made again by itself once that one is merged or closed. Then %s has to lift the lock.", markdown.Code("lockstep unlock")) + missing
	}
	return "It is made again by itself once that one is merged or closed." + missing
}
