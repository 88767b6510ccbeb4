package states

import "github.com/lockstep-iac/lockstep/engine/addrs"

// ProviderOf returns the provider configuration of the instance with key k. If the instance has one instance
// of a repeated provider configuration, the result has its key.
func (r *Resource) ProviderOf(k addrs.InstanceKey) addrs.AbsProviderConfig {
	if in := r.Instances[k]; in != nil && in.Provider != "" {
		if p, err := addrs.ParseAbsProviderConfig(in.Provider); err == nil {
			return p
		}
	}
	return r.Provider
}

// assign sets the provider configuration of an instance. An instance of a repeated provider configuration is
// recorded with the instance; other instances keep theirs.
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
