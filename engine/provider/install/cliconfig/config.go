package cliconfig

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// Config is a CLI configuration. Nobody may change it after [Load].
type Config struct {
	// PluginCacheDir is a directory that working directories share packages of
	// providers in; "" for none.
	PluginCacheDir string
	// PluginCacheMayBreakLock lets a package of the cache be used although the lock
	// file knows no checksum for it.
	PluginCacheMayBreakLock bool
	// DisableCheckpoint is kept for completeness: nothing here calls home.
	DisableCheckpoint bool
	// Methods are where providers come from, in the order of the file. It is nil if
	// there is no provider_installation block: then they are implied.
	Methods []Method
	// Explicit tells whether there is a provider_installation block.
	Explicit bool
	// Overrides are the directories of providers in development.
	Overrides map[addrs.Provider]string
	// ImpliedDirs are the directories in which an implied installation method looks
	// for providers before it asks their registries. Not all need to exist.
	ImpliedDirs []string

	// CredentialsFile is the file that `login` keeps tokens in; "" without a home directory.
	CredentialsFile string
	// Helper is the program that knows the tokens of all other hosts; nil: there is none.
	Helper *Helper

	services map[string]map[string]any
	tokens   map[string]hosts.Token
	origins  map[string]Origin
}

// A Helper is a credentials helper.
type Helper struct {
	Name    string
	Program string // an absolute path; "": it is not installed
	Args    []string
}

// Origin is the place that a host's token comes from.
type Origin int

const (
	noOrigin Origin = iota // there is no token
	// FromLogin is the credentials file alone.
	fromLogin
	// FromConfig is a credentials block in another file, which programs do not edit.
	fromConfig
	// FromEnvironment is a variable TF_TOKEN_HOST alone.
	fromEnvironment
)

// A Method is one installation method of a provider_installation block.
type Method struct {
	Kind MethodKind
	Path string // the directory of a filesystem mirror
	URL  string // the base URL of a network mirror, ending in a slash
	// Include and Exclude are patterns of source addresses. No Include is all.
	Include, Exclude []addrs.ProviderPattern
	Place            hcl.Range
}

// MethodKind is the type of an installation method's block.
type MethodKind string

const (
	Direct           MethodKind = "direct"
	FilesystemMirror MethodKind = "filesystem_mirror"
	NetworkMirror    MethodKind = "network_mirror"
)

// Token returns the token for requests to a host, in the form of [addrs.Provider]
// (with a port unless it is 443).
func (c *Config) Token(host string) (hosts.Token, bool) {
	t, ok := c.tokens[host]
	return t, ok
}

// Origin returns the origin of the token for a host.
func (c *Config) Origin(host string) Origin { return c.origins[host] }

// Services returns the services that a `host` block gives for a host, in the form that
// encoding/json decodes to; known as in [Config.Service].
func (c *Config) Services(host string) (services map[string]any, known bool) {
	services, known = c.services[host]
	return services, known
}

// Service returns the URL that a `host` block gives for a service of a host, such
// as `providers.v1`. known reports whether there is such a block: it takes the place of
// service discovery on that host.
func (c *Config) Service(host, id string) (url string, known bool) {
	services, known := c.services[host]
	url, _ = services[id].(string)
	return url, known
}

// Serves reports whether the method may be asked for a provider.
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
