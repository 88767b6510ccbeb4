package comment

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Locked is the reply that a person has locked the state of a project, so that no other pull request can be
// applied to this state. Workspace is set only if another project of the pull request has the same name.
type Locked struct {
	Project, Because string
	Workspace        string `json:",omitempty"`
}

func (l Locked) markdown() string {
	p := ProjectStatus{Name: l.Project, Workspace: l.Workspace}
	return fmt.Sprintf("**Locked** %s: %s. Until this pull request is merged or closed, no other can apply there. To release the lock earlier, comment %s here. A push does not release it.",
		markdown.Code(p.Label()), markdown.Code(l.Because), p.command(Unlock))
}

// Lifted is the reply that a person's lock was released.
type Lifted struct {
	Project, By, Because string // of the lock
	// Applying is the login of the user who requested the apply that is now in progress; "" if none is in
	// progress.
	Applying string `json:",omitempty"`
}

func (l Lifted) markdown() string {
	text := fmt.Sprintf("**Unlocked** %s for other pull requests. %s had locked it: %s.", markdown.Code(l.Project), markdown.Code(l.By), markdown.Code(l.Because))
	if l.Applying != "" {
		text += fmt.Sprintf(" The apply that %s requested continues, and releases its own lock when it ends.", markdown.Code(l.Applying))
	}
	return text
}

// An OwnLock is a person's lock on the state of a project. The pull request for which the person has locked the
// state shows it.
type OwnLock struct {
	By, Because string
	Since       time.Time `json:",omitzero"`
}

// maxLocked is the maximum number of projects that a note about a lock names.
const maxLocked = 10

// on returns the note about the lock of a person on the states of these projects.
func (l OwnLock) on(projects []ProjectStatus) string {
	var labels []string
	for _, p := range projects {
		labels = append(labels, p.Label())
	}
	lift := Command{Verb: Unlock}
	if len(projects) == 1 {
		lift.Project, lift.Workspace = projects[0].Name, projects[0].Workspace
	}
	return fmt.Sprintf("%s has locked the state of %s for this pull request%s: %s. Other pull requests cannot apply to it. To release the lock, comment %s here.",
		markdown.Code(l.By), markdown.Names(labels, maxLocked), reasons.SinceWhen(l.Since), markdown.Code(l.Because), markdown.Code(lift.String()))
}

// locks returns the notes about locks that people hold for this pull request.
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

// unblocked returns the advice on how to remove what blocks a plan.
func (p ProjectStatus) unblocked() string {
	unlock := fmt.Sprintf("comment %s on #%d", markdown.Code("lockstep unlock"), p.LockedBy)
	apply, missing := p.command(Apply), ""
	if p.lacks() {
		missing = " The requirements have to be met, too."
	}
	if p.Behind.outOfTurn() && !p.Removed {
		apply = markdown.Code("lockstep apply") // the others, too
	}
	const again = "Lockstep plans this project again once the other pull request is merged or closed."
	switch {
	case p.Copied:
		return "Lockstep does not apply this plan until that is resolved."
	case p.Locked && p.ByMerge:
		return fmt.Sprintf("To release the lock, %s. Then merge this pull request, which applies this plan.%s", unlock, missing)
	case p.Locked:
		return fmt.Sprintf("To release the lock, %s. Then comment %s on this pull request.%s", unlock, apply, missing)
	case p.LockedBy != 0:
		return fmt.Sprintf("%s To release the lock, %s.%s", again, unlock, missing)
	}
	return again + missing
}
