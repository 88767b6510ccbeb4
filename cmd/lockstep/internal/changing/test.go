package changing

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/engine/testruns"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// testFlags are the options of the command test.
type testFlags struct {
	vars                        cli.VarFlags
	filter                      cli.ListFlag
	dir, junit, cloud           string
	json, verbose, coverage     bool
	parallelism, runParallelism int
}

var Test = cli.Command{Name: "test", Synopsis: "Run the tests of a module", Run: func(a *cli.App, args []string) int {
	var o testFlags
	f := a.NewFlags("test", "test [OPTIONS]")
	f.JsonStream(&o.json)
	f.Vars(&o.vars)
	f.Var(&o.filter, "filter", "run this test file only; may be given several times")
	f.StringVar(&o.dir, "test-directory", testfiles.DefaultDirectory, "the directory with test files")
	f.StringVar(&o.junit, "junit-xml", "", "write the results to this file, too, in the JUnit XML format")
	f.StringVar(&o.cloud, "cloud-run", "", "")
	f.BoolVar(&o.verbose, "verbose", false, "show the plan or the state of each run")
	f.BoolVar(&o.coverage, "coverage", false, "tell which resources, outputs and checks the tests have not reached")
	f.IntVar(&o.parallelism, "parallelism", 10, "the number of concurrent provider calls of a run")
	f.IntVar(&o.runParallelism, "run-parallelism", 10, "the number of concurrent runs, of those with parallel = true")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	switch {
	case o.cloud != "":
		return f.Refuse("Option -cloud-run is not supported", "-cloud-run runs tests in HCP Terraform, which Lockstep does not use. Run \"lockstep test\" without the option: it runs the same tests on this machine")
	case !filepath.IsLocal(o.dir):
		return f.Refuse("Invalid testing directory", "-test-directory names a directory in the root module's directory, by a relative path such as tests/more")
	case o.parallelism < 1 || o.runParallelism < 1:
		return f.Refuse("Invalid parallelism value", "-parallelism and -run-parallelism must be positive numbers")
	}
	v := a.View(o.json)
	defer v.Close()
	op := opening.New(a)
	op.Lasting = true
	defer op.Close()
	in, ds := openTests(a, op, &o, v)
	v.Diagnostics(ds)
	if ds.HasErrors() {
		return 1
	}
	kept := testStates{op: op, open: map[string]*operation.Operation{}}
	v.Diagnostics(kept.report(v))
	in.Apply = kept.apply
	v.TestsFound(in.Files)
	results, coverage := testruns.Run(a.Ctx, in)
	kept.close()
	if o.coverage {
		v.TestCoverage(coverage)
	}
	v.TestsDone(results)
	if o.junit != "" {
		if err := workdir.WriteFile(a.Path(o.junit), junit(results, a.SourcesOf), 0o644); err != nil {
			v.Diagnostics(diags.Errorf(nil, "The JUnit file cannot be written", "%s cannot be written: %s. Name another file with -junit-xml.", o.junit, cli.Reason(err)))
			return 1
		}
	}
	if events.TestOutcome(results) > events.TestPass {
		return 1
	}
	return 0
}}

// openTests reads the configuration with its test files, and opens the providers.
func openTests(a *cli.App, op *opening.Operation, o *testFlags, v cli.View) (in testruns.Input, ds diags.Diagnostics) {
	if op.Dir, ds = a.Dir(); ds.HasErrors() {
		return in, ds
	}
	op.Prestart()
	suite, more := op.Dir.LoadTests(".", o.dir)
	a.Remember(suite)
	if ds = append(ds, testfiles.WithoutMissing(more)...); ds.HasErrors() {
		return in, ds
	}
	if ds = append(ds, suite.Validate()...); ds.HasErrors() {
		return in, ds
	}
	op.Config = suite.Config
	configs := []*config.Config{suite.Config}
	for _, r := range suite.Called() {
		configs = append(configs, r.Config)
	}
	for _, cfg := range configs {
		op.Config = cfg
		if ds = append(ds, op.RequireProvidersOf(nil)...); ds.HasErrors() {
			return in, ds.Distinct()
		}
	}
	op.Config, op.Workspace = suite.Config, op.Dir.Workspace()
	ds = append(ds, op.Dir.DevelopmentWarning("Tests may pass here and fail with any released version.")...)
	sources, more := a.Sources(op.Dir, o.vars)
	if ds = append(ds, more...); ds.HasErrors() {
		return in, ds
	}
	beside, more := a.Sources(op.Dir, o.vars, o.dir)
	if ds = append(ds, more...); ds.HasErrors() {
		return in, ds
	}
	in.Config, in.RunParallelism, in.Verbose = suite.Config, o.runParallelism, o.verbose
	in.Files, more = chosen(suite.Files, o.filter)
	ds = append(ds, more...)
	in.SourcesOf = func(f *testfiles.File) []inputs.Source {
		if path.Dir(f.Name) == path.Clean(filepath.ToSlash(o.dir)) {
			return beside
		}
		return sources
	}
	in.Base = op.RunWith(o.parallelism, v)
	in.Base.Events, in.Base.Analysis, in.Base.Budget = nil, nil, nil
	in.Base.LocalExec = localExecOf(a)
	in.Renew = op.Providers.Renew
	in.Listener = func(e events.Test) {
		v.Test(e, op.Schemas)
		if e.Kind == events.TestLeft && len(e.Objects) > 0 {
			keepLeft(op.Dir.Path, e.State, v)
		}
	}
	return in, ds
}

// chosen returns the test files that the options -filter name, sorted by name; without options, all.
func chosen(all []*testfiles.File, filter []string) (out []*testfiles.File, ds diags.Diagnostics) {
	seen := map[string]bool{}
	for _, f := range all {
		if len(filter) == 0 || slices.ContainsFunc(filter, func(name string) bool { return path.Clean(filepath.ToSlash(name)) == f.Name }) {
			out = append(out, f)
			seen[f.Name] = true
		}
	}
	slices.SortFunc(out, func(a, b *testfiles.File) int { return strings.Compare(a.Name, b.Name) })
	if len(filter) > 0 && len(out) == 0 {
		return nil, diags.Warningf(nil, "No tests were found", "The option -filter selects no test file. Name a file by its path from the root module's directory, such as tests/main.tftest.hcl.")
	}
	for _, name := range filter {
		if !seen[path.Clean(filepath.ToSlash(name))] {
			ds = append(ds, diags.Warningf(nil, "Unknown test file", "There is no test file %s, which the option -filter names. Name a file by its path from the root module's directory.", name)...)
		}
	}
	return out, ds
}

// keepLeft writes a state to a new file. The state contains the objects that could not be destroyed.
func keepLeft(dir string, s *states.State, v cli.View) {
	name := "errored_test.tfstate"
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			break
		}
		name = fmt.Sprintf("errored_test-%d.tfstate", n)
	}
	data, err := statefile.Write(s.With(states.NewLineage(), 1))
	if err == nil {
		err = workdir.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
	if err != nil {
		v.Diagnostics(diags.FromError("The state of the test could not be kept", err))
		return
	}
	v.Say("\nThe state of the test is in %s. To see the objects, run:\n    lockstep state list -state=%s\nDestroy them, and delete the file.\n", name, name)
}
