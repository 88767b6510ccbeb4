package addrs

import (
	"fmt"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// A ProviderPattern is a pattern for provider source addresses: `hashicorp/*`, `registry.example.com/*/*`.
// See
// https://developer.hashicorp.com/terraform/cli/config/config-file#explicit-installation-method-configuration.
type ProviderPattern struct {
	host, namespace, typeName string // "*" for any
}

// ParseProviderPattern reads a pattern of two or three segments. Two segments are a pattern for the default
// registry. Each segment is a name or a star; after a star, all further segments must be stars.
func ParseProviderPattern(s string) (ProviderPattern, error) {
	parts := strings.Split(s, "/")
	if len(parts) == 2 {
		parts = append([]string{DefaultRegistryHost}, parts...)
	}
	if len(parts) != 3 {
		return ProviderPattern{}, fmt.Errorf("invalid provider matching pattern %q: it must have two or three segments, separated by slashes", s)
	}
	p := ProviderPattern{parts[0], strings.ToLower(parts[1]), strings.ToLower(parts[2])}
	if p.host != "*" {
		host, err := svchost.ForComparison(p.host)
		if err != nil {
			return ProviderPattern{}, fmt.Errorf("invalid host in provider matching pattern %q: %w", s, err)
		}
		p.host = string(host)
	}
	if p.host == "*" && p.namespace != "*" || p.namespace == "*" && p.typeName != "*" {
		return ProviderPattern{}, fmt.Errorf("invalid provider matching pattern %q: a star must not be followed by a name", s)
	}
	// With a name in place of each star, the pattern must be a valid address.
	if _, err := ParseProvider("example.com/" + strings.ReplaceAll(p.namespace+"/"+p.typeName, "*", "any")); err != nil ||
		strings.Contains(p.namespace+p.typeName, "*") && p.namespace != "*" && p.typeName != "*" {
		return ProviderPattern{}, fmt.Errorf("invalid provider matching pattern %q: namespace and type must be names, or a star alone", s)
	}
	return p, nil
}

// Matches reports whether p matches the address x.
func (p ProviderPattern) Matches(x Provider) bool {
	return (p.host == "*" || p.host == x.Host) &&
		(p.namespace == "*" || p.namespace == x.Namespace) &&
		(p.typeName == "*" || p.typeName == x.Type)
}

// Parts returns the three segments of the pattern: names, or "*" for any.
func (p ProviderPattern) Parts() (host, namespace, typeName string) {
	return p.host, p.namespace, p.typeName
}

// String returns the pattern with all three segments.
func (p ProviderPattern) String() string { return p.host + "/" + p.namespace + "/" + p.typeName }
