package targeting

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// edges is a graph of resources.
type edges map[addrs.ConfigResource][]addrs.ConfigResource

// add and reverse add an edge from a resource to its dependency, or the other way around.
func (e edges) add(user, used addrs.ConfigResource)     { e[user] = append(e[user], used) }
func (e edges) reverse(user, used addrs.ConfigResource) { e[used] = append(e[used], user) }

// reach returns the resources that can be reached from some in at least one step.
func (e edges) reach(from []addrs.ConfigResource) map[addrs.ConfigResource]bool {
	out, seen := map[addrs.ConfigResource]bool{}, map[addrs.ConfigResource]bool{}
	var visit func(cr addrs.ConfigResource)
	visit = func(cr addrs.ConfigResource) {
		if seen[cr] {
			return
		}
		seen[cr] = true
		for _, x := range e[cr] {
			out[x] = true
			visit(x)
		}
	}
	for _, cr := range from {
		visit(cr)
	}
	return out
}

// configured calls link for each direct dependency of a block, and of its import blocks.
func (in *Input) configured(link func(user, used addrs.ConfigResource)) {
	for _, cr := range in.blocks() {
		for _, d := range in.Deps.Direct(cr) {
			link(cr, d)
		}
		for _, d := range in.Deps.Imports(cr) {
			link(cr, d)
		}
	}
}

// An orphan is a resource of the state without a block.
type orphan struct {
	block    addrs.ConfigResource
	provider addrs.AbsProviderConfig
}

// orphans returns the resources of the state without a block, by their modules.
func (in *Input) orphans() map[addrs.Module][]orphan {
	out := map[addrs.Module][]orphan{}
	for abs, r := range in.Prior.Resources() {
		cr := abs.Config()
		if m := in.Config.Modules[cr.Module]; m == nil || m.Resources[cr.Resource] == nil {
			out[cr.Module] = append(out[cr.Module], orphan{cr, r.Provider})
		}
	}
	return out
}

// ofOrphans calls link for the dependencies that resources without a block have: those of
// their provider configurations.
func (in *Input) ofOrphans(link func(user, used addrs.ConfigResource)) {
	for _, list := range in.orphans() {
		for _, x := range list {
			for _, d := range in.Deps.OfProvider(x.provider) {
				link(x.block, d)
			}
		}
	}
}

// stored calls link for each dependency that the state has of one resource on another.
func (in *Input) stored(link func(user, used addrs.ConfigResource)) {
	for abs, res := range in.Was.Resources() {
		for _, x := range res.Instances {
			if x.Current == nil {
				continue
			}
			for _, d := range x.Current.Dependencies.All() {
				link(abs.Config(), d)
			}
		}
	}
}
