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
