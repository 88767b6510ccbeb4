package install

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	goversion "github.com/hashicorp/go-version"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// Requirements are the providers that a configuration (and its state) needs, each with all constraints of its
// modules; nil means no constraints.
type Requirements map[addrs.Provider]goversion.Constraints

// An Installer installs providers in a data directory. [New] creates one from the CLI configuration.
type Installer struct {
	Source   Source
	Client   *hosts.Client // for downloads of packages
	Platform Platform
	DataDir  string // usually `.terraform`
	// CacheDir is the plugin cache, from which packages are linked; "" means none.
	CacheDir string
	// CacheMayBreakLock accepts a cached package whose checksum is not in the lock file. The lock file is
	// then less complete.
	CacheMayBreakLock bool
	Memo              *Memo // nil: nothing is remembered
	Limits            Limits
	// Store returns the archive of a stored package; an error means that the store does not have the archive.
	// It is called before the source is asked, for packages with checksums in the lock file. The archive need
	// not be trusted, since it is verified. If Store is nil, there is no store.
	Store func(context.Context, Kept) (Package, error)
	// Keep is called with each archive that was downloaded and verified, so that a store can keep it. It may
	// be nil.
	Keep func(context.Context, Kept)
	// Room makes room on a small disk. If it is nil, nothing is removed.
	Room *Room
	// Events is called for each step, in the goroutine of the methods; it may be nil.
	Events func(Event)
}

// A Kept identifies an archive in a store.
type Kept struct {
	Provider addrs.Provider
	Version  constraint.Version
	Platform Platform
	// Path is the path of the archive on disk. It is valid until Keep returns.
	Path string
}

// Key returns the path of the archive in a store. It is the path in a packed filesystem mirror, so a mirror's
// directory can be copied into a store, and a store into a mirror.
func (k Kept) Key() string {
	return path.Join(k.Provider.Host, k.Provider.Namespace, k.Provider.Type, archiveName(packageKey{k.Version, k.Platform}, k.Provider))
}

// A Request is the input of [Installer.Ensure].
type Request struct {
	Requirements Requirements
	Lock         *lockfile.File // not changed; nil for an empty one
	// Unmanaged are the providers that other programs have started (TF_REATTACH_PROVIDERS). They are not
	// installed, and their entries in the lock file do not change.
	Unmanaged map[addrs.Provider]bool
	// Upgrade selects the newest versions, even if the constraints allow the version in the lock file.
	Upgrade bool
	// ReadOnly protects the lock file. It is an error if the lock file would need more or fewer providers,
	// and a warning if it would change in another way.
	ReadOnly bool
}

// A Result has the installed providers and the new lock file.
type Result struct {
	Selections map[addrs.Provider]Selection
	// Lock is the new lock file, which the caller saves. If Changed is set, it differs from the old one. With
	// ReadOnly, it must not be saved.
	Lock    *lockfile.File
	Changed bool
	// First reports that the old lock file had no providers.
	First bool
	// LocalChecksums are the providers with only one checksum in the lock file: the checksum of the package for
	// this platform. These packages came without a signature. init will fail for them on other platforms.
	LocalChecksums []addrs.Provider
}

// A Selection is an installed provider that can be started.
type Selection struct {
	Provider   addrs.Provider
	Version    constraint.Version
	Dir        string // may be a link
	Executable string
	Hash       string // the `h1:` checksum of Dir
}

// New returns an installer for this platform and a CLI configuration. It reads the environment variables
// TF_REGISTRY_DISCOVERY_RETRY (default 1) and TF_REGISTRY_CLIENT_TIMEOUT (default 10 seconds) with getenv.
func New(config *cliconfig.Config, getenv func(string) string) *Installer {
	client := &hosts.Client{
		Token:   cliconfig.OpenCredentials(config).Token,
		Retries: number(getenv("TF_REGISTRY_DISCOVERY_RETRY"), 1),
		Timeout: time.Duration(number(getenv("TF_REGISTRY_CLIENT_TIMEOUT"), 10)) * time.Second,
	}
	return &Installer{
		Source:            SourceOf(config, client, config.OCI.Credentials(getenv)),
		Client:            client,
		Platform:          CurrentPlatform(),
		DataDir:           ".terraform",
		CacheDir:          config.PluginCacheDir,
		CacheMayBreakLock: config.PluginCacheMayBreakLock,
	}
}

// number returns text as a number. If text is invalid or negative, it returns the second argument.
func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

// SourceOf returns the sources that a CLI configuration names. If it names none, a provider with a package in
// an implied directory comes from there, and all other providers come from their registries. login has the
// credentials for OCI registries.
func SourceOf(config *cliconfig.Config, client *hosts.Client, login oci.Credentials) Source {
	if !config.Explicit {
		return implied(config, client)
	}
	var choices Choices
	for _, m := range config.Methods {
		c := Choice{Serves: m.Serves}
		switch m.Kind {
		case cliconfig.Direct:
			c.Source = NewRegistries(client, config)
		case cliconfig.FilesystemMirror:
			c.Source = FilesystemMirror{m.Path}
		case cliconfig.NetworkMirror:
			mirror, err := NewNetworkMirror(client, m.URL)
			if err != nil {
				panic(err) // cliconfig has checked it
			}
			c.Source = mirror
		case cliconfig.OCIMirror:
			c.Source = &OCIMirror{client: client, login: login, repository: m.Repository}
		}
		choices = append(choices, c)
	}
	return choices
}

func implied(config *cliconfig.Config, client *hosts.Client) Choices {
	var choices Choices
	for _, dir := range config.ImpliedDirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			choices = append(choices, Choice{Source: FilesystemMirror{dir}})
		}
	}
	local := choices
	isLocal := func(p addrs.Provider) bool {
		for _, c := range local {
			if c.Source.(FilesystemMirror).has(p) {
				return true
			}
		}
		return false
	}
	for i := range choices {
		choices[i].Serves = isLocal
	}
	return append(choices, Choice{
		Source: NewRegistries(client, config),
		Serves: func(p addrs.Provider) bool { return !isLocal(p) },
	})
}

// DirsSource returns the source for `init -plugin-dir`: only the given directories, in the layout of
// filesystem mirrors.
func DirsSource(dirs []string) Source {
	var choices Choices
	for _, dir := range dirs {
		choices = append(choices, Choice{Source: FilesystemMirror{dir}})
	}
	return choices
}

func (in *Installer) event(e Event) {
	if in.Events != nil {
		in.Events(e)
	}
}

func (in *Installer) memo() *Memo {
	if in.Memo == nil {
		in.Memo = OpenMemo("")
	}
	return in.Memo
}

// place returns the directory of a package in the data directory.
func (in *Installer) place(p addrs.Provider, v constraint.Version) string {
	return packageDir(filepath.Join(in.DataDir, ProvidersDir), p, v, in.Platform)
}
