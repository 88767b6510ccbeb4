package comment

import "github.com/lockstep-iac/lockstep/functions/comment/grammar"

// The types of commands in answers, which package grammar parses.
type (
	Verb    = grammar.Verb
	Command = grammar.Command
)

// The verbs of commands that the texts of this package mention.
const (
	Plan     = grammar.Plan
	Apply    = grammar.Apply
	Stop     = grammar.Stop
	Recover  = grammar.Recover
	Lock     = grammar.Lock
	Unlock   = grammar.Unlock
	Override = grammar.Override
	Retry    = grammar.Retry
	Drift    = grammar.Drift

	DriftAccept  = grammar.DriftAccept
	DriftPropose = grammar.DriftPropose
	DriftRevert  = grammar.DriftRevert

	Import      = grammar.Import
	StateMove   = grammar.StateMove
	StateRemove = grammar.StateRemove
	Taint       = grammar.Taint
	Untaint     = grammar.Untaint
	Invoke      = grammar.Invoke
	Output      = grammar.Output
	Show        = grammar.Show
	Query       = grammar.Query

	Help = grammar.Help
)
