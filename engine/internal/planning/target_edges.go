package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// targetEdges is a graph of resources. It maps each resource to the resources that its edges lead to.
type targetEdges map[addrs.ConfigResource][]addrs.ConfigResource

// add adds an edge from the resource user to its dependency, used. reverse adds an edge from used to user.
func (e targetEdges) add(user, used addrs.ConfigResource)     { e[user] = append(e[user], used) }
func (e targetEdges) reverse(user, used addrs.ConfigResource) { e[used] = append(e[used], user) }

// reach returns the resources that can be reached from the given resources in one or more steps.
func (e targetEdges) reach(from []addrs.ConfigResource) map[addrs.ConfigResource]bool {
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

// configured calls link for each block and each of its direct dependencies, and the dependencies of its import
// blocks.
func (in *targetInput) configured(link func(user, used addrs.ConfigResource)) {
	for _, cr := range in.blocks() {
		for _, d := range in.Deps.Direct(cr) {
			link(cr, d)
		}
		for _, d := range in.Deps.Imports(cr) {
			link(cr, d)
		}
	}
}

// A targetOrphan is a resource of the state without a block.
type targetOrphan struct {
	block    addrs.ConfigResource
	provider addrs.AbsProviderConfig
}

// orphans returns the resources of the state without a block, by module.
func (in *targetInput) orphans() map[addrs.Module][]targetOrphan {
	out := map[addrs.Module][]targetOrphan{}
	for abs, r := range in.Prior.Resources() {
		cr := abs.Config()
		if m := in.Config.Modules[cr.Module]; m == nil || m.Resources[cr.Resource] == nil {
			out[cr.Module] = append(out[cr.Module], targetOrphan{cr, r.Provider})
		}
	}
	return out
}

// ofOrphans calls link for each resource without a block and each dependency of the resource's provider
// configuration.
func (in *targetInput) ofOrphans(link func(user, used addrs.ConfigResource)) {
	for _, list := range in.orphans() {
		for _, x := range list {
			for _, d := range in.Deps.OfProvider(x.provider) {
				link(x.block, d)
			}
		}
	}
}

// stored calls link for each dependency between two resources that is stored in the state.
func (in *targetInput) stored(link func(user, used addrs.ConfigResource)) {
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
