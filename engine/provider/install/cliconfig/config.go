package cliconfig

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
)

// Config is a CLI configuration. Nobody may change it after [Load].
type Config struct {
	// PluginCacheDir is a directory with provider packages that several working directories share; "" means
	// none.
	PluginCacheDir string
	// PluginCacheMayBreakLock allows the use of a cached package although the lock file has no checksum for
	// it.
	PluginCacheMayBreakLock bool
	// DisableCheckpoint has no effect, since Lockstep makes no such requests. It is here for completeness.
	DisableCheckpoint bool
	// Methods are the installation methods of providers, in the order of the file. It is nil if there is no
	// provider_installation block: then the methods are implied.
	Methods []Method
	// Explicit reports whether there is a provider_installation block.
	Explicit bool
	// Overrides are the directories of providers in development.
	Overrides map[addrs.Provider]string
	// ImpliedDirs are the directories to look into for providers if Methods is nil, before their registries are
	// asked. Some may not exist.
	ImpliedDirs []string

	// CredentialsFile is the file in which `login` stores tokens; "" if there is no home directory.
	CredentialsFile string
	// Helper is the credentials helper: a program that has the tokens of hosts for which the CLI configuration
	// has none. nil means that there is no helper.
	Helper *Helper
	// OCI says where the credentials for OCI registries are.
	OCI oci.Login

	services map[string]map[string]any
	ociPlace *hcl.Range // the oci_default_credentials block, if there is one
	tokens   map[string]hosts.Token
	origins  map[string]Origin
}

// A Helper is a credentials helper.
type Helper struct {
	Name    string
	Program string // an absolute path; "": it is not installed
	Args    []string
}

// Origin is where a host's token was found.
type Origin int

const (
	noOrigin Origin = iota // there is no token
	// fromLogin means that the token is only in the credentials file, where `login` has stored it.
	fromLogin
	// fromConfig means that the token is in a credentials block of a file other than the credentials file.
	// Programs do not edit such a file.
	fromConfig
	// fromEnvironment means that the token is only in an environment variable TF_TOKEN_HOST.
	fromEnvironment
)

// A Method is one installation method of a provider_installation block.
type Method struct {
	Kind MethodKind
	Path string // the directory of a filesystem mirror
	URL  string // the base URL of a network mirror, ending in a slash
	// Repository returns the name of the repository of an OCI registry that has a provider: HOST/NAME.
	Repository func(addrs.Provider) (string, error)
	// Include and Exclude are patterns of source addresses. An empty Include includes all.
	Include, Exclude []addrs.ProviderPattern
	Place            hcl.Range
}

// MethodKind is the type of an installation method's block.
type MethodKind string

const (
	Direct           MethodKind = "direct"
	FilesystemMirror MethodKind = "filesystem_mirror"
	NetworkMirror    MethodKind = "network_mirror"
	OCIMirror        MethodKind = "oci_mirror"
)

// Token returns the token for requests to a host; false if there is none. The host has the form of
// [addrs.Provider] (with a port unless it is 443).
func (c *Config) Token(host string) (hosts.Token, bool) {
	t, ok := c.tokens[host]
	return t, ok
}

// Origin returns where the token for a host was found.
func (c *Config) Origin(host string) Origin { return c.origins[host] }

// Services returns the services in the `host` block of a host, as encoding/json would decode them. known
// reports whether the host has a `host` block.
func (c *Config) Services(host string) (services map[string]any, known bool) {
	services, known = c.services[host]
	return services, known
}

// Service returns the URL of a service, such as `providers.v1`, in the `host` block of a host. known reports
// whether the host has a `host` block: such a block replaces service discovery on the host.
func (c *Config) Service(host, id string) (url string, known bool) {
	services, known := c.services[host]
	url, _ = services[id].(string)
	return url, known
}

// Serves reports whether the method applies to a provider.
func (m Method) Serves(p addrs.Provider) bool {
	matches := func(patterns []addrs.ProviderPattern) bool {
		for _, pattern := range patterns {
			if pattern.Matches(p) {
				return true
			}
		}
		return false
	}
	return (len(m.Include) == 0 || matches(m.Include)) && !matches(m.Exclude)
}
