package addrs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	svchost "github.com/hashicorp/terraform-svchost"
)

// These are the hosts and namespaces with a special meaning.
const (
	DefaultRegistryHost  = "registry.terraform.io"
	OpenTofuRegistryHost = "registry.opentofu.org"
	BuiltinHost          = "terraform.io"
	BuiltinNamespace     = "builtin"
	DefaultNamespace     = "hashicorp"
	// LegacyNamespace is the namespace in addresses like registry.terraform.io/-/aws, which old states and
	// TF_REATTACH_PROVIDERS still have.
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

// DefaultProvider returns the provider that Terraform means by the name typeName if the configuration gives no
// source for the name: `registry.terraform.io/hashicorp/NAME`.
func DefaultProvider(typeName string) Provider {
	return DefaultProviderIn(DefaultRegistryHost, typeName)
}

// DefaultProviderIn is [DefaultProvider] for a configuration whose default registry is at host; "" means
// [DefaultRegistryHost].
func DefaultProviderIn(host, typeName string) Provider {
	if typeName == "terraform" {
		return BuiltinTerraform
	}
	return Provider{cmp.Or(host, DefaultRegistryHost), DefaultNamespace, typeName}
}

// DefaultRegistry returns the default registry of the configurations that may write p without a host:
// [OpenTofuRegistryHost] for a provider there, otherwise [DefaultRegistryHost].
func (p Provider) DefaultRegistry() string {
	if p.Host == OpenTofuRegistryHost {
		return p.Host
	}
	return DefaultRegistryHost
}

// IsBuiltin reports whether p is part of the engine and so never installed.
func (p Provider) IsBuiltin() bool { return p.Host == BuiltinHost && p.Namespace == BuiltinNamespace }

// IsZero reports whether p is the zero value, which is no provider.
func (p Provider) IsZero() bool { return p == Provider{} }

// String returns the full form: `registry.terraform.io/hashicorp/aws`. A host that is not ASCII is printed in
// Unicode, as Terraform does.
func (p Provider) String() string { return p.displayHost() + "/" + p.Namespace + "/" + p.Type }

// ForDisplay returns the form for people: without the default registry's host.
func (p Provider) ForDisplay() string {
	if p.Host == DefaultRegistryHost {
		return p.Namespace + "/" + p.Type
	}
	return p.String()
}

func (p Provider) displayHost() string {
	if strings.Contains(p.Host, "xn--") {
		return svchost.ForDisplay(p.Host)
	}
	return p.Host
}

// Compare orders providers by their full form.
func (p Provider) Compare(x Provider) int { return cmp.Compare(p.String(), x.String()) }

// ParseProvider reads a source address as in Terraform's required_providers: `aws`, `hashicorp/aws` or
// `registry.example.com/hashicorp/aws`.
func ParseProvider(source string) (Provider, error) {
	return ParseProviderIn(DefaultRegistryHost, source)
}

// ParseProviderIn is [ParseProvider] for a configuration whose default registry is at registry; "" means
// [DefaultRegistryHost].
func ParseProviderIn(registry, source string) (Provider, error) {
	parts := strings.Split(source, "/")
	p := Provider{Host: cmp.Or(registry, DefaultRegistryHost), Namespace: DefaultNamespace}
	var err error
	switch len(parts) {
	case 1, 2:
	case 3:
		host, err := svchost.ForComparison(parts[0])
		if err == nil && !utf8.ValidString(source) {
			err = errors.New("it must be valid UTF-8")
		}
		if err != nil {
			return Provider{}, fmt.Errorf("invalid host in provider source %q: %w", source, err)
		}
		p.Host = string(host)
	default:
		return Provider{}, fmt.Errorf("invalid provider source %q: it must be TYPE, NAMESPACE/TYPE or HOST/NAMESPACE/TYPE", source)
	}
	if len(parts) > 1 {
		if p.Namespace = parts[len(parts)-2]; p.Namespace != LegacyNamespace {
			if p.Namespace, err = parseNamespace(p.Namespace); err != nil {
				return Provider{}, fmt.Errorf("invalid namespace in provider source %q: %w", source, err)
			}
		}
	}
	if p.Type, err = parseProviderPart(parts[len(parts)-1]); err != nil {
		return Provider{}, fmt.Errorf("invalid provider type in provider source %q: %w", source, err)
	}
	for _, prefix := range []string{"terraform-provider-", "terraform-"} {
		if strings.HasPrefix(p.Type, prefix) {
			return Provider{}, fmt.Errorf("invalid provider type in provider source %q: leave out the prefix %q", source, prefix)
		}
	}
	return p, nil
}

// parseNamespace returns a namespace in lower case. Its parts may be separated by underscores, as in the
// names of users that an enterprise manages at GitHub. Source: OpenTofu 1.12.
func parseNamespace(s string) (string, error) {
	parts := strings.Split(s, "_")
	for i, part := range parts {
		var err error
		if parts[i], err = parseProviderPart(part); err != nil && len(parts) > 1 {
			return "", fmt.Errorf("%q must be letters and digits, with single dashes and underscores between them", s)
		} else if err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "_"), nil
}

// parseProviderPart returns a part of a namespace or a type in lower case. The rules are those for a label of
// a host name, so letters need not be ASCII. Encoded labels (xn--...) are not allowed.
func parseProviderPart(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("it is empty")
	case !utf8.ValidString(s) || strings.ContainsAny(s, ".:"):
		return "", fmt.Errorf("%q must be letters, digits and dashes only", s)
	case strings.Contains(s, "--"):
		return "", fmt.Errorf("%q has several dashes in a row", s)
	}
	label, err := svchost.ForComparison(s)
	if err != nil {
		return "", fmt.Errorf("%q must be letters, digits and dashes only, with no dash at either end", s)
	}
	return label.ForDisplay(), nil
}

// LocalProviderConfig is the name of a provider configuration inside a module: `aws`, or `aws.west`.
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

// AbsProviderConfig is a provider configuration in the module tree. Its module is static, since a module with
// provider blocks cannot have count or for_each.
type AbsProviderConfig struct {
	Module   Module
	Provider Provider
	Alias    string
	// Key selects one instance of a provider configuration that has for_each (OpenTofu 1.9). It is [NoKey] for
	// a configuration without for_each, and in the address of a whole configuration.
	Key InstanceKey
}

// Config returns the address of the configuration, without the instance key.
func (c AbsProviderConfig) Config() AbsProviderConfig {
	c.Key = NoKey
	return c
}

// String returns the form of state files, followed by the key if there is one:
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
	b.WriteString(c.Key.String())
	return b.String()
}

// ParseAbsProviderConfig is the inverse of [AbsProviderConfig.String]. It also accepts the form
// `provider.aws` of state format 3, and returns the default provider for it.
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
		err := out.parseLegacy(legacy, bad)
		return out, err
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
	if i := strings.IndexByte(alias, '['); i > 0 {
		var tail string
		if out.Key, tail, err = cutKey(alias[i:]); err != nil || tail != "" {
			return out, bad
		}
		alias = alias[:i]
	}
	if alias != "" {
		if alias[0] != '.' || !ValidIdentifier(alias[1:]) {
			return out, bad
		}
		out.Alias = alias[1:]
	}
	return out, nil
}

// parseLegacy reads `aws` or `aws.alias` into c, with the default provider of that name. If s has another form,
// it returns the error bad.
func (c *AbsProviderConfig) parseLegacy(s string, bad error) error {
	name, alias, aliased := strings.Cut(s, ".")
	if !ValidIdentifier(name) || aliased && !ValidIdentifier(alias) {
		return bad
	}
	typeName, err := parseProviderPart(name)
	if err != nil {
		return fmt.Errorf("%w: %w", bad, err)
	}
	c.Provider, c.Alias = DefaultProvider(typeName), alias
	return nil
}
