// Package testfiles reads the test files of a configuration: files named *.tftest.hcl, *.tftest.json,
// *.tofutest.hcl and *.tofutest.json beside the root module's files and in its test directory. It also reads the
// modules that their runs call, and mock files (*.tfmock.hcl, *.tfmock.json).
//
// It finds mistakes of shape, as Terraform does without running a test. The references of conditions and the
// values of variables are checked only when a run is executed. The package does not know providers' schemas,
// and does not run tests. Start at [Load].
//
// Source: the diagnostics that Terraform 1.11.4 has for the configurations in
// cmd/lockstep/internal/program/testdata/diagnostics/tests.txt.
package testfiles

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// DefaultDirectory is the test directory if no option names another one.
const DefaultDirectory = "tests"

// A Suite is a configuration with its tests.
type Suite struct {
	Config *config.Config // the configuration under test, never nil
	Files  []*File        // by name
	// Sources are the files that were read for the tests, including modules. The keys are the file names in
	// ranges.
	Sources map[string]*hcl.File
}

// Load reads a configuration and its test files. The test files are beside the root module's files and in
// dir, which is relative to the root module's directory. With errors, Load returns the part that it could
// read; the result is never nil.
//
// As Terraform does, it stops at errors in the root module's own files and in the test files before it reads
// modules.
func Load(in loading.Input, dir string) (*Suite, diags.Diagnostics) {
	s := &Suite{Sources: map[string]*hcl.File{}}
	in.Registry = loading.Registry(in)
	found := s.readFiles(in, dir)
	in.RootOnly = found.HasErrors()
	var ds, more diags.Diagnostics
	s.Config, ds = loading.Load(in)
	ds = append(ds, diags.FromHCL(found)...)
	if in.RootOnly || s.Config.Root.Broken {
		return s, ds
	}
	more = s.loadModules(in)
	found = append(s.readMocks(in), s.checkProviders()...)
	return s, append(append(ds, more...), diags.FromHCL(found)...)
}

// WithoutMissing returns diagnostics of [Load] without the errors about provider configurations that a module
// lacks: a test adds them to the module.
func WithoutMissing(ds diags.Diagnostics) diags.Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d diags.Diagnostic) bool { return d.Summary == loading.ProviderNotPresent })
}

// loadModules reads the modules that runs call.
func (s *Suite) loadModules(in loading.Input) (ds diags.Diagnostics) {
	for _, f := range s.Files {
		for _, r := range f.Runs {
			if r.Module == nil {
				continue
			}
			in.Key = f.key(r)
			var more diags.Diagnostics
			r.Config, more = loading.LoadCalled(in, r.Module)
			if r.Config != nil {
				maps.Copy(s.Sources, r.Config.Files)
			}
			ds = append(ds, more...)
		}
	}
	return ds
}

// Empty reports whether there are neither configuration files nor test files.
func (s *Suite) Empty() bool { return len(s.Files) == 0 && s.Config.Empty() }

// Calls reports whether the configuration or one of its tests calls a module.
func (s *Suite) Calls() bool {
	for _, f := range s.Files {
		for _, r := range f.Runs {
			if r.Module != nil {
				return true
			}
		}
	}
	return len(s.Config.Root.Calls) > 0
}

// Called returns those runs that call another module. It leaves out runs whose module could not be read.
func (s *Suite) Called() []*Run {
	var out []*Run
	for _, f := range s.Files {
		for _, r := range f.Runs {
			if r.Config != nil {
				out = append(out, r)
			}
		}
	}
	return out
}

// Manifest returns the manifest that init writes. It lists the modules of the configuration and the modules of
// its tests.
func (s *Suite) Manifest() source.Manifest {
	out := s.Config.Manifest()
	for _, f := range s.Files {
		for _, r := range f.Runs {
			if r.Config == nil {
				continue
			}
			for _, x := range r.Config.Manifest().Modules {
				if x.Key == "" {
					x.Source, x.Version = r.Module.Address.String(), r.Config.Root.Version
				}
				x.Key = strings.TrimSuffix(f.key(r)+"."+x.Key, ".")
				out.Modules = append(out.Modules, x)
			}
		}
	}
	slices.SortStableFunc(out.Modules, func(a, b source.Installed) int { return strings.Compare(a.Key, b.Key) })
	// In OpenTofu, several runs may have the same name, and then the same module.
	out.Modules = slices.CompactFunc(out.Modules, func(a, b source.Installed) bool { return a.Key == b.Key })
	return out
}

// Validate returns the errors of runs and overrides that need the whole configuration: overrides of objects
// that do not exist, and failures that no run can expect. Call it only if Load returned no errors.
func (s *Suite) Validate() diags.Diagnostics {
	var ds hcl.Diagnostics
	for _, f := range s.Files {
		ds = append(ds, s.checkTargets(f)...)
		for _, r := range f.Runs {
			ds = append(ds, checkExpected(r)...)
		}
	}
	return diags.FromHCL(ds)
}

// key returns the manifest key of a run's module.
func (f *File) key(r *Run) string { return f.Key() + "." + r.Name }

// Key returns the file's part of manifest keys: "test." and its path relative to the root module's directory,
// without the extension and with dots. Source: Terraform's modules.json.
func (f *File) Key() string {
	stem := strings.TrimSuffix(f.Name, path.Ext(f.Name))
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	return "test." + strings.ReplaceAll(stem, "/", ".")
}
