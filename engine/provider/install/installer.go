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
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// Requirements are the providers that a configuration (and its state) need, each with
// all constraints that its modules set; nil for none.
type Requirements map[addrs.Provider]goversion.Constraints

// An Installer installs providers into a data directory. [New] makes one from the CLI
// configuration.
type Installer struct {
	Source   Source
	Client   *hosts.Client // for downloads of packages
	Platform Platform
	DataDir  string // usually `.terraform`
	// CacheDir is the plugin cache, whose packages are linked; "" for none.
	CacheDir string
	// CacheMayBreakLock accepts a cached package whose checksum is not in the lock file,
	// at the price of a less complete lock file.
	CacheMayBreakLock bool
	Memo              *Memo // nil for one that forgets
	Limits            Limits
	// Store returns the archive of a package that was kept; an error is as good as none. It is asked
	// before the source, for packages of which the lock file has checksums, and trusted with nothing. nil: there is none.
	Store func(context.Context, Kept) (Package, error)
	// Keep is told of each archive that was downloaded and verified, for a store. nil: nobody is.
	Keep func(context.Context, Kept)
	// Room makes room on a small disk. nil: nothing is removed.
	Room *Room
	// Events is called for each step, from within the methods; may be nil.
	Events func(Event)
}

// A Kept names an archive in a store.
type Kept struct {
	Provider addrs.Provider
	Version  constraint.Version
	Platform Platform
	// Path is that of the archive on disk, until Keep returns.
	Path string
}

// Key is the path of the archive in a store, that of a packed filesystem mirror: a mirror's directory can be copied
// into a store, and the other way round.
func (k Kept) Key() string {
	return path.Join(k.Provider.Host, k.Provider.Namespace, k.Provider.Type, archiveName(packageKey{k.Version, k.Platform}, k.Provider))
}

// A Request is the input of [Installer.Ensure].
type Request struct {
	Requirements Requirements
	Lock         *lockfile.File // not changed; nil for an empty one
	// Unmanaged are the providers that come from elsewhere (TF_REATTACH_PROVIDERS). They are not installed, and their entries in the lock file
	// stay as they are.
	Unmanaged map[addrs.Provider]bool
	// Upgrade selects the newest versions, even where the lock file has a version that
	// the constraints allow.
	Upgrade bool
	// ReadOnly makes it an error if the lock file would need more or fewer providers,
	// and a warning if it would change otherwise.
	ReadOnly bool
}

// A Result holds the installed providers and the new lock file.
type Result struct {
	Selections map[addrs.Provider]Selection
	// Lock is the new lock file, for the caller to save. It never equals the old one
	// if Changed. With ReadOnly, it is not to be saved.
	Lock    *lockfile.File
	Changed bool
	// First reports that the old lock file had no provider.
	First bool
	// LocalChecksums are the providers for which the lock file now has no more than
	// the checksum of this platform's package, since they came without a signature.
	// On other platforms, init will fail for them.
	LocalChecksums []addrs.Provider
}

// A Selection is a provider that is ready to start.
type Selection struct {
	Provider   addrs.Provider
	Version    constraint.Version
	Dir        string // may be a link
	Executable string
	Hash       string // the `h1:` checksum of Dir
}

// New returns an installer for this platform that follows a CLI configuration.
// Getenv gives the environment variables TF_REGISTRY_DISCOVERY_RETRY (1) and
// TF_REGISTRY_CLIENT_TIMEOUT (10 seconds).
func New(config *cliconfig.Config, getenv func(string) string) *Installer {
	client := &hosts.Client{
		Token:   cliconfig.OpenCredentials(config).Token,
		Retries: number(getenv("TF_REGISTRY_DISCOVERY_RETRY"), 1),
		Timeout: time.Duration(number(getenv("TF_REGISTRY_CLIENT_TIMEOUT"), 10)) * time.Second,
	}
	return &Installer{
		Source:            SourceOf(config, client),
		Client:            client,
		Platform:          CurrentPlatform(),
		DataDir:           ".terraform",
		CacheDir:          config.PluginCacheDir,
		CacheMayBreakLock: config.PluginCacheMayBreakLock,
	}
}

// number reads a setting. An invalid or negative number gives the default.
func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

// SourceOf returns the sources that a CLI configuration names. If it names none, each
// provider of which an implied directory has a package is taken from there, and all
// others from their registries.
func SourceOf(config *cliconfig.Config, client *hosts.Client) Source {
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

// DirsSource returns the source for `init -plugin-dir`: the given directories, in the
// layout of filesystem mirrors, and nothing else.
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

// place is where a package goes in the data directory.
func (in *Installer) place(p addrs.Provider, v constraint.Version) string {
	return packageDir(filepath.Join(in.DataDir, ProvidersDir), p, v, in.Platform)
}
