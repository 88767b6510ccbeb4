package addrs

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// Hosts and namespaces with a meaning of their own.
const (
	DefaultRegistryHost = "registry.terraform.io"
	BuiltinHost         = "terraform.io"
	BuiltinNamespace    = "builtin"
	DefaultNamespace    = "hashicorp"
	// LegacyNamespace stands in addresses like registry.terraform.io/-/aws, which old
	// states and TF_REATTACH_PROVIDERS still hold.
	LegacyNamespace = "-"
)

// Provider is the source address of a provider, normalised to lower case.
type Provider struct {
	Host      string // in its ASCII (punycode) form, with a port if one was given
	Namespace string
	Type      string
}

// BuiltinTerraform is the provider of terraform_data and terraform_remote_state.
var BuiltinTerraform = Provider{BuiltinHost, BuiltinNamespace, "terraform"}

// DefaultProvider returns the provider that a name means when no source is given.
func DefaultProvider(typeName string) Provider {
	if typeName == "terraform" {
		return BuiltinTerraform
	}
	return Provider{DefaultRegistryHost, DefaultNamespace, typeName}
}

// IsBuiltin reports whether p is part of the engine and never installed.
func (p Provider) IsBuiltin() bool { return p.Host == BuiltinHost && p.Namespace == BuiltinNamespace }

// IsZero reports whether p names no provider.
func (p Provider) IsZero() bool { return p == Provider{} }

// String returns the full form: `registry.terraform.io/hashicorp/aws`.
func (p Provider) String() string { return p.Host + "/" + p.Namespace + "/" + p.Type }

// ForDisplay returns the form for people: without the default registry's host.
func (p Provider) ForDisplay() string {
	if p.Host == DefaultRegistryHost {
		return p.Namespace + "/" + p.Type
	}
	return svchost.ForDisplay(p.Host) + "/" + p.Namespace + "/" + p.Type
}

// Compare orders providers by their full form.
func (p Provider) Compare(x Provider) int { return cmp.Compare(p.String(), x.String()) }

// providerPart matches a namespace or type: letters, digits, dashes and, for
// types of old, underscores; no dash at either end.
var providerPart = regexp.MustCompile(`^[0-9a-z_](?:[0-9a-z_-]*[0-9a-z_])?$`)

// ParseProvider reads a source address as in required_providers: `aws`,
// `hashicorp/aws` or `registry.example.com/hashicorp/aws`.
func ParseProvider(source string) (Provider, error) {
	parts := strings.Split(source, "/")
	var p Provider
	switch len(parts) {
	case 1:
		p = DefaultProvider(strings.ToLower(parts[0]))
	case 2:
		p = Provider{DefaultRegistryHost, strings.ToLower(parts[0]), strings.ToLower(parts[1])}
	case 3:
		host, err := svchost.ForComparison(parts[0])
		if err != nil {
			return p, fmt.Errorf("invalid host in provider source %q: %w", source, err)
		}
		p = Provider{string(host), strings.ToLower(parts[1]), strings.ToLower(parts[2])}
	default:
		return p, fmt.Errorf("invalid provider source %q: it must be TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE", source)
	}
	if p.Namespace != LegacyNamespace && !providerPart.MatchString(p.Namespace) {
		return p, fmt.Errorf("invalid namespace %q in provider source %q: only letters, digits and dashes", p.Namespace, source)
	}
	if !providerPart.MatchString(p.Type) {
		return p, fmt.Errorf("invalid provider type %q in provider source %q: only letters, digits and dashes", p.Type, source)
	}
	if strings.HasPrefix(p.Type, "terraform-provider-") {
		return p, fmt.Errorf("invalid provider type %q in provider source %q: leave out the prefix \"terraform-provider-\"", p.Type, source)
	}
	return p, nil
}

// LocalProviderConfig is a provider configuration as a module names it:
// `aws`, or `aws.west`.
type LocalProviderConfig struct {
	LocalName string
	Alias     string // "" for the default configuration
}

// String returns `aws` or `aws.west`.
func (c LocalProviderConfig) String() string {
	if c.Alias == "" {
		return c.LocalName
	}
	return c.LocalName + "." + c.Alias
}

// AbsProviderConfig is a provider configuration in the module tree. Modules that
// hold provider blocks cannot be expanded, so its module is static.
type AbsProviderConfig struct {
	Module   Module
	Provider Provider
	Alias    string
}

// String returns the state format's form:
// `module.net.provider["registry.terraform.io/hashicorp/aws"].west`.
func (c AbsProviderConfig) String() string {
	var b strings.Builder
	if !c.Module.IsRoot() {
		b.WriteString(c.Module.String())
		b.WriteByte('.')
	}
	b.WriteString(`provider["`)
	b.WriteString(c.Provider.String())
	b.WriteString(`"]`)
	if c.Alias != "" {
		b.WriteByte('.')
		b.WriteString(c.Alias)
	}
	return b.String()
}

// ParseAbsProviderConfig reads what [AbsProviderConfig.String] writes. The legacy
// form `provider.aws` of state format 3 is accepted too, as the default provider.
func ParseAbsProviderConfig(s string) (AbsProviderConfig, error) {
	var out AbsProviderConfig
	bad := fmt.Errorf("invalid provider configuration address %q", s)
	rest := s
	for strings.HasPrefix(rest, "module.") {
		name, tail, ok := strings.Cut(rest[len("module."):], ".")
		if !ok || !ValidIdentifier(name) {
			return out, bad
		}
		out.Module, rest = out.Module.Child(name), tail
	}
	if legacy, ok := strings.CutPrefix(rest, "provider."); ok {
		name, alias, _ := strings.Cut(legacy, ".")
		if !ValidIdentifier(name) || alias != "" && !ValidIdentifier(alias) {
			return out, bad
		}
		out.Provider, out.Alias = DefaultProvider(name), alias
		return out, nil
	}
	rest, ok := strings.CutPrefix(rest, `provider["`)
	if !ok {
		return out, bad
	}
	source, alias, ok := strings.Cut(rest, `"]`)
	if !ok {
		return out, bad
	}
	var err error
	if out.Provider, err = ParseProvider(source); err != nil {
		return out, fmt.Errorf("%w: %w", bad, err)
	}
	if alias != "" {
		if alias[0] != '.' || !ValidIdentifier(alias[1:]) {
			return out, bad
		}
		out.Alias = alias[1:]
	}
	return out, nil
}
