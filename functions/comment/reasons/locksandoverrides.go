package reasons

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NothingToLock reports that the pull request changes no project at present, so there is no state to lock.
type NothingToLock struct{}

func (NothingToLock) words() (text, remedy string) {
	return "This pull request changes no project, so there is no state to lock.", ""
}

// SetNotLocked reports that a project was not locked, because the same command names projects that cannot be
// locked.
type SetNotLocked struct{ Projects []string }

func (r SetNotLocked) words() (text, remedy string) {
	return fmt.Sprintf("Nothing was locked: %s cannot be locked (this answer says why), and a command locks all its projects or none.", markdown.List(r.Projects)),
		fmt.Sprintf("To lock one of the other projects, comment %s.", markdown.Code("lockstep lock -p NAME --reason \"...\""))
}

// LockedByAnother reports that a person has locked the state for another pull request.
type LockedByAnother struct {
	Number      int // of the other pull request
	By, Because string
	Since       time.Time `json:",omitzero"`
	// Merged is set for an apply that a merge has requested. A comment cannot repeat such an apply.
	Merged bool `json:",omitempty"`
	// Waits is set if a merge has requested the apply, and the apply waits until the lock is released.
	Waits bool `json:",omitempty"`
	// Locking is set if the refused command is `lockstep lock`: two people cannot lock the same state.
	Locking bool `json:",omitempty"`
}

func (r LockedByAnother) words() (text, remedy string) {
	switch {
	case r.Waits:
		return LockedFor(r), r.Lifts() + " " + appliedThen
	case r.Merged:
		return LockedFor(r), r.Lifts() + " Then comment `lockstep retry` here for a new plan. Read it, then apply it."
	case r.Locking:
		return LockedFor(r), r.Lifts()
	}
	return LockedFor(r), r.Lifts() + " Then apply again."
}

// Lifts returns the advice on how this lock can be released.
func (r LockedByAnother) Lifts() string {
	return fmt.Sprintf("To release the lock, comment %s on #%d, or merge or close that pull request.", markdown.Code("lockstep unlock"), r.Number)
}

// LockedFor returns the note that a person has locked the state of a project for another pull request.
func LockedFor(r LockedByAnother) string {
	return fmt.Sprintf("Locked by #%[2]d: %[1]s has locked the state%[3]s: %[4]s.", markdown.Code(r.By), r.Number, SinceWhen(r.Since), markdown.Code(r.Because))
}

// SinceWhen returns a time as ", since 2 January 2025, 15:04 UTC"; "" for the zero time.
func SinceWhen(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", since " + t.UTC().Format("2 January 2006, 15:04 MST")
}

// NotLifted reports that the user may not override a requirement of the plan, according to the settings. Nobody
// is set if no user may. Empty is set if the plan has no changes, so that there is nothing to override.
type NotLifted struct {
	Login  string
	Nobody bool `json:",omitempty"`
	Empty  bool `json:",omitempty"`
}

func (r NotLifted) words() (text, remedy string) {
	if r.Empty {
		return "The plan has no changes, so there is nothing to override.", ""
	}
	if r.Nobody {
		return fmt.Sprintf("No requirement for this plan can be overridden: %s on the base branch sets %s for none.", settings, markdown.Code("override")),
			"Meet the requirements: the comment with the plans lists them."
	}
	return fmt.Sprintf("%[1]s on the base branch does not let %[2]s override any requirement of this plan.", settings, markdown.Code(r.Login)),
		fmt.Sprintf("Ask somebody whom a requirement in %[2]s lists under %[1]s.", markdown.Code("override"), settings)
}

// NotAsWritten reports that the comment or review with the command no longer exists on GitHub, or now has
// another text or another author.
type NotAsWritten struct{}

func (NotAsWritten) words() (text, remedy string) {
	return "Lockstep ignores this comment, because somebody has edited or deleted it, or because GitHub now shows another author than when it was written.", "Write the command as a new comment."
}

// NotInConversation reports that an override was written in a review, or on a line of a file.
type NotInConversation struct{}

func (NotInConversation) words() (text, remedy string) {
	return "An override has to be an unedited comment in the conversation. Reviews and comments on lines of a file do not count.",
		"Write the override as a new comment in the conversation."
}

// ReasonNeeded reports that somebody has pressed the button for an override. A button carries no reason. Command is the
// override with a place for the reason.
type ReasonNeeded struct{ Command grammar.Command }

func (r ReasonNeeded) words() (text, remedy string) {
	return "An override needs a reason, which everybody can read here.",
		fmt.Sprintf("Copy %s into a new comment, with your reason instead of the dots.", markdown.Code(r.Command.String()))
}

// VoidOverride reports that an override does not count, because it was written before its plan was visible. If
// Edited is set, the reason is that the comment with the override was edited or deleted.
type VoidOverride struct {
	Edited bool `json:",omitempty"`
}

func (r VoidOverride) words() (text, remedy string) {
	if r.Edited {
		return "Somebody edited or deleted the comment with the override, so the override no longer counts.", "Write the override as a new comment."
	}
	return "This plan was posted after your comment, so you have not seen it.",
		"Read the plan, then write the override again."
}

// NothingToRecover reports that no project of the pull request was ever planned, so there is no state to
// recover.
type NothingToRecover struct{}

func (NothingToRecover) words() (text, remedy string) {
	return "This pull request has no plan yet, so Lockstep does not know which state to recover.", fmt.Sprintf("First comment %s. Then comment %s again.", markdown.Code("lockstep plan -p NAME"), markdown.Code("lockstep recover"))
}

// NothingToStop reports that no plan or apply is in progress.
type NothingToStop struct{}

func (NothingToStop) words() (text, remedy string) {
	return "No plan or apply of this pull request is in progress.", ""
}

// WasStopped reports that a person stopped the plan or the apply before its end. Merged is set for an apply
// that a merge requested.
type WasStopped struct {
	By     string
	Merged bool `json:",omitempty"`
}

func (r WasStopped) words() (text, remedy string) {
	text = fmt.Sprintf("%s cancelled this command with `lockstep stop`.", markdown.Code(r.By))
	if r.Merged {
		return text, planAgain(true)
	}
	return text, "To start it again, write the command in a new comment."
}
