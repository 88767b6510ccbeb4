package executor

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// withoutEffect returns an error for each change of the state in a comment that has no effect: the object to
// move or remove does not exist, or the object to import already exists. A block in the configuration gets no
// such error, because it stays in the configuration after it had its effect.
func withoutEffect(g grammar.Options, s *states.State, c *config.Config) (ds diags.Diagnostics) {
	if g.Rest {
		return nil
	}
	no := func(summary, done string, addr any) {
		ds = append(ds, diags.Errorf(nil, summary, "The state has no object of %s, so there is nothing to %s.", addr, done)...)
	}
	for _, value := range g.Moves {
		text, _, _ := grammar.Pair(value)
		if from, err := addrs.ParseTarget(text); err == nil && isGone(s, c, from) {
			no("Nothing to move", "move", from)
		}
	}
	for _, text := range g.Forgets {
		if from, err := addrs.ParseTarget(text); err == nil && isGone(s, c, from) {
			no("Nothing to remove from the state", "remove", from)
		}
	}
	for _, text := range g.Replaces {
		if addr, err := addrs.ParseAbsResourceInstance(text); g.Taint && err == nil && !hasCurrent(s, addr) {
			no("No such resource instance", "taint", addr)
		}
	}
	for _, value := range g.Imports {
		text, _, _ := grammar.Pair(value)
		if addr, err := addrs.ParseAbsResourceInstance(text); err == nil && hasCurrent(s, addr) {
			ds = append(ds, diags.Errorf(nil, "Resource instance is managed already", "The state has an object of %s, so there is nothing to import.", addr)...)
		}
	}
	return ds
}

// isGone reports whether there is no object at the address t: the state has none, and no moved block moves one
// there.
func isGone(s *states.State, c *config.Config, t addrs.Target) bool {
	return !has(s, t) && !comesTo(c, t)
}

func hasCurrent(s *states.State, addr addrs.AbsResourceInstance) bool {
	in := s.Instance(addr)
	return in != nil && in.Current != nil
}

// has reports whether the state has an instance at the address t, or one inside it if t is a module or a
// resource.
func has(s *states.State, t addrs.Target) bool {
	for r, in := range s.Resources() {
		for key := range in.Instances {
			if t.Contains(r.Instance(key)) {
				return true
			}
		}
	}
	return false
}

// comesTo reports whether a moved block in the root module moves an object to the address t. The block may come
// from the configuration or from a command.
func comesTo(c *config.Config, t addrs.Target) bool {
	return slices.ContainsFunc(c.Root.Moved, func(b *config.Moved) bool { return b.To.String() == t.String() })
}
