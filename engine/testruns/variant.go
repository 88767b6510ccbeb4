package testruns

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A variant is a configuration combined with the provider configurations and overrides of a test. Runs with
// the same combination share the variant, so that it is analysed and validated once.
type variant struct {
	config *config.Config
	mocks  map[*config.Provider]*testfiles.Mock

	mu   sync.Mutex
	free []*engine.Analysis
}

// A variantKey identifies a variant. text contains everything that depends on the run.
type variantKey struct {
	file *file
	base *config.Config
	text string
}

// block returns the block of a provider configuration, a mock's or a real one; nil if there is none.
func (v *variant) block(pc addrs.AbsProviderConfig) *config.Provider {
	m := v.config.Modules[pc.Module]
	if m == nil {
		return nil
	}
	return m.ProviderBlock(pc)
}

// take returns an analysis of the variant for exclusive use, until give returns it.
func (v *variant) take() *engine.Analysis {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.free); n > 0 {
		a := v.free[n-1]
		v.free = v.free[:n-1]
		return a
	}
	return new(engine.Analysis)
}

// give puts an analysis back, for the next call of take.
func (v *variant) give(a *engine.Analysis) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.free = append(v.free, a)
}

// passed is a provider configuration of the test file that a run passes to its module.
type passed struct {
	in   addrs.LocalProviderConfig
	from *testfiles.Provider
}

// passedProviders returns the provider configurations that the run passes to its module.
func (r *run) passedProviders() (out []passed, ds diags.Diagnostics) {
	if r.Run.Providers == nil {
		for _, p := range r.File.Sorted() {
			out = append(out, passed{p.Addr, p})
		}
		return out, nil
	}
	for _, p := range r.Run.Providers {
		from := r.File.Providers[p.InParent]
		if from == nil {
			ds = append(ds, diags.Errorf(&p.InParentRange, "Missing provider definition for "+p.InParent.String(),
				"The run passes the provider configuration %s to its module, and the test file does not have it. Add a provider or mock_provider block.", p.InParent)...)
			continue
		}
		out = append(out, passed{p.InChild, from})
	}
	return out, ds
}

// prepare returns the variant of the run's configuration.
func (r *run) prepare() (*variant, diags.Diagnostics) {
	list, ds := r.passedProviders()
	if ds.HasErrors() {
		return nil, ds
	}
	var key strings.Builder
	contexts := map[*testfiles.Provider]*hcl.EvalContext{}
	shared := true
	for _, p := range list {
		fmt.Fprintf(&key, "%s=%s ", p.in, p.from.Addr)
		if p.from.Mock != nil {
			continue
		}
		names, more := r.bodyContext(p.from)
		if ds = append(ds, more...); more.HasErrors() {
			return nil, ds
		}
		contexts[p.from], shared = names, shared && len(names.Variables) == 0
	}
	change := config.Variant{Modules: map[addrs.Module]cty.Value{}}
	for _, o := range r.overrides() {
		if o.Target.IsModule() {
			if keyed(o.Target.Module) {
				change.Instances = append(change.Instances, config.ReplacedInstance{Target: o.Target.Module, Outputs: o.Values})
				fmt.Fprintf(&key, "%p ", o.Override)
				continue
			}
			m := o.Target.Module.Module()
			if _, twice := change.Modules[m]; !twice {
				change.Modules[m] = o.Values
				fmt.Fprintf(&key, "%p ", o.Override)
			}
		}
	}
	k := variantKey{r.file, r.config(), key.String()}
	r.suite.mu.Lock()
	defer r.suite.mu.Unlock()
	if v := r.variants[k]; v != nil && shared {
		return v, ds
	}
	v := &variant{mocks: map[*config.Provider]*testfiles.Mock{}}
	for _, p := range list {
		block := &config.Provider{Addr: p.in, Body: p.from.Body, Range: p.from.Range, Context: contexts[p.from]}
		if p.from.Mock != nil {
			block.Body, block.Mocked, block.ForEach = hcl.EmptyBody(), true, p.from.ForEach
			if old := r.config().Root.Providers[p.in]; old != nil && block.ForEach == nil {
				block.ForEach = old.ForEach
			}
			v.mocks[block] = p.from.Mock
		}
		change.Providers = append(change.Providers, block)
	}
	v.config = r.config().Variant(change)
	if ds = append(ds, loading.MissingProviders(v.config)...); ds.HasErrors() {
		return nil, ds
	}
	if shared {
		r.variants[k] = v
	}
	return v, ds
}

// keyed reports whether an address has the key of an instance.
func keyed(in addrs.ModuleInstance) bool {
	return slices.ContainsFunc(in.Steps(), func(s addrs.ModuleInstanceStep) bool { return !s.Key.IsNone() })
}

// An override is an override block of a run, of its file or of a mocked provider. The field during is the
// setting override_during of the block around it, for an override without that setting.
type override struct {
	*testfiles.Override
	during testfiles.During
}

// overrides returns the overrides that apply to the run. The run's own overrides come first, then the overrides
// of the file, then those of mocks.
func (r *run) overrides() (out []override) {
	for _, o := range r.Run.Overrides {
		out = append(out, override{o, o.During})
	}
	for _, o := range r.File.Overrides {
		out = append(out, override{o, o.During})
	}
	for _, p := range r.File.Sorted() {
		if p.Mock != nil {
			for _, o := range p.Mock.Overrides {
				out = append(out, override{o, p.Mock.During})
			}
		}
	}
	return out
}
