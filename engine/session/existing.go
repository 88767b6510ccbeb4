package session

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// Existing returns the keys of the instances that the value of a resource is made of where
// not all that the configuration wants is planned: of those that are there, planned or in the
// state, wanted or not. Below the highest index of a list none is missing: what is not there
// is unknown. A resource with neither count nor for_each has the instance that is wanted.
func Existing(r config.Repetition, wanted, there []addrs.InstanceKey) []addrs.InstanceKey {
	var out []addrs.InstanceKey
	switch {
	case r.Count != nil:
		n := 0
		for _, k := range there {
			if i, ok := k.Int(); ok {
				n = max(n, i+1)
			}
		}
		for i := range n {
			out = append(out, addrs.IntKey(i))
		}
	case r.ForEach != nil:
		for _, k := range there {
			if _, ok := k.Str(); ok {
				out = append(out, k)
			}
		}
		slices.SortFunc(out, addrs.InstanceKey.Compare)
	default:
		return wanted
	}
	return out
}
