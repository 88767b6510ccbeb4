package preparing

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// copyModule runs init -from-module: the module at a source address becomes the configuration of the directory,
// which must be empty except for .terraform. The modules that it calls are installed, too. After an error
// nothing is copied.
func copyModule(a *cli.App, d *workdir.Dir, from string, v cli.View) diags.Diagnostics {
	if err := hasConfiguration(a, d); err != nil {
		return diags.FromError("The working directory already contains files", err)
	}
	v.Step(render.InitCopying, "%s from %q...\n", a.Print().Bold("Copying configuration"), source.Redact(from))
	address, err := originOf(d, from)
	if err != nil {
		return diags.FromError("Invalid module source address", err)
	}
	if err := checkUnused(d); err != nil {
		return diags.FromError("Can't populate non-empty directory", err)
	}
	// The module's files are first collected in .terraform: it is on the same file system as the target, and
	// Lockstep does not read it as a configuration.
	beside := filepath.Join(d.Path, ".terraform")
	_, err = os.Stat(beside)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(beside, 0o755); err != nil {
		return diags.FromError("Failed to create temporary directory", err)
	}
	tmp, err := os.MkdirTemp(beside, "init-from-module-")
	if err != nil {
		return diags.FromError("Failed to create temporary directory", err)
	}
	defer func() {
		os.RemoveAll(tmp)
		if made {
			os.Remove(beside) // fails, as intended, unless it is empty
		}
	}()
	return copyInto(a, d, address, stage(a, d, filepath.Join(tmp, "module")), v)
}

// hasConfiguration returns an error if the directory already has a configuration.
func hasConfiguration(a *cli.App, d *workdir.Dir) error {
	if suite, _ := survey(a, d, testfiles.DefaultDirectory, true); suite == nil || suite.Empty() {
		return nil
	}
	return errors.New("the -from-module option requires an empty directory into which a copy of the referenced module will be placed. To initialize the configuration already in this working directory, omit the -from-module option")
}

// checkUnused returns an error if the directory contains anything but .terraform.
func checkUnused(d *workdir.Dir) error {
	entries, err := os.ReadDir(d.Path)
	for _, e := range entries {
		if e.Name() != ".terraform" {
			return fmt.Errorf("the target directory %s is not empty: it has %s. It cannot be initialized with the -from-module option", d.Path, e.Name())
		}
	}
	return err
}

// originOf parses the source address of -from-module. A relative path is relative to the working directory.
func originOf(d *workdir.Dir, text string) (source.Address, error) {
	a, err := source.Parse(text)
	if err == nil && a.Kind == source.Local {
		a, err = source.Parse(filepath.ToSlash(filepath.Join(d.WorkingDir(), filepath.FromSlash(a.Path))))
	}
	return a, err
}

// stage returns a working directory at the given path, with the settings of d. Its files will later replace
// those of d.
func stage(a *cli.App, d *workdir.Dir, path string) *workdir.Dir {
	staged := *d
	staged.Path, staged.DataDir = path, workdir.DataDir(filepath.Join(path, ".terraform"))
	staged.Environ = slices.DeleteFunc(slices.Clone(d.Environ), func(kv string) bool { return strings.HasPrefix(kv, "TF_DATA_DIR=") })
	staged.Sources = func() []inputs.Source {
		sources, _ := a.Sources(&staged, *a.Vars)
		return sources
	}
	return &staged
}

// copyInto downloads the module at the address from, and the modules that it calls, into the directory staged.
// It then moves the files from staged to d.
func copyInto(a *cli.App, d *workdir.Dir, from source.Address, staged *workdir.Dir, v cli.View) diags.Diagnostics {
	in := moduleInstaller(staged, moduleOptions{Events: func(e installing.Event) {
		if e.Kind == installing.Installed {
			v.Say("- %s\n", e.Key)
		} else {
			v.Say("%s\n", e)
		}
	}})
	ds := in.Copy(a.Ctx, from, staged.Path)
	if ds.HasErrors() {
		return ds
	}
	suite, _ := survey(a, staged, testfiles.DefaultDirectory, true)
	if ds := parentCalls(suite.Config, from); ds.HasErrors() {
		// The files are copied despite errors, because only their author can correct the source strings.
		return append(ds, diags.FromError("Failed to copy root module", moveFiles(staged.Path, d.Path))...)
	}
	cfg, more := in.Install(a.Ctx)
	maps.Copy(a.Files, cfg.Files)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	err := staged.WriteModules(cfg.Manifest())
	if err == nil {
		err = moveFiles(staged.Path, d.Path)
	}
	// The manifest contains paths below the data directory. Those are correct only if the data directory of d
	// is .terraform. Otherwise init will install the modules once more.
	if err == nil && filepath.Clean(string(d.DataDir)) == filepath.Join(d.Path, ".terraform") {
		err = moveModules(staged, d)
	}
	// Warnings about the configuration are left out, because init repeats them.
	return diags.FromError("Failed to copy root module", err)
}

// parentCalls returns an error for each module call in the root module whose relative path leads out of the
// copied directory. The error names a source to write instead.
func parentCalls(cfg *config.Config, from source.Address) (ds diags.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Root.Calls)) {
		call, err := source.Parse(cfg.Root.Calls[name].Source)
		if err != nil || call.Kind != source.Local || !leadsUp(path.Clean(call.Path)) {
			continue
		}
		instead := from
		if instead.Subdir = path.Join(from.Subdir, call.Path); leadsUp(instead.Subdir) {
			if !strings.HasPrefix(from.Package, "/") && !strings.HasPrefix(from.Package, "file://") {
				continue // the path also leads out of the package: installing the modules reports that
			}
			instead.Package, instead.Subdir = path.Join(strings.TrimPrefix(from.Package, "file://"), instead.Subdir), ""
		}
		ds = append(ds, diags.Errorf(nil, "Root module references parent directory",
			"The requested module %q refers to a module via its parent directory, %q. To use this as a new root module this source string must be rewritten as a remote source address, such as %q.",
			source.Redact(from.String()), call.Text, source.Redact(instead.String()))...)
	}
	return ds
}

// leadsUp reports whether a clean path begins with "..".
func leadsUp(p string) bool { return p == ".." || strings.HasPrefix(p, "../") }

// moveFiles moves all files that are not hidden from one directory to another. After an error, none are moved.
func moveFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	var moved []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			for _, name := range moved {
				err = errors.Join(err, os.Rename(filepath.Join(to, name), filepath.Join(from, name)))
			}
			return err
		}
		moved = append(moved, e.Name())
	}
	return nil
}

// moveModules moves the installed modules. They replace those of an earlier configuration.
func moveModules(from, to *workdir.Dir) error {
	const name = "modules"
	if err := os.RemoveAll(filepath.Join(string(to.DataDir), name)); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(string(from.DataDir), name), filepath.Join(string(to.DataDir), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it calls none
	}
	return err
}
