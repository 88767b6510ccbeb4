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

// PutCheck writes the check run of a run, and those of other pull requests whose conclusion depends
// on it.
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
		// One that was announced before, and has no record, is of an earlier version, or its process has died: it is looked for.
		first = s.ID == 0 && !s.Asked && (old != nil || r.Phase == runs.Queued)
		silent = first && r.WithoutCheck()
		s.Asked = s.Asked || !silent
		if !silent {
			s.Shown = "" // until it is written: see untold
		}
		s.Pull, s.Key, s.Check, s.Status, s.Conclusion = r.Pull, r.Key(), r.Check(), status, conclusion
		s.Merged = s.Merged || merged(rp, r)
		return pipeline.Encode(s), err
	}); err != nil {
		return err
	}
	all, err := counting(ctx, rp.Ledger, r)
	if err != nil {
		return err
	}
	if !silent {
		if err := rp.writeCheck(ctx, r, p, all, first); err != nil {
			return err
		}
	}
	for _, s := range all {
		if !lags(s, r, all) {
			continue
		}
		other, err := rp.Ledger.Read(ctx, s.Key)
		if err != nil {
			return err
		}
		if other.Spec.Head != r.Spec.Head || s.ID == 0 && other.WithoutCheck() {
			continue // its check here is history, or not made yet
		}
		if p, err = rp.project(ctx, other.Run, &gatefacts.OrderCache{Facts: rp.Facts}); err != nil {
			return err
		}
		if all, err = untold(ctx, rp.Ledger, other.Run); err != nil {
			return err
		}
		if err := rp.writeCheck(ctx, other.Run, p, all, false); err != nil {
			return err
		}
	}
	return nil
}

// merged reports whether the pull request of a run is, as it was looked at for the message.
func merged(rp *Reporter, r runs.Run) bool {
	return rp.Facts.Pull.Merged && rp.Facts.Pull.Number == r.Pull.Number
}

// lags reports whether the check run of a record, of another pull request than a run's, has still to tell of that one's
// conclusion. all are the records that count in it.
func lags(s runs.CheckRecord, r runs.Run, all []runs.CheckRecord) bool {
	shown := s.Conclusion
	if w := runs.ShownInstead(s, all); w != nil {
		shown = w.Conclusion
	}
	return s.Key != r.Key() && s.Check == r.Check() && s.Status == github.CheckCompleted && s.Shown != shown
}

// untold notes that the check run of a run is about to be written, and returns the records of the checks beside it since.
// Whoever changes one of those later writes this one, too, whatever it told before.
func untold(ctx context.Context, ld ledger.Ledger, r runs.Run) ([]runs.CheckRecord, error) {
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
	return counting(ctx, ld, r)
}

// counting are the records of the checks that count in that of a run: its own, and those of other pull requests that have its
// head still. One that was alone at a head when it left it has not told so, as nobody could have read it there.
func counting(ctx context.Context, ld ledger.Ledger, r runs.Run) ([]runs.CheckRecord, error) {
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

// CheckAsked reports whether GitHub was asked for the check run of a run at its head.
func CheckAsked(ctx context.Context, rp *Reporter, r runs.Run) (bool, error) {
	rec, err := rp.Ledger.Records.Get(ctx, runs.CheckKey(r))
	if err != nil {
		return false, err
	}
	s, err := runs.DecodeCheck(rec.Value)
	return s.ID != 0, err
}

// EndCheck writes the check run of a run that has come to its end, unless it was written. Whoever moves such a run on to
// another head does so before, as with [Reporter.Announce]: nobody comes back to the former head. In the checks of other
// pull requests that have the same head still it does not count from then on.
func EndCheck(ctx context.Context, rp *Reporter, r runs.Run) error {
	return endCheck(ctx, rp, r, true)
}

// RepeatCheck is EndCheck for a run that stays at its head, and counts.
func RepeatCheck(ctx context.Context, rp *Reporter, r runs.Run) error {
	return endCheck(ctx, rp, r, false)
}

func endCheck(ctx context.Context, rp *Reporter, r runs.Run, leaves bool) error {
	if r.Spec.Head == "" {
		return nil
	}
	status, conclusion := runs.Conclude(r.Standing())
	if status != github.CheckCompleted {
		return nil
	}
	all, err := checksIn(ctx, rp.Ledger, runs.CheckDir(r))
	i := slices.IndexFunc(all, func(s runs.CheckRecord) bool { return s.Key == r.Key() })
	if err != nil || i < 0 {
		return err
	}
	was, own := r.Phase, all[i]
	// Who moved the run may have died before its check was noted. That of a plan depends on more than the plan.
	noted := own.Status == status && (own.Conclusion == conclusion || r.Phase == runs.Planned) && (own.Merged || !merged(rp, r))
	if leaves {
		left(&r, all)
	}
	if r.Phase == was && noted && own.Shown != "" {
		if len(all) == 1 {
			return nil
		}
		// Its writer may have died before those of other pull requests were written.
		if all, err = counting(ctx, rp.Ledger, r); err != nil || !slices.ContainsFunc(all, func(s runs.CheckRecord) bool { return lags(s, r, all) }) {
			return err
		}
	}
	return rp.PutCheck(ctx, r)
}

// left makes a run that has left its head superseded, as its check there tells: so it counts no more in those of other pull
// requests. One that has come to its end there stays as it is, if no other pull request has that head, or it does not count.
func left(r *runs.Run, all []runs.CheckRecord) {
	status, conclusion := runs.Conclude(r.Standing())
	shared := slices.ContainsFunc(all, func(s runs.CheckRecord) bool { return s.Pull.Number != r.Pull.Number })
	if shared && conclusion != github.ConcludedCancelled || status != github.CheckCompleted {
		r.Phase = runs.Superseded
	}
}

// checksIn are the records of the checks of projects at a commit.
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

// writeCheck writes the check run of a run, whose status is p. first is set if nobody has asked GitHub for
// it before.
func (rp *Reporter) writeCheck(ctx context.Context, r runs.Run, p comment.ProjectStatus, all []runs.CheckRecord, first bool) (err error) {
	i := slices.IndexFunc(all, func(s runs.CheckRecord) bool { return s.Key == r.Key() })
	if i < 0 {
		return nil // its record is gone with the retention
	}
	own := all[i]
	if p.Plan, p.Again, err = rp.nameable(ctx, r); err != nil {
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
	for _, b := range page.Buttons() {
		check.Buttons = append(check.Buttons, github.CheckButton(b))
	}
	id := own.ID
	switch {
	case first && own.ID == 0:
		id = github.NewCheck
	case own.MayHaveDuplicates():
		id = 0 // to be looked for
	}
	id, absent, err := putCheck(ctx, rp, id, check)
	if err != nil || absent {
		return err
	}
	written := runs.CheckRecord{ID: id, Shown: shown, Around: runs.AroundDigest(p), Required: runs.ForRecord(p.Required), Behind: p.Behind}
	written.Status, written.Conclusion = runs.ConcludeProject(p)
	again := false
	_, err = rp.Ledger.Change(ctx, runs.CheckKey(r), func(old []byte) ([]byte, error) {
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
	// Another process has made one at the same time, of which people see the newest, or has written another status or
	// conclusion meanwhile, which this one has written over.
	now, err := rp.Ledger.Read(ctx, r.Key())
	if err != nil {
		return err
	}
	if now.Spec.Head == r.Spec.Head {
		r = now.Run
	} else {
		left(&r, all)
	}
	return rp.PutCheck(ctx, r)
}

// putCheck writes a check run, and reports whether its commit is absent: nobody can look at the checks of one that is gone. GitHub
// answers the same while the repository is transferred, and it may be back by the time that somebody looks: it is asked twice.
func putCheck(ctx context.Context, rp *Reporter, id int64, c github.Check) (made int64, absent bool, err error) {
	for range 2 {
		made, err = rp.Hub.PutCheck(ctx, id, c)
		if absent, err = gatefacts.Absent(ctx, rp.Facts, err); err != nil || !absent {
			break
		}
	}
	return made, absent, err
}

// nameable returns the hashes of the plans that the check run of a run may name from now on: its
// plan's, and that of the one that is applied in its place. Only the message that makes a plan names
// it first. All others keep the name that is there: a record may have been exchanged by then, and a
// check that followed it would be no facts.
func (rp *Reporter) nameable(ctx context.Context, r runs.Run) (hash, again string, err error) {
	if rp.Facts.Message.Kind == pipeline.ToPlan || r.Plan.Hash == "" || r.Plan.Hash == rp.Made {
		return r.Plan.Hash, "", nil
	}
	hash, again, err = rp.Facts.OnGitHub(ctx, r)
	if rp.Made != "" && r.Plan.Again == rp.Made {
		again = rp.Made
	}
	return hash, again, err
}
