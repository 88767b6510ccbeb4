package comment

import "github.com/lockstep-iac/lockstep/functions/comment/grammar"

// The nouns of commands, as answers have them. Package grammar reads them.
type (
	Verb    = grammar.Verb
	Command = grammar.Command
)

// The verbs with answers of their own.
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

	Import      = grammar.Import
	StateMove   = grammar.StateMove
	StateRemove = grammar.StateRemove
	Taint       = grammar.Taint
	Untaint     = grammar.Untaint

	Help = grammar.Help
)
