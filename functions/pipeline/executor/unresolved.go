package executor

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/operation"
)

// doubts returns the objects that a plan leaves out, because an interrupted apply may have created them. There
// are two exceptions:
//   - An object that the options import is not left out: the person who imports it says that it exists. But an
//     import says nothing about an action that may have been invoked.
//   - A plan that only invokes an action leaves nothing out, because it changes no object.
func doubts(r operation.Recovery, o grammar.Options) []addrs.Target {
	if o.Invoke != "" {
		return nil
	}
	r.Unresolved = slices.DeleteFunc(slices.Clone(r.Unresolved), func(x journaling.Open) bool {
		return !x.IsInvocation() && slices.ContainsFunc(o.Imports, func(pair string) bool { addr, _, _ := grammar.Pair(pair); return addr == x.Address })
	})
	return r.Waiting()
}

// unsettled returns those of [doubts] about which a person has to decide. (The others are being created by a
// running apply.)
func unsettled(r operation.Recovery, o grammar.Options) (all []string) {
	for _, a := range doubts(operation.Recovery{Unresolved: r.Unresolved}, o) {
		all = append(all, a.String())
	}
	return all
}
