package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A gated says which requests have to fulfil the require blocks of a command.
type gated struct {
	verb comment.Verb
	// asked is the verb of the requests, "" for a command that has no such blocks.
	asked comment.Verb
	// is reports whether the plan of a run is one that the command asks for, be it by another name; nil: each is.
	is func(runs.Run) bool
}

// blocksOf is the table of commands. An override does nothing but what a block's own argument allows, and help does nothing.
var blocksOf = []gated{
	{comment.Plan, comment.Plan, nil},
	{comment.Apply, comment.Apply, nil},
	{comment.Retry, comment.Plan, func(r runs.Run) bool { return r.Asked.Retry }},
	{comment.Stop, comment.Stop, nil},
	{comment.Recover, comment.Recover, nil},
	{comment.Lock, comment.Lock, nil},
	{comment.Unlock, comment.Unlock, nil},
	{comment.Override, "", nil},
	{comment.Drift, comment.Plan, func(r runs.Run) bool { return r.Spec.Options.RefreshOnly }},
	{comment.Import, comment.Plan, func(r runs.Run) bool { return len(r.Spec.Options.Imports) > 0 }},
	{comment.StateMove, comment.Plan, func(r runs.Run) bool { return len(r.Spec.Options.Moves) > 0 }},
	{comment.StateRemove, comment.Plan, func(r runs.Run) bool { return len(r.Spec.Options.Forgets) > 0 }},
	{comment.Taint, comment.Plan, func(r runs.Run) bool { return len(r.Spec.Options.Replaces) > 0 }},
	{comment.Untaint, comment.Plan, func(r runs.Run) bool { return len(r.Spec.Options.Untaints) > 0 }},
	{comment.Help, "", nil},
}

// BlocksOf returns the commands whose require blocks a request for a verb and a run has to fulfil.
func BlocksOf(verb comment.Verb, r runs.Run) []string {
	var out []string
	for _, g := range blocksOf {
		if g.asked == verb && (g.is == nil || g.is(r)) {
			out = append(out, string(g.verb))
		}
	}
	return out
}
