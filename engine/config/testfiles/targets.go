package testfiles

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// checkTargets warns of overrides of objects that the tested configuration does not have.
func (s *Suite) checkTargets(f *File) (ds hcl.Diagnostics) {
	ds = missingTargets(s.Config, f.Overrides)
	for _, p := range f.providers {
		if p.Mock != nil {
			ds = append(ds, missingTargets(s.Config, p.Mock.Overrides)...)
		}
	}
	for _, r := range f.Runs {
		cfg := s.Config
		if r.Config != nil {
			cfg = r.Config
		}
		ds = append(ds, missingTargets(cfg, r.Overrides)...)
	}
	return ds
}

func missingTargets(cfg *config.Config, list []*Override) (ds hcl.Diagnostics) {
	for _, o := range list {
		if !o.shared && !declares(cfg, o.Target) {
			ds = append(ds, diags.HCLWarning(&o.target.Range, "Invalid override target", "%s is not declared in the configuration that the test runs, so that the override does nothing. If the address is right, remove the override.", o.Target))
		}
	}
	return ds
}

// declares reports whether cfg declares the target's module or resource.
func declares(cfg *config.Config, t addrs.Target) bool {
	var module addrs.Module
	for _, step := range t.Module.Steps() {
		module = module.Child(step.Name)
	}
	m := cfg.Modules[module]
	return m != nil && (t.IsModule() || m.Resources[t.Resource] != nil)
}
