package planrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A Tester runs the tests of a run's project, and writes their check run. Tests have their own message, which
// is sent together with that of the plan. Tests and plan do not wait for each other.
type Tester struct {
	Facts  *gatefacts.Reader
	Report *report.Reporter
	Ledger ledger.Ledger
	Leases *ledger.Holder
	Engine jobs.Engine
	Steps  steps.Runner
	// Poll is how often tests in progress check whether there is a newer head; 0 means 5 s.
	Poll time.Duration
}

// Test runs the tests. It handles a message, and can be repeated: if the result is already recorded, Test only
// shows it once more.
func (te *Tester) Test(ctx context.Context) error {
	if err := te.test(ctx); err != nil {
		return err
	}
	return te.Leases.Release(ctx, te.Facts.Message.Run())
}

func (te *Tester) test(ctx context.Context) error {
	m := te.Facts.Message
	s, err := te.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" {
		return err
	}
	if over, err := te.over(ctx, s.Run); err != nil {
		return err
	} else if over {
		return te.cancel(ctx, s.Run)
	}
	r := tested(m, s.Run)
	rec, err := te.read(ctx, r)
	if err != nil {
		return err
	}
	if rec.Attempt == m.Attempt && rec.Result != nil {
		return te.show(ctx, r)
	}
	if err := te.Facts.Look(ctx); err != nil {
		return err
	}
	if s.Over(te.Facts.Pull.Open) {
		return te.cancel(ctx, s.Run)
	}
	if may, err := gatefacts.MayTest(ctx, te.Facts, s.Run); err != nil {
		return te.recordFinalError(ctx, r, err)
	} else if !may {
		return te.cancel(ctx, s.Run) // the check of the plan says why
	}
	// If this process dies and the message is lost, the janitor finds the lease, and has the check run ended.
	if err := te.Leases.Hold(ctx, s.Run); err != nil {
		return err
	}
	if err := te.begin(ctx, r); err != nil {
		return err
	}
	result, err := te.run(ctx, r)
	if errors.Is(err, ErrSuperseded) {
		return te.cancel(ctx, s.Run)
	}
	if err != nil {
		return te.recordFinalError(ctx, r, err)
	}
	return te.record(ctx, r, result)
}

// over reports whether the tests that the message requests are no longer needed. r is the present run.
func (te *Tester) over(ctx context.Context, r runs.Run) (bool, error) {
	m := te.Facts.Message
	if r.Asked.Attempt != m.Attempt || r.Spec.Head != m.Head || r.Phase == runs.Superseded || r.Phase == runs.Dropped {
		return true, nil
	}
	if m.MergeGroup == "" {
		return false, nil
	}
	g, err := ledger.Groups{Ledger: te.Ledger}.Read(ctx, m.Pull, m.MergeGroup)
	return g.Gone || g.Head != r.Spec.Head, err
}

// tested returns the run with the commits that a message wants tested. The check run is at that head. For a merge
// group, both are the commit of the group.
func tested(m pipeline.Message, r runs.Run) runs.Run {
	r.Spec.Head = m.Head
	if m.MergeGroup != "" {
		r.Spec.Head, r.Spec.Merge = m.MergeGroup, m.MergeGroup
	}
	return r
}

// run runs the tests in a checkout. It stops with [ErrSuperseded] when they are no longer needed.
func (te *Tester) run(ctx context.Context, r runs.Run) (comment.Tests, error) {
	dir, done, err := te.Facts.Checkout(ctx, r.Spec.Merge)
	if errors.Is(err, github.ErrNotFound) {
		return broken(r, comment.Markdown(comment.Broken{Reason: "GitHub has replaced the trial merge of this commit"})), nil
	}
	if err != nil {
		return comment.Tests{}, err
	}
	defer done()
	if no, err := te.Steps.Generate(ctx, r, dir, comment.Command{Verb: comment.Plan, Project: r.Project}); err != nil {
		return comment.Tests{}, err
	} else if no != nil {
		return broken(r, reasons.List{*no}.Markdown()), nil
	}
	job, problem, err := gatefacts.TestJob(ctx, te.Facts, r, dir)
	if err != nil {
		return comment.Tests{}, err
	}
	if problem != "" {
		return broken(r, markdown.Code(problem)), nil
	}
	work, stop := Until(ctx, te.Poll, func(ctx context.Context) bool {
		now, err := te.Ledger.Read(ctx, r.Key())
		if err != nil {
			return false
		}
		over, err := te.over(ctx, now.Run)
		return err == nil && over
	})
	defer stop()
	result, err := te.Engine.Test(work, job)
	if errors.Is(context.Cause(work), ErrSuperseded) {
		return comment.Tests{}, ErrSuperseded
	}
	return result, err
}

// broken returns the result of tests that did not run. why is the reason, in Markdown.
func broken(r runs.Run, why string) comment.Tests {
	return comment.Tests{Project: r.Project, Broken: true, Report: why}
}

// recordFinalError records that the tests did not run, if err stays the same until a person fixes something. It
// returns any other error unchanged.
func (te *Tester) recordFinalError(ctx context.Context, r runs.Run, err error) error {
	d, err := gatefacts.FinalRefusal(gatefacts.DiskFull(err))
	if err != nil {
		return err
	}
	return te.record(ctx, r, broken(r, d.Reasons.Markdown()))
}

// Abandon records that the tests did not run, because all attempts failed. Then it releases their lease.
func (te *Tester) Abandon(ctx context.Context, why comment.Broken) error {
	if err := te.abandon(ctx, why); err != nil {
		return err
	}
	return te.Leases.Release(ctx, te.Facts.Message.Run())
}

func (te *Tester) abandon(ctx context.Context, why comment.Broken) error {
	m := te.Facts.Message
	s, err := te.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" {
		return err
	}
	over, err := te.over(ctx, s.Run)
	if err != nil {
		return err
	}
	if err := te.Facts.Look(ctx); err != nil {
		return err
	}
	if over {
		return te.cancel(ctx, s.Run)
	}
	r := tested(m, s.Run)
	rec, err := te.read(ctx, r)
	if err != nil || rec.Attempt == m.Attempt && rec.Result != nil {
		return errors.Join(err, te.show(ctx, r))
	}
	return te.record(ctx, r, broken(r, comment.Markdown(why)))
}

func (te *Tester) read(ctx context.Context, r runs.Run) (runs.TestRecord, error) {
	rec, err := te.Ledger.Records.Get(ctx, runs.TestKey(r))
	if err != nil {
		return runs.TestRecord{}, fmt.Errorf("read the tests of %s: %w", r.Project, err)
	}
	return runs.DecodeTests(rec.Value)
}

// change changes the record of a run's tests.
func (te *Tester) change(ctx context.Context, r runs.Run, next func(*runs.TestRecord) bool) error {
	_, err := te.Ledger.Change(ctx, runs.TestKey(r), func(old []byte) ([]byte, error) {
		t, err := runs.DecodeTests(old)
		if err == nil && !next(&t) {
			err = ledger.ErrAsIs
		}
		return pipeline.Encode(t), err
	})
	return err
}

// begin records that the tests are running, and shows that. If the same head was tested earlier, it first ends
// that check run. The new tests get a new one, because GitHub never removes an annotation.
func (te *Tester) begin(ctx context.Context, r runs.Run) error {
	was, err := te.read(ctx, r)
	if err != nil {
		return err
	}
	if was.Attempt != 0 && was.Attempt != r.Asked.Attempt && was.Result == nil && !was.Ended {
		was.Ended = true
		if _, err := te.put(ctx, r, was, ""); err != nil {
			return err
		}
	}
	if err := te.change(ctx, r, func(t *runs.TestRecord) bool {
		if t.Attempt >= r.Asked.Attempt {
			return false
		}
		*t = runs.TestRecord{Pull: r.Pull, Key: r.Key(), Dir: r.Spec.Dir, Attempt: r.Asked.Attempt}
		return true
	}); err != nil {
		return err
	}
	return te.show(ctx, r)
}

// record records a result, and shows it.
func (te *Tester) record(ctx context.Context, r runs.Run, result comment.Tests) error {
	result = te.clean(result).Within()
	if err := te.change(ctx, r, func(t *runs.TestRecord) bool {
		if t.Attempt > r.Asked.Attempt || t.Attempt == r.Asked.Attempt && t.Result != nil {
			return false
		}
		if t.Attempt != r.Asked.Attempt {
			*t = runs.TestRecord{Pull: r.Pull, Key: r.Key(), Dir: r.Spec.Dir, Attempt: r.Asked.Attempt}
		}
		t.Result = &result
		return true
	}); err != nil {
		return err
	}
	return te.show(ctx, r)
}

// clean removes Lockstep's secrets from a result.
func (te *Tester) clean(t comment.Tests) comment.Tests {
	t.Report = te.Report.Clean(t.Report)
	for i, n := range t.Notes {
		t.Notes[i].Title, t.Notes[i].Message = te.Report.Clean(n.Title), te.Report.Clean(n.Message)
	}
	for i, x := range t.Runs {
		t.Runs[i].Name, t.Runs[i].File = te.Report.Clean(x.Name), te.Report.Clean(x.File)
	}
	return t
}

// cancel ends the check run of tests that are no longer needed, if it was begun. r is the present run, which
// may be at another head.
func (te *Tester) cancel(ctx context.Context, r runs.Run) error {
	m := te.Facts.Message
	r = tested(m, r)
	begun := false
	err := te.change(ctx, r, func(t *runs.TestRecord) bool {
		begun = t.Attempt == m.Attempt && t.Result == nil
		changes := begun && !t.Ended
		t.Ended = t.Ended || begun
		return changes
	})
	if err != nil || !begun {
		return err
	}
	return te.show(ctx, r)
}

// show writes the check runs of all pull requests with the run's head, if they do not show what the records
// contain. They depend on each other, because people and branch rules see the newest check run of a commit. If
// another process changes a record at the same time, one of the two processes notices the change of the other,
// and writes once more.
func (te *Tester) show(ctx context.Context, r runs.Run) error {
	for range maxShows {
		list, err := te.Ledger.Records.List(ctx, runs.TestDir(r))
		if err != nil {
			return fmt.Errorf("list the tests of %s: %w", r.Project, err)
		}
		all := make([]runs.TestRecord, len(list))
		failed := "" // the first pull request whose tests failed
		for i, rec := range list {
			if all[i], err = runs.DecodeTests(rec.Value); err != nil {
				return err
			}
			counts, err := te.counts(ctx, r, all[i])
			if err != nil {
				return err
			}
			if failed == "" && counts && all[i].Failed() {
				failed = fmt.Sprintf("#%d", all[i].Pull.Number)
			}
		}
		wrote := false
		for _, t := range all {
			now, err := te.put(ctx, r, t, failed)
			if err != nil {
				return err
			}
			if now == t {
				continue
			}
			wrote = true
			at := r
			at.Pull = t.Pull
			if err := te.change(ctx, at, func(x *runs.TestRecord) bool {
				if x.Attempt != t.Attempt {
					return false
				}
				x.ID, x.Shown = now.ID, now.Shown
				return true
			}); err != nil {
				return err
			}
		}
		if !wrote {
			return nil
		}
	}
	return nil
}

// maxShows limits how often the check runs are written, in case the records change all the time.
const maxShows = 5

// counts reports whether the result in a record matters for other pull requests with the same head: its own
// pull request is open and still has that head.
func (te *Tester) counts(ctx context.Context, r runs.Run, t runs.TestRecord) (bool, error) {
	if t.Key == r.Key() {
		return true, nil
	}
	s, err := te.Ledger.Read(ctx, t.Key)
	return err == nil && s.Spec.Head == r.Spec.Head && s.Phase != runs.Dropped && s.Phase != runs.Superseded, err
}

// put writes the check run for a record, at the head of r, unless the check run already shows it. It returns
// the record with what the check run shows now. failed names another pull request with this head whose tests
// failed; "" if there is none.
func (te *Tester) put(ctx context.Context, r runs.Run, t runs.TestRecord, failed string) (runs.TestRecord, error) {
	page := comment.TestCheck{Project: r.Project, Dir: t.Dir, Result: t.Result}
	if t.Ended {
		page.Ended = "These tests are out of date. The pull request has another commit, is closed, or may not be planned, or its merge group is gone, or the tests run again."
	} else if t.Result != nil && failed != fmt.Sprintf("#%d", t.Pull.Number) && t.Result.Passed() {
		page.Others = failed
	}
	c := github.Check{
		Name: r.TestCheck(), SHA: r.Spec.Head, ExternalID: fmt.Sprintf("%d/%s/test.%d", t.Pull.Number, r.Target(), t.Attempt),
		Title: te.Report.Clean(page.Title(github.MaxCheckTitle)), Summary: page.Summary(github.MaxCheckText), Text: page.Text(github.MaxCheckText),
	}
	if c.Status, c.Conclusion = t.Conclude(page.Others != ""); t.Result != nil && !t.Ended {
		c.Annotations = report.Annotations(t.Result.Notes)
	}
	shown := runs.HashOf(pipeline.Encode(c))[:16]
	if t.Shown == shown {
		return t, nil
	}
	id, _, err := report.WriteCheck(ctx, te.Report, t.ID, c)
	if err != nil {
		return t, err
	}
	t.ID, t.Shown = id, shown
	return t, nil
}
