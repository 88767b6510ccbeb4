package executor

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// doubts returns the objects that a plan with options leaves out, because nobody knows whether they exist. A
// person who imports one says that it exists. Once that is applied, the state has it.
func doubts(r operation.Recovery, o grammar.Options) []addrs.Target {
	r.Unresolved = slices.DeleteFunc(slices.Clone(r.Unresolved), func(x journaling.Open) bool {
		return slices.ContainsFunc(o.Imports, func(pair string) bool { addr, _, _ := grammar.Pair(pair); return addr == x.Address })
	})
	return r.Waiting()
}

// unsettled returns the addresses of those that no running apply is creating.
func unsettled(r operation.Recovery, o grammar.Options) (all []string) {
	for _, a := range doubts(operation.Recovery{Unresolved: r.Unresolved}, o) {
		all = append(all, a.String())
	}
	return all
}
