package session

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// Existing returns the instance keys for the value of a resource when a plan leaves out some of its
// instances. declared are the keys that the configuration declares. present are the keys of the instances
// that are planned, or are in the state and will not be deleted. With count, the value is a list up to the
// highest present index, in which missing instances are unknown. With for_each, it is a map of the present
// keys. Otherwise it is the declared instance.
//
// Source: tried with Terraform 1.11.4: with -target, its values come from the state, not from the
// configuration.
func Existing(r config.Repetition, declared, present []addrs.InstanceKey) []addrs.InstanceKey {
	var out []addrs.InstanceKey
	switch {
	case r.Count != nil:
		n := 0
		for _, k := range present {
			if i, ok := k.Int(); ok {
				n = max(n, i+1)
			}
		}
		for i := range n {
			out = append(out, addrs.IntKey(i))
		}
	case r.ForEach != nil:
		for _, k := range present {
			if _, ok := k.Str(); ok {
				out = append(out, k)
			}
		}
		slices.SortFunc(out, addrs.InstanceKey.Compare)
	default:
		return declared
	}
	return out
}
