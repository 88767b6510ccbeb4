package session

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// An Environment is the part of a run's input that is the same for validation, planning and
// applying. Their inputs embed it, so that none of them can forget a field.
type Environment struct {
	eval.Program
	Providers Providers
	// Bodies are shared by the phases of a run; if nil, each phase has its own.
	Bodies *Bodies
	// Events receives the progress of planning and applying; may be nil.
	Events events.Listener
	// Parallelism is the number of provider calls that may be in progress at a time; 0 means
	// [DefaultParallelism]. Validation ignores it, because its calls are short.
	Parallelism int
	// ProviderParallelism returns how many calls to one provider may be in progress at a time, with all its
	// configurations together. 0 means that only Parallelism limits them. If the function is nil, no provider
	// has a limit of its own.
	ProviderParallelism func(addrs.Provider) int
	// Versions identify the providers for [Session.Digest]: version and checksums. A provider that is not here
	// may be another program in each run, so its resources have no digests.
	Versions map[addrs.Provider]string
}

// DefaultParallelism is the number of provider calls that may be in progress at a time, unless the run sets
// another. Source: Terraform's option -parallelism.
const DefaultParallelism = 10

// Calls returns the number of provider calls that may be in progress at a time.
func (e *Environment) Calls() int {
	if e.Parallelism <= 0 {
		return DefaultParallelism
	}
	return e.Parallelism
}

// callsOf returns how many calls to a provider may run at the same time. It returns 0 if only Parallelism limits them.
func (e *Environment) callsOf(p addrs.Provider) int {
	if e.ProviderParallelism == nil || p == (addrs.Provider{}) {
		return 0
	}
	if n := e.ProviderParallelism(p); n > 0 && n < e.Calls() {
		return n
	}
	return 0
}

// LimitProviders limits how many nodes of a graph run at once for each provider: the kind of a node is its
// provider, and the kinds have the providers' limits. So the walk does not begin a node that would wait for
// its provider, and other nodes can run. of returns the provider that a node calls; the zero value if it
// calls none.
func (e *Environment) LimitProviders(g walk.Graph, of func(node int) addrs.Provider) walk.Graph {
	if e.ProviderParallelism == nil {
		return g
	}
	g.Kinds, g.Limits = make([]int32, g.N), []int{0}
	kinds := map[addrs.Provider]int32{}
	for n := range g.N {
		p := of(n)
		kind, known := kinds[p]
		if limit := e.callsOf(p); !known && limit > 0 {
			kind = int32(len(g.Limits))
			g.Limits = append(g.Limits, limit)
		}
		kinds[p], g.Kinds[n] = kind, kind
	}
	return g
}
