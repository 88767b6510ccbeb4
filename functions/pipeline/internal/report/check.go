package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// PutCheck writes the check run of a run. It also writes those check runs of other pull requests, with the same
// head, whose conclusions depend on this run.
func (rp *Reporter) PutCheck(ctx context.Context, r runs.Run) error {
	if r.Spec.Head == "" {
		return nil
	}
	p, err := rp.project(ctx, r, &gatefacts.OrderCache{Facts: rp.Facts})
	if err != nil {
		return err
	}
	status, conclusion := runs.ConcludeProject(p)
	first, silent := false, false
	if _, err := rp.Ledger.Change(ctx, runs.CheckKey(r), func(old []byte) ([]byte, error) {
		s, err := runs.DecodeCheck(old)
		// The check may have been written without a record: by an earlier version, or by a process that died.
		// PutCheck then searches for it on GitHub.
		first = s.ID == 0 && !s.Asked && (old != nil || r.Phase == runs.Queued)
		silent = first && r.WithoutCheck()
		s.Asked = s.Asked || !silent
		if !silent {
			s.Shown = "" // until it is written: see beginCheck
		}
		s.Pull, s.Key, s.Check, s.Status, s.Conclusion, s.Shared = r.Pull, r.Key(), r.Check(), status, conclusion, !r.Spec.Shared.IsZero()
		s.Merged = s.Merged || merged(rp, r)
		return pipeline.Encode(s), err
	}); err != nil {
		return err
	}
	all, err := countingChecks(ctx, rp.Ledger, r)
	if err != nil {
		return err
	}
	if !silent {
		if err := rp.writeCheck(ctx, r, p, all, first); err != nil {
			return err
		}
	}
	for _, s := range all {
		if !isOutOfDate(s, r, all) {
			continue
		}
		other, err := rp.Ledger.Read(ctx, s.Key)
		if err != nil {
			return err
		}
		if other.Spec.Head != r.Spec.Head || s.ID == 0 && other.WithoutCheck() {
			continue // its check at this head is past, or not made yet
		}
		if p, err = rp.project(ctx, other.Run, &gatefacts.OrderCache{Facts: rp.Facts}); err != nil {
			return err
		}
		if all, err = beginCheck(ctx, rp.Ledger, other.Run); err != nil {
			return err
		}
		if err := rp.writeCheck(ctx, other.Run, p, all, false); err != nil {
			return err
		}
	}
	return nil
}

// merged reports whether the pull request of a run was merged when Lockstep last read it for this message.
func merged(rp *Reporter, r runs.Run) bool {
	return rp.Facts.Pull.Merged && rp.Facts.Pull.Number == r.Pull.Number
}

// isOutOfDate reports whether the check run of a record s, from another pull request, does not yet show a
// conclusion that follows from the run r. all are the records that matter for it.
func isOutOfDate(s runs.CheckRecord, r runs.Run, all []runs.CheckRecord) bool {
	shown := s.Conclusion
	if w := runs.ShownInstead(s, all); w != nil {
		shown = w.Conclusion
	}
	return s.Key != r.Key() && s.Check == r.Check() && s.Status == github.CheckCompleted && s.Shown != shown
}

// beginCheck records that the check run of a run will be written, and returns the records of the same check for
// other pull requests. A process that changes one of those records later also writes this check run once more.
func beginCheck(ctx context.Context, ld ledger.Ledger, r runs.Run) ([]runs.CheckRecord, error) {
	if _, err := ld.Change(ctx, runs.CheckKey(r), func(old []byte) ([]byte, error) {
		s, err := runs.DecodeCheck(old)
		if old == nil || s.Shown == "" {
			return nil, ledger.ErrAsIs
		}
		s.Shown = ""
		return pipeline.Encode(s), err
	}); err != nil {
		return nil, err
	}
	return countingChecks(ctx, ld, r)
}

// countingChecks returns the records of the checks that matter for a run's check: its own, and those of other
// pull requests that still have the same head. It reads the runs of these pull requests, because a record need
// not show that its pull request has left the head.
func countingChecks(ctx context.Context, ld ledger.Ledger, r runs.Run) ([]runs.CheckRecord, error) {
	all, err := checksIn(ctx, ld, runs.CheckDir(r))
	if err != nil {
		return nil, err
	}
	isMerged := slices.ContainsFunc(all, func(s runs.CheckRecord) bool { return s.Key == r.Key() && s.Merged })
	var out []runs.CheckRecord
	for _, s := range all {
		if s.Key != r.Key() && s.CanReplace(isMerged) {
			other, err := ld.Read(ctx, s.Key)
			if err != nil {
				return nil, err
			}
			if other.Spec.Head != r.Spec.Head {
				continue
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// CheckAsked reports whether Lockstep has ever sent a request to GitHub for the run's check run at its head.
// The check run may then exist.
func CheckAsked(ctx context.Context, rp *Reporter, r runs.Run) (bool, error) {
	rec, err := rp.Ledger.Records.Get(ctx, runs.CheckKey(r))
	if err != nil {
		return false, err
	}
	s, err := runs.DecodeCheck(rec.Value)
	return s.ID != 0 || s.Shared && s.Asked, err
}

// EndCheck writes the check run of a finished run, unless it is already written. Call it before the run moves
// to another head, because nothing writes the checks of the former head later. From then on, the run does not
// matter for the checks of other pull requests that still have the same head.
func EndCheck(ctx context.Context, rp *Reporter, r runs.Run) error {
	return endCheck(ctx, rp, r, true)
}

// RepeatCheck is like [EndCheck], for a run that stays at its head. This run still matters for the checks of
// other pull requests.
func RepeatCheck(ctx context.Context, rp *Reporter, r runs.Run) error {
	return endCheck(ctx, rp, r, false)
}

func endCheck(ctx context.Context, rp *Reporter, r runs.Run, leaves bool) error {
	if r.Spec.Head == "" {
		return nil
	}
	status, conclusion := runs.ConcludeProject(runs.Status(r))
	if status != github.CheckCompleted {
		return nil
	}
	all, err := checksIn(ctx, rp.Ledger, runs.CheckDir(r))
	i := slices.IndexFunc(all, func(s runs.CheckRecord) bool { return s.Key == r.Key() })
	if err != nil || i < 0 {
		return err
	}
	was, own := r.Phase, all[i]
	// The process that has changed the run's phase may have died before it recorded the check. For a plan the
	// conclusion is not compared, because it also depends on other facts.
	noted := own.Status == status && (own.Conclusion == conclusion || r.Phase == runs.Planned) && (own.Merged || !merged(rp, r))
	if leaves {
		supersedeLeft(&r, all)
	}
	if r.Phase == was && noted && own.Shown != "" {
		if len(all) == 1 {
			return nil
		}
		// The process that has written this check may have died before it wrote those of other pull requests.
		if all, err = countingChecks(ctx, rp.Ledger, r); err != nil || !slices.ContainsFunc(all, func(s runs.CheckRecord) bool { return isOutOfDate(s, r, all) }) {
			return err
		}
	}
	return rp.PutCheck(ctx, r)
}

// supersedeLeft sets the phase of r to Superseded, for the check of a head that the run has left. So r does not
// matter for the checks of other pull requests. A finished run keeps its phase if no other pull request has
// that head, or if its conclusion does not matter.
func supersedeLeft(r *runs.Run, all []runs.CheckRecord) {
	status, conclusion := runs.ConcludeProject(runs.Status(*r))
	shared := slices.ContainsFunc(all, func(s runs.CheckRecord) bool { return s.Pull.Number != r.Pull.Number })
	if shared && conclusion != github.ConcludedCancelled || status != github.CheckCompleted {
		r.Phase = runs.Superseded
	}
}

// checksIn returns the records of the checks of projects at a commit.
func checksIn(ctx context.Context, ld ledger.Ledger, dir string) ([]runs.CheckRecord, error) {
	list, err := ld.Records.List(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("list checks: %w", err)
	}
	var all []runs.CheckRecord
	for _, rec := range list {
		s, err := runs.DecodeCheck(rec.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// writeCheck writes the check run of a run whose status is p. first is set if no request for this check run was
// ever sent to GitHub.
func (rp *Reporter) writeCheck(ctx context.Context, r runs.Run, p comment.ProjectStatus, all []runs.CheckRecord, first bool) (err error) {
	i := slices.IndexFunc(all, func(s runs.CheckRecord) bool { return s.Key == r.Key() })
	if i < 0 {
		return nil // its record has expired
	}
	own := all[i]
	if !r.Spec.Shared.IsZero() {
		if err := rp.enterShared(ctx, r, p, own); err != nil {
			return err
		}
		return rp.wroteCheck(ctx, r, p, all, own, runs.CheckRecord{Shown: own.Conclusion})
	}
	if p.Hash, p.Again, err = rp.plansToName(ctx, r); err != nil {
		return err
	}
	page := comment.Check{ProjectStatus: p}
	shown := own.Conclusion
	if w := runs.ShownInstead(own, all); w != nil && own.Status == github.CheckCompleted {
		shown = w.Conclusion
		page.Others, page.Merged = fmt.Sprintf("%s on #%d", w.Conclusion, w.Pull.Number), own.Merged && !w.Merged
	}
	check := github.Check{
		Name: r.Check(), SHA: r.Spec.Head, ExternalID: gatefacts.ExternalID(r),
		Status: own.Status, Conclusion: shown,
		Title: page.Title(github.MaxCheckTitle), Summary: markdown.Cut(rp.Clean(page.Summary(github.MaxCheckText)), github.MaxCheckText),
		Text: markdown.Cut(rp.Clean(page.Text(github.MaxCheckText)), github.MaxCheckText),
	}
	if check.Annotations, err = rp.planAnnotations(ctx, r); err != nil {
		return err
	}
	for _, b := range page.Buttons() {
		check.Buttons = append(check.Buttons, github.CheckButton(b))
	}
	id := own.ID
	switch {
	case first && own.ID == 0:
		id = github.NewCheck
	case own.MayHaveDuplicates():
		id = 0 // it has to be searched for
	}
	id, absent, err := WriteCheck(ctx, rp, id, check)
	if err != nil || absent {
		return err
	}
	return rp.wroteCheck(ctx, r, p, all, own, runs.CheckRecord{ID: id, Shown: shown})
}

// wroteCheck records that the check run of a run whose status is p was written. own is the record as it was before, and
// written has what was written.
func (rp *Reporter) wroteCheck(ctx context.Context, r runs.Run, p comment.ProjectStatus, all []runs.CheckRecord, own, written runs.CheckRecord) error {
	written.Around, written.Required, written.Behind = runs.AroundDigest(p), runs.ForRecord(p.Required), p.Behind
	written.Status, written.Conclusion = runs.ConcludeProject(p)
	again := false
	_, err := rp.Ledger.Change(ctx, runs.CheckKey(r), func(old []byte) ([]byte, error) {
		s, err := runs.DecodeCheck(old)
		var changed bool
		if s, changed, again = s.AfterWrite(own, written); err == nil && !changed {
			err = ledger.ErrAsIs
		}
		return pipeline.Encode(s), err
	})
	if err != nil || !again {
		return err
	}
	// The check run is written once more, from the newest state of the run. One of two things has happened.
	// Another process has created a check run at the same time, and people see the newer one. Or this process
	// has overwritten the status or conclusion that another process wrote.
	now, err := rp.Ledger.Read(ctx, r.Key())
	if err != nil {
		return err
	}
	if now.Spec.Head == r.Spec.Head {
		r = now.Run
	} else {
		supersedeLeft(&r, all)
	}
	return rp.PutCheck(ctx, r)
}

// WriteCheck writes a check run. absent is set if its commit no longer exists, so that nobody can see its
// checks. GitHub gives the same answer for a moment while the repository is being transferred. So WriteCheck
// tries twice.
func WriteCheck(ctx context.Context, rp *Reporter, id int64, c github.Check) (made int64, absent bool, err error) {
	for range 2 {
		made, err = rp.Hub.PutCheck(ctx, id, c)
		if absent, err = gatefacts.Absent(ctx, rp.Facts, err); err != nil || !absent {
			break
		}
	}
	return made, absent, err
}

// plansToName returns the hashes of plans that the check run of a run may contain from now on: hash is that of
// its plan, and again that of the plan that is applied instead. Only the process that has made a plan adds the
// plan's hash. All other processes keep the hashes that the check run has. Otherwise, somebody who changes a
// record could also change the check run, and the check run would prove nothing.
//
// The process that has made the plan may have died before it wrote the check run, which then has no hash. The process that
// handles the message once more adds a hash with a seal: see [runs.PlanSeal].
func (rp *Reporter) plansToName(ctx context.Context, r runs.Run) (hash, again string, err error) {
	if r.Plan.Hash == "" || rp.made(r, r.Plan.Hash) {
		return r.Plan.Hash, "", nil
	}
	hash, again, err = rp.Facts.OnGitHub(ctx, r)
	switch {
	case rp.made(r, r.Plan.Again):
		again = rp.Made
	case hash == "" && rp.isRepeated(r):
		hash = r.Plan.Hash
	}
	return hash, again, err
}

// made reports whether this process has made the plan of a run with a hash.
func (rp *Reporter) made(r runs.Run, hash string) bool {
	return rp.Made != "" && hash == rp.Made && rp.Facts.Message.Run() == r.Key()
}

// isRepeated reports whether this process repeats the report of a run's plan, after a process that has recorded the plan.
func (rp *Reporter) isRepeated(r runs.Run) bool {
	m := rp.Facts.Message
	return m.Kind == pipeline.ToPlan && m.Run() == r.Key() && r.PlanIsSealedFor(m.Attempt, rp.Facts.Hub.Seal)
}
