package config

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// Manifest returns the manifest that init writes for c.
func (c *Config) Manifest() source.Manifest {
	var m source.Manifest
	for _, x := range c.Order {
		e := source.Installed{Key: x.Key(), Dir: x.Dir}
		if x.Call != nil {
			e.Source = x.Call.Address.String()
			e.Version = x.Version
		}
		m.Modules = append(m.Modules, e)
	}
	slices.SortFunc(m.Modules, func(a, b source.Installed) int { return strings.Compare(a.Key, b.Key) })
	return m
}

// Key returns the module's key in the manifest: the names of the calls, joined by dots.
func (m *Module) Key() string { return strings.Join(m.Addr.Steps(), ".") }
