package states

import "github.com/lockstep-iac/lockstep/engine/addrs"

// ProviderOf returns the provider configuration of the instance with key k. If this is one instance of a
// provider block with for_each, the result includes its key.
func (r *Resource) ProviderOf(k addrs.InstanceKey) addrs.AbsProviderConfig {
	if in := r.Instances[k]; in != nil && in.Provider != "" {
		if p, err := addrs.ParseAbsProviderConfig(in.Provider); err == nil {
			return p
		}
	}
	return r.Provider
}

// WithProviders returns s with other providers: of replaces each provider address. The result is s itself if no
// address changes.
func (s *State) WithProviders(of func(addrs.Provider) addrs.Provider) *State {
	e := s.Edit()
	changed := false
	for a, r := range s.Resources() {
		p := r.Provider
		if p.Provider = of(p.Provider); p != r.Provider {
			changed = true
			e.SetProvider(a, p)
		}
		for k, in := range r.Instances {
			own := r.ProviderOf(k)
			was := own.Provider
			if own.Provider = of(was); in.Provider == "" || own.Provider == was {
				continue
			}
			changed = true
			x := *in
			x.Provider = own.String()
			e.resource(a).Instances[k] = &x
		}
	}
	if !changed {
		return s
	}
	return e.State()
}

// assign sets the provider configuration of the instance in. A configuration without a key becomes the
// resource's configuration. One instance of a provider block with for_each is recorded with the instance
// in, and the other instances of the resource keep their configuration.
func (r *Resource) assign(in *Instance, p addrs.AbsProviderConfig) {
	if p.Key.IsNone() {
		if r.Provider != p || in.Provider != "" && r.keyed(in) {
			r.Provider, in.Provider = p, ""
		}
		return
	}
	if was := r.Provider; was != p.Config() {
		for k, other := range r.Instances {
			if other.Provider == "" {
				x := *other
				x.Provider = was.String()
				r.Instances[k] = &x
			}
		}
		r.Provider = p.Config()
	}
	in.Provider = p.String()
}

// keyed reports whether the instance's provider configuration has an instance key, as with for_each in a
// provider block.
func (r *Resource) keyed(in *Instance) bool {
	p, err := addrs.ParseAbsProviderConfig(in.Provider)
	return err == nil && !p.Key.IsNone()
}

// KeyedProviders reports whether the state names an instance of a provider block with for_each.
func (s *State) KeyedProviders() bool {
	for _, r := range s.Resources() {
		for _, in := range r.Instances {
			if in.Provider != "" && r.keyed(in) {
				return true
			}
		}
	}
	return false
}
