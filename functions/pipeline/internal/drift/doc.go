// Package drift looks for drift: changes that somebody made to objects outside of Lockstep. It plans projects of the
// default branch with -refresh-only and the rights of a plan, and reports what it finds in one issue for each project.
// After an apply, it also plans what depends on the applied project, and reports changes in an issue of their own.
//
//	due.go      when a project's turn is (pure)
//	round.go    Finder.Find: a message for each project whose turn it is
//	look.go     Finder.Look: looks at one project
//	trigger.go  Finder.trigger: after an apply, plans the projects that depend on the applied one
//
// There is no pull request. The facts of the gate describe one that merges the tip of the default branch into
// itself, with the number 0. Nothing is saved but the number, and nothing is changed.
//
// The janitor starts the rounds. Start reading at [Finder.Find].
package drift
