package planrun

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// recordTimeout limits the time for recording how far a plan is, or how long it took. The plan waits meanwhile.
const recordTimeout = 5 * time.Second

// A progress records how far one plan is, and asks for updates of what people read about it. No error matters to the
// plan, because its result is written in any case.
type progress struct {
	report   *report.Reporter
	run      runs.Run
	began    time.Time
	recorded comment.Ongoing
	ends     time.Time // about when the plan ends; zero if that is not known
	updates  report.Updates
	late     bool // the plan takes so long that people read of it
}

func newProgress(pl *Planner, s ledger.Versioned) *progress {
	return &progress{report: pl.Report, run: s.Run, began: time.Now(), updates: report.Updates{Run: s.Run, Name: []any{"plan", s.Artifacts.Begun}}}
}

// record receives a report of the engine. A plan that has only just begun writes nothing.
func (p *progress) record(ctx context.Context, o comment.Ongoing) {
	now := time.Now()
	if now.Sub(p.began) < ratelimits.FirstUpdate {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if !p.late {
		p.late, p.ends = true, p.estimate(ctx)
	}
	o.Planning, o.Began, o.At, o.Ends = true, p.began, now, p.ends
	o.Log, o.Unlogged, o.Last = nil, 0, false // the record has what comments need
	if p.recorded.Began.IsZero() || !o.Same(p.recorded) {
		if p.report.Ledger.RecordPlanProgress(ctx, p.run, o) == nil {
			p.recorded = o
		}
	}
	work := ratelimits.Work{Began: p.began, Plan: true, Unanswered: p.run.Asked.Answer == ""}
	p.updates.Ask(ctx, p.report, work, now)
}

// estimate returns about when the plan ends, from the durations of earlier plans of the state.
func (p *progress) estimate(ctx context.Context) time.Time {
	if !p.whole() {
		return time.Time{}
	}
	typical, err := p.report.Ledger.Typical(ctx, p.run)
	if took, known := typical[estimates.WholePlan]; err == nil && known {
		return p.began.Add(took)
	}
	return time.Time{}
}

// whole reports whether this is a complete plan: without options, of a project that exists, and no preview. Only the
// durations of such plans can be compared, so only these are recorded.
func (p *progress) whole() bool {
	return p.run.Spec.Options.IsZero() && !p.run.Spec.Removed && !runs.Preview(p.run)
}

// ended records how long the plan took, if it was made, for later estimates. Nobody reads an estimate of a plan that
// ends soon, so its duration is not recorded.
func (p *progress) ended(ctx context.Context, made bool) {
	took := time.Since(p.began)
	if !made || !p.whole() || took < ratelimits.FirstUpdate {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	d := estimates.Durations{}
	d.Took(estimates.WholePlan, took)
	_ = p.report.Ledger.RecordDurations(ctx, p.run, d)
}
