package cliconfig

import (
	"fmt"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Pattern stands for a set of provider source addresses: `hashicorp/*`,
// `registry.example.com/*/*`. See
// https://developer.hashicorp.com/terraform/cli/config/config-file#explicit-installation-method-configuration.
type Pattern struct {
	host, namespace, typeName string // "*" for any
}

// ParsePattern reads a pattern of two or three segments, of which each may be a star.
// Two segments stand for providers of the default registry. Before a segment that is
// a name, there must be names only.
func ParsePattern(s string) (Pattern, error) {
	parts := strings.Split(s, "/")
	if len(parts) == 2 {
		parts = append([]string{addrs.DefaultRegistryHost}, parts...)
	}
	if len(parts) != 3 {
		return Pattern{}, fmt.Errorf("invalid provider matching pattern %q: it must have two or three segments, separated by slashes", s)
	}
	p := Pattern{parts[0], strings.ToLower(parts[1]), strings.ToLower(parts[2])}
	if p.host != "*" {
		host, err := svchost.ForComparison(p.host)
		if err != nil {
			return Pattern{}, fmt.Errorf("invalid host in provider matching pattern %q: %w", s, err)
		}
		p.host = string(host)
	}
	if p.host == "*" && p.namespace != "*" || p.namespace == "*" && p.typeName != "*" {
		return Pattern{}, fmt.Errorf("invalid provider matching pattern %q: a star must not be followed by a name", s)
	}
	// With stars replaced by some name it must be an address.
	if _, err := addrs.ParseProvider("example.com/" + strings.ReplaceAll(p.namespace+"/"+p.typeName, "*", "any")); err != nil ||
		strings.Contains(p.namespace+p.typeName, "*") && p.namespace != "*" && p.typeName != "*" {
		return Pattern{}, fmt.Errorf("invalid provider matching pattern %q: namespace and type must be names, or a star alone", s)
	}
	return p, nil
}

// Matches reports whether p stands for a provider.
func (p Pattern) Matches(x addrs.Provider) bool {
	return (p.host == "*" || p.host == x.Host) &&
		(p.namespace == "*" || p.namespace == x.Namespace) &&
		(p.typeName == "*" || p.typeName == x.Type)
}

// String returns the pattern in full.
func (p Pattern) String() string { return p.host + "/" + p.namespace + "/" + p.typeName }

// Serves reports whether the method may be asked for a provider.
func (m Method) Serves(p addrs.Provider) bool {
	matches := func(patterns []Pattern) bool {
		for _, pattern := range patterns {
			if pattern.Matches(p) {
				return true
			}
		}
		return false
	}
	return (len(m.Include) == 0 || matches(m.Include)) && !matches(m.Exclude)
}
