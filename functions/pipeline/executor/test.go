package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/testruns"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// Everybody whose pull requests are planned can write tests. So tests run like the plan of a fork's commit:
// without credentials and without a network. They need neither, because every provider is a mock.

// parallelTests is the maximum number of runs of a test file at the same time, if the file allows that. Each
// run may need the memory of a plan.
const parallelTests = 2

var errRights = errors.New("tests run without rights only")

// Test runs the tests of a project; it implements jobs.Engine.
func (e *Engine) Test(ctx context.Context, j jobs.Job) (comment.Tests, error) {
	out := comment.Tests{Project: j.Project}
	if j.Snapshot == nil {
		return out, errRights
	}
	j.Access = jobs.Tests
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return out, fmt.Errorf("open %s: %w", describe(j), err)
	}
	var results []events.TestFileResult
	if !ds.HasErrors() {
		var more diags.Diagnostics
		results, more = o.test(ctx)
		ds = append(ds, more...)
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("test %s: %w", describe(j), context.Cause(ctx))
	}
	out.Broken = ds.HasErrors() && results == nil
	for _, f := range results {
		for _, r := range f.Runs {
			switch r.Status {
			case events.TestPass:
				out.Count.Pass++
			case events.TestFail:
				out.Count.Fail++
			case events.TestError:
				out.Count.Error++
			default:
				out.Count.Skip++
			}
		}
	}
	return o.reported(out, results, ds), nil
}

// test runs the tests of the checkout. The diagnostics are those that belong to no run.
func (o *checkout) test(ctx context.Context) ([]events.TestFileResult, diags.Diagnostics) {
	files := slices.SortedFunc(slices.Values(o.suite.Files), func(a, b *testfiles.File) int { return strings.Compare(a.Name, b.Name) })
	if len(files) == 0 {
		return nil, nil
	}
	reqs, ds := workdir.Requirements(o.Config, nil)
	for _, r := range o.suite.Called() {
		more, problems := workdir.Requirements(r.Config, nil)
		for p, versions := range more {
			reqs[p] = append(reqs[p], versions...)
		}
		ds = append(ds, problems...)
	}
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.require(ctx, reqs)...); ds.HasErrors() {
		return nil, ds
	}
	usual, more := o.sources()
	ds = append(ds, more...)
	beside, more := o.sourcesWith([]string{testfiles.DefaultDirectory})
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	limits, now := o.Budget.Limits(), map[*testfiles.Run]*budget.Entered{}
	in := testruns.Input{
		Config: o.Config, Files: files, Base: o.run(ctx), RunParallelism: parallelTests, MocksOnly: true, Renew: o.Providers.Renew,
		Budget: func() *budget.Budget { return budget.New(limits) },
		SourcesOf: func(f *testfiles.File) []inputs.Source {
			if path.Dir(f.Name) == testfiles.DefaultDirectory {
				return beside
			}
			return usual
		},
		Listener: func(e events.Test) {
			switch e.Kind {
			case events.TestRunStarted:
				now[e.Run] = o.Budget.Enter(placeOfRun{e.Run})
			case events.TestRunDone:
				now[e.Run].Leave()
			case events.TestLeft, events.TestFileDone:
				ds = append(ds, e.Diagnostics...)
			}
		},
	}
	in.Base.Analysis, in.Base.Events = nil, nil
	results, _ := testruns.Run(ctx, in)
	return results, ds
}

// placeOfRun is a test run in the form of a place in the evaluation, for the report if the process dies there.
type placeOfRun struct{ *testfiles.Run }

func (p placeOfRun) String() string   { return fmt.Sprintf("run %q", p.Name) }
func (p placeOfRun) Range() hcl.Range { return p.Run.Range }

// loadTests reads the configuration with its tests and all their modules.
func (o *checkout) loadTests(ctx context.Context) (*config.Config, diags.Diagnostics, error) {
	tree := source.FS(o.root.FS(), o.job.Dir)
	var ds diags.Diagnostics
	var err error
	if o.engine.TestModules == nil {
		o.suite, ds = testfiles.Load(loading.Input{Tree: tree, Early: o.early(), Language: o.job.Language, Budget: o.Budget}, testfiles.DefaultDirectory)
	} else {
		if ds = o.removeModules(); ds.HasErrors() {
			return nil, ds, nil
		}
		o.suite, ds, err = o.engine.TestModules(budget.With(ctx, o.Budget), o.job, o.dir(), tree, o.early(), o.vault.token, moduleEnv(o))
	}
	if ds = testfiles.WithoutMissing(ds); err == nil && !ds.HasErrors() {
		ds = append(ds, o.suite.Validate()...)
	}
	return o.suite.Config, ds, err
}

// suiteFiles returns the files of the tests and of the modules that they use, by name.
func (o *checkout) suiteFiles() map[string]*hcl.File {
	all := map[string]*hcl.File{}
	if o.suite != nil {
		maps.Copy(all, o.suite.Sources)
	}
	return all
}

// reported adds to out what people read about the tests: the runs, and the errors with their places. ds are the
// errors that belong to no run.
func (o *checkout) reported(out comment.Tests, results []events.TestFileResult, ds diags.Diagnostics) comment.Tests {
	r := o.reporter(o.secrets(nil, nil))
	var passed []comment.TestRun
	for _, f := range results {
		for _, x := range f.Runs {
			ds = append(ds, x.Diagnostics...)
			run := comment.TestRun{File: r.hide.From(f.File.Name), Name: r.hide.From(x.Run.Name), Result: x.Status.String(), Failed: x.Failed}
			if x.Status == events.TestPass {
				passed = append(passed, run)
			}
			out.Runs = append(out.Runs, run)
		}
	}
	if len(out.Runs) > comment.MaxTestRuns {
		out.Runs = slices.DeleteFunc(out.Runs, func(x comment.TestRun) bool { return x.Result == events.TestPass.String() })
		out.Runs = append(out.Runs, passed...)[:comment.MaxTestRuns]
	}
	out.Report, _ = r.within(ds, reportLimit)
	for _, d := range ds {
		if note, ok := o.noteOf(d); ok && d.Severity == diags.Error {
			note.Title, note.Message = r.hide.From(note.Title), r.hide.From(note.Message)
			out.Notes = append(out.Notes, note)
		}
	}
	return out.Within()
}

// noteOf returns an error together with its place in a file of the repository. ok is false if d is not an
// error, or has no such place.
func (o *checkout) noteOf(d diags.Diagnostic) (note comment.LineNote, ok bool) {
	if d.Subject == nil {
		return note, false
	}
	name := path.Join(o.job.Dir, d.Subject.Filename)
	info, err := fs.Stat(o.root.FS(), name)
	if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(name, path.Join(o.job.Dir, dataDir)+"/") {
		return note, false
	}
	first, last := max(d.Subject.Start.Line, 1), max(d.Subject.End.Line, d.Subject.Start.Line, 1)
	return comment.LineNote{Path: name, Line: first, Last: last, Title: d.Summary, Message: d.Detail}, true
}
