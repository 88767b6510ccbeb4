package executor

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// doubts returns the objects that a plan leaves out, because an interrupted apply may or may not have created
// them. It does not return an object that the options import: the person who imports an object says that it
// exists. A plan that only invokes an action changes no object, and leaves none out. An import says
// nothing about an action that may have been invoked.
func doubts(r operation.Recovery, o grammar.Options) []addrs.Target {
	if o.Invoke != "" {
		return nil
	}
	r.Unresolved = slices.DeleteFunc(slices.Clone(r.Unresolved), func(x journaling.Open) bool {
		return !x.IsInvocation() && slices.ContainsFunc(o.Imports, func(pair string) bool { addr, _, _ := grammar.Pair(pair); return addr == x.Address })
	})
	return r.Waiting()
}

// unsettled returns the addresses of the objects in [doubts] that a person has to decide about, because no
// running apply is creating them.
func unsettled(r operation.Recovery, o grammar.Options) (all []string) {
	for _, a := range doubts(operation.Recovery{Unresolved: r.Unresolved}, o) {
		all = append(all, a.String())
	}
	return all
}
