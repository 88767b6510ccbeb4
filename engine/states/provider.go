package states

import "github.com/lockstep-iac/lockstep/engine/addrs"

// ProviderOf returns the provider configuration that looks after an instance, with its key
// if it is one of several.
func (r *Resource) ProviderOf(k addrs.InstanceKey) addrs.AbsProviderConfig {
	if in := r.Instances[k]; in != nil && in.Provider != "" {
		if p, err := addrs.ParseAbsProviderConfig(in.Provider); err == nil {
			return p
		}
	}
	return r.Provider
}

// assign records who looks after an instance. Where that is an instance of a provider
// configuration, it is recorded with the instance; the others keep whom they have.
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

// keyed reports whether an instance has an instance of a provider configuration.
func (r *Resource) keyed(in *Instance) bool {
	p, err := addrs.ParseAbsProviderConfig(in.Provider)
	return err == nil && !p.Key.IsNone()
}
