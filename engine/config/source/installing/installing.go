// Package installing installs on disk the modules that a configuration calls. It selects versions, and has
// each package fetched once. Its layout and manifest are those of Terraform and OpenTofu, so that these tools
// and Lockstep can use modules that the others have installed.
//
// It does not know how a package is fetched, nor the content of modules. Start at [Installer.Install].
// [Installer.Copy] copies a module that the user wants to change.
package installing

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// A Registry answers questions about registry modules. Packages are HOST/NAMESPACE/NAME/SYSTEM. [Registries]
// implements it.
type Registry interface {
	// Versions returns the versions of a package. If there is no such module, the error matches
	// errNoSuchModule.
	Versions(ctx context.Context, pkg string) ([]constraint.Version, error)
	// Location returns the source address of one version of a package.
	Location(ctx context.Context, pkg string, v constraint.Version) (string, error)
}

// A Fetch function fetches a package into the directory dir. address has the form of source.Address.Package
// for a Remote source. dir does not exist before, and is complete after. getting.Getters has such a function.
type Fetch func(ctx context.Context, address, dir string) error

// An Installer installs modules for one configuration.
type Installer struct {
	// Tree has the configuration's files, and the files of installed modules: usually source.Dir of Root.
	Tree source.Tree
	// Root is the root module's directory on this machine.
	Root string
	// DataDir is the directory for installed modules. It is an absolute path, or a path with slashes relative
	// to Root, usually ".terraform".
	DataDir  string
	Registry Registry
	Fetch    Fetch
	// Known returns modules that are already installed, by key; it may be nil.
	Known func(key string) (source.Installed, bool)
	// Bytes limits the size of all modules on disk; 0 means no limit. A package that is called several times
	// counts several times.
	Bytes int64
	// Calls limits the number of calls of modules that are not local; 0 means no limit.
	Calls int
	// Upgrade installs all modules again, in the newest allowed versions.
	Upgrade bool
	// Early evaluates sources and versions; see loading.Input.
	Early loading.Early
	// Queries has the query files of the root module read, too.
	Queries bool
	// Language is the version of the language of the configuration.
	Language language.Version
	// Events is called for each step; it may be nil.
	Events func(Event)
}

// An Event is a step of an installation, for display.
type Event struct {
	Kind    EventKind
	Key     string // of the module's call
	Package string // without secrets
	Version string // of a registry's module
	Dir     string // relative to the root module's directory
}

// An EventKind is a kind of step of an installation.
type EventKind byte

const (
	Downloading EventKind = 'd' // a package is being fetched, or copied from where it was fetched
	Installed   EventKind = 'i' // a module is installed
)

func (e Event) String() string {
	switch {
	case e.Kind == Installed:
		return fmt.Sprintf("- %s in %s", e.Key, e.Dir)
	case e.Version != "":
		return fmt.Sprintf("Downloading %s %s for %s...", e.Package, e.Version, e.Key)
	}
	return fmt.Sprintf("Downloading %s for %s...", e.Package, e.Key)
}

// Install loads the configuration, and installs its modules. It continues after a failure, to report all
// failures. It returns the configuration as loading.Load does. The caller must write the manifest of the
// configuration, even with errors: the manifest lists the modules that are now installed.
func (in *Installer) Install(ctx context.Context) (*config.Config, diags.Diagnostics) {
	return loading.Load(in.begin(ctx).input())
}

// InstallWithTests does the same as Install, and also installs the modules that the test files in a directory
// call; see testfiles.Load.
func (in *Installer) InstallWithTests(ctx context.Context, dir string) (*testfiles.Suite, diags.Diagnostics) {
	run := in.begin(ctx)
	return testfiles.Load(run.input(), dir)
}

func (run *installation) input() loading.Input {
	return loading.Input{Tree: run.Tree, Install: run.install, Found: run.found, Early: run.Early, Queries: run.Queries, Language: run.Language, Budget: budget.From(run.ctx)}
}

// found sends an event if the module at this key is new or has moved.
func (run *installation) found(key, dir string) {
	if was, ok := run.known(key); !ok || run.Upgrade || run.fresh[key] || path.Clean(was.Dir) != dir {
		run.event(Event{Kind: Installed, Key: key, Dir: dir})
	}
}

func (in *Installer) known(key string) (source.Installed, bool) {
	if in.Known == nil {
		return source.Installed{}, false
	}
	return in.Known(key)
}

func (in *Installer) event(e Event) {
	if in.Events != nil {
		in.Events(e)
	}
}

// An installation is one run of Install.
type installation struct {
	*Installer
	ctx     context.Context
	fetched map[string]string // the directory of a package, by its address
	fresh   map[string]bool   // the calls whose modules this run has installed
	bytes   int64             // size of the modules that this run has installed
	calls   int               // number of calls of modules that are not local
}

func (in *Installer) begin(ctx context.Context) *installation {
	return &installation{Installer: in, ctx: ctx, fetched: map[string]string{}, fresh: map[string]bool{}}
}

// install makes sure that the module of one call is installed.
func (run *installation) install(w loading.Wanted) (source.Installed, diags.Diagnostics) {
	if was, ok := run.known(w.Key); ok && !run.Upgrade && run.usable(w, was) {
		return was, nil
	}
	if err := run.ctx.Err(); err != nil {
		return source.Installed{}, diags.Errorf(&w.Call.SourceRange, "Module installation was canceled", "The module %q was not installed. Run init again.", w.Call.Name)
	}
	if run.calls++; run.Calls > 0 && run.calls > run.Calls {
		return source.Installed{}, diags.Errorf(&w.Call.SourceRange, "Too many modules", "The module %q was not installed: the configuration has more than %d calls of modules from elsewhere, with those that such modules make.", w.Call.Name, run.Calls)
	}
	address, version := w.Address, ""
	if address.Kind == source.Registry {
		v, ds := run.selectVersion(w)
		if ds.HasErrors() {
			return source.Installed{}, ds
		}
		run.event(Event{Kind: Downloading, Key: w.Key, Package: w.Address.Package, Version: v.String()})
		version = v.String()
		if address, ds = run.locate(w, v); ds.HasErrors() {
			return source.Installed{}, ds
		}
	} else {
		run.event(Event{Kind: Downloading, Key: w.Key, Package: source.Redact(address.Package)})
	}
	dir := path.Join(run.DataDir, path.Dir(source.ManifestPath), w.Key)
	if err := run.place(address.Package, dir); err != nil {
		return source.Installed{}, failed(w, address, err)
	}
	subdirs := []string{address.Subdir}
	if w.Address.Kind == source.Registry {
		subdirs = append(subdirs, w.Address.Subdir) // The directory in the call is inside of the directory that the registry names.
	}
	for _, sub := range subdirs {
		var err error
		if dir, err = run.enter(dir, sub); err != nil {
			return source.Installed{}, diags.Errorf(&w.Call.SourceRange, "Unreadable module subdirectory",
				"The package of module %q, %s, %s. Check the part of the source address behind the double slash.", w.Call.Name, source.Redact(address.Package), err)
		}
	}
	run.fresh[w.Key] = true
	return source.Installed{Key: w.Key, Source: w.Address.String(), Version: version, Dir: dir}, nil
}

// usable reports whether an installed module fits a call, so that nothing must be installed. The module must
// have the same source and an allowed version, and its directory must exist.
func (run *installation) usable(w loading.Wanted, installed source.Installed) bool {
	if !w.Address.Same(installed.Source) {
		return false
	}
	if w.Address.Kind == source.Registry {
		v, err := constraint.ParseVersion(installed.Version)
		set, ds := constraints(w)
		if err != nil || ds.HasErrors() || !set.Has(v) {
			return false
		}
	}
	info, err := os.Stat(run.path(installed.Dir))
	return err == nil && info.IsDir()
}

// path returns the path of a directory on this machine.
func (run *installation) path(dir string) string {
	if filepath.IsAbs(filepath.FromSlash(dir)) {
		return filepath.FromSlash(dir)
	}
	return filepath.Join(run.Root, filepath.FromSlash(dir))
}

// failed returns the diagnostic for a package that could not be fetched.
func failed(w loading.Wanted, address source.Address, err error) diags.Diagnostics {
	from := source.Redact(address.Package)
	if w.Address.Kind == source.Registry {
		from += " (the registry's address for " + w.Address.Package + ")"
	}
	return diags.Errorf(&w.Call.SourceRange, "Failed to download module",
		"Could not download module %q: its package could not be fetched from %s: %s.", w.Call.Name, from, strings.TrimSuffix(err.Error(), "."))
}
