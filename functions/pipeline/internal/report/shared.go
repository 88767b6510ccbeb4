package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A shared check run is written in two steps. The process that changes a run writes the run's entry into a record
// ([Reporter.enterShared]). Whoever writes the status comment then writes the check run, from all entries
// ([Reporter.writeShared]), because GitHub limits the number of writes. One process at a time writes the comments of a pull
// request. A process that cannot wait for that writes the check run itself ([Reporter.PutCheckNow]).
//
// Records prove nothing: somebody else may be able to write them. So an entry has the hash of its plan with a seal, which
// only the App's private key can make. And the check run that exists is read before it is written: an entry never takes
// back a newer plan, and an entry without a true seal changes no hash.

// enterShared writes the entry of a run whose status is p. own is the record of its check.
func (rp *Reporter) enterShared(ctx context.Context, r runs.Run, p comment.ProjectStatus, own runs.CheckRecord) error {
	// Otherwise each update about the progress would need one more write.
	p.Progress, p.Ongoing = comment.Progress{}, comment.Ongoing{}
	x := runs.SharedProject{Target: r.Target(), Status: own.Status, Conclusion: own.Conclusion, Reported: r.Plan.Reported}
	if rp.Where != nil && p.Body != "" && p.Whole == "" {
		p.Whole = rp.Where(r.Report())
	}
	x.Row = p.SharedRow()
	x.Row.Cell, x.Row.Plan = rp.Clean(x.Row.Cell), rp.Clean(x.Row.Plan)
	if p.Body != "" {
		x.Report = r.Report()
	}
	proof, made := rp.madePlan(r)
	named := (comment.Check{ProjectStatus: p}).NamesPlan()
	_, err := rp.Ledger.Change(ctx, runs.SharedProjectKey(r), func(old []byte) ([]byte, error) {
		was, err := runs.DecodeSharedProject(old)
		if err != nil {
			return nil, err
		}
		next := x
		next.Proof, next.Notes, next.Noted = was.Proof, was.Notes, was.Noted
		switch {
		case r.HighestNumber() < was.Proof.Plan && was.Proof.IsSealed(r.Pull, r.Spec.Head, r.Target(), rp.Facts.Hub.Seal): // this process is late
		case !named || r.Plan.Hash == "":
			next.Proof = runs.Proof{Plan: r.HighestNumber(), Try: max(was.Proof.Try, r.Asked.Try)}
		case made:
			next.Proof = proof
		}
		if hasNotes(rp, r) && next.Notes != r.NotesArtifact() {
			next.Notes, next.Noted = r.NotesArtifact(), false
		}
		value := pipeline.Encode(next)
		if string(value) == string(old) {
			return nil, ledger.ErrAsIs
		}
		return value, nil
	})
	if err != nil {
		return err
	}
	return rp.owe(ctx, r)
}

// madePlan returns the proof of the run's plan. made is false if another process has made the plan, so that this one can prove
// nothing: see [Reporter.plansToName].
func (rp *Reporter) madePlan(r runs.Run) (proof runs.Proof, made bool) {
	seal := rp.Facts.Hub.Seal
	switch {
	case rp.made(r, r.Plan.Hash):
		return runs.ProofOf(r, r.Plan.Hash, "", seal), true
	case rp.made(r, r.Plan.Again):
		return runs.ProofOf(r, r.Plan.Hash, rp.Made, seal), true
	case rp.isRepeated(r):
		r.Artifacts.Reserved = r.Plan.Seal.Begun // the record may have a higher number, which nobody has sealed
		return runs.ProofOf(r, r.Plan.Hash, "", seal), true
	}
	return runs.Proof{}, false
}

// hasNotes reports whether this process has made the run's plan, so that the plan may have notes beside lines of files.
func hasNotes(rp *Reporter, r runs.Run) bool {
	m := rp.Facts.Message
	return m.Kind == pipeline.ToPlan && m.Run() == r.Key() && r.PlanEnded()
}

// owe records that the shared check run of a run has to be written. It is called after the run's entry was written.
func (rp *Reporter) owe(ctx context.Context, r runs.Run) error {
	_, err := rp.Ledger.Change(ctx, runs.SharedKey(r), func(old []byte) ([]byte, error) {
		s, err := runs.DecodeShared(old)
		if err != nil {
			return nil, err
		}
		if old != nil && s.Owed() {
			return nil, ledger.ErrAsIs
		}
		s.Head, s.Check = r.Spec.Head, r.SharedCheck()
		return pipeline.Encode(s.Owe()), nil
	})
	return err
}

// PutCheckNow is like [Reporter.PutCheck], and also writes a check run that the run shares with others. It is for a process
// that goes on only if GitHub has the hash of the plan.
func (rp *Reporter) PutCheckNow(ctx context.Context, r runs.Run) error {
	if err := rp.PutCheck(ctx, r); err != nil || r.Spec.Shared.IsZero() {
		return err
	}
	// Another process that has read older entries may write last: then the hash is gone until that process writes again.
	for try := range sharedTries {
		if err := rp.writeShared(ctx, runs.SharedKey(r), nil, try > 0); err != nil {
			return err
		}
		shown, exists, err := rp.Facts.PlansOnGitHub(ctx, r.SharedCheck(), r.Spec.Head)
		if now := shown.Of(r.Target()); err != nil || !exists || now.Hash == r.Plan.Hash && now.Again == r.Plan.Again {
			return err
		}
	}
	return fmt.Errorf("write the plan of %s into the check %s: other processes have written the check at the same time", r.Target(), r.CheckRun())
}

// WriteShared writes the check run that a run shares with others. It does nothing if the run has its own.
func WriteShared(ctx context.Context, rp *Reporter, r runs.Run) error {
	if r.Spec.Shared.IsZero() {
		return nil
	}
	return rp.writeShared(ctx, runs.SharedKey(r), nil, false)
}

// syncShared writes those shared check runs of the pull request that do not show everything, at each of its heads. all are
// its runs.
func (rp *Reporter) syncShared(ctx context.Context, all []ledger.Versioned) error {
	if !slices.ContainsFunc(all, func(s ledger.Versioned) bool { return s.Slot > 0 && !s.Spec.Shared.IsZero() }) {
		return nil
	}
	list, err := rp.Ledger.Records.List(ctx, runs.SharedDir(rp.Facts.Message.Pull))
	if err != nil {
		return fmt.Errorf("list shared checks: %w", err)
	}
	for _, rec := range list {
		s, err := runs.DecodeShared(rec.Value)
		if err != nil {
			return err
		}
		if s.Written != "" && s.Head != rp.Facts.Pull.Head.SHA {
			continue
		}
		if err := rp.writeShared(ctx, rec.Key, all, false); err != nil {
			return err
		}
	}
	return nil
}

// sharedTries is how often a process writes a shared check run in a row, while others write it, too. After that, the next
// status comment comes with another attempt.
const sharedTries = 3

// writeShared writes the shared check run whose record has the key, if it does not show what the records say. all are the
// runs of the pull request; nil if they are not read yet. anyway is set if the check run is written in any case.
//
// Several processes may write at the same time. Each counts itself in the record before it reads the entries, and counts
// itself out after GitHub has the content. If it was not alone all the time, nobody knows whose content GitHub has got last:
// then the last one writes again. A process that dies in between stays counted for some time, and until then each
// status comment writes the check run again.
func (rp *Reporter) writeShared(ctx context.Context, key string, all []ledger.Versioned, anyway bool) (err error) {
	for try := range sharedTries {
		if all == nil {
			if all, err = rp.Ledger.Runs(ctx, rp.Facts.Message.Pull); err != nil {
				return err
			}
		}
		again, err := rp.writeSharedOnce(ctx, key, all, anyway || try > 0)
		if err != nil || !again {
			return err
		}
		all = nil
	}
	return nil
}

// writeSharedOnce makes one attempt of writeShared. anyway is set if the check run is written even if its record says that
// it shows everything. again is set if another attempt is needed.
func (rp *Reporter) writeSharedOnce(ctx context.Context, key string, all []ledger.Versioned, anyway bool) (again bool, err error) {
	rec, err := rp.Ledger.Records.Get(ctx, key)
	if err != nil || rec.Value == nil {
		return false, err // it has expired
	}
	s, err := runs.DecodeShared(rec.Value)
	if err != nil {
		return false, err
	}
	c, err := rp.sharedContent(ctx, s, all)
	if err != nil || len(c.projects) == 0 || c.digest == s.Written && !anyway {
		return false, err
	}
	if s, err = rp.changeShared(ctx, key, func(s runs.SharedRecord) runs.SharedRecord { return s.Begin(time.Now()) }); err != nil {
		return false, err
	}
	if c, err = rp.sharedContent(ctx, s, all); err == nil {
		s.ID, err = rp.putShared(ctx, s, c)
	}
	_, ended := rp.changeShared(ctx, key, func(now runs.SharedRecord) runs.SharedRecord {
		if err != nil {
			return now.Fail()
		}
		now, again = now.End(s.ID, c.digest)
		return now
	})
	return again, errors.Join(err, ended)
}

func (rp *Reporter) changeShared(ctx context.Context, key string, next func(runs.SharedRecord) runs.SharedRecord) (runs.SharedRecord, error) {
	value, err := rp.Ledger.Change(ctx, key, func(old []byte) ([]byte, error) {
		s, err := runs.DecodeShared(old)
		if err != nil || old == nil {
			return nil, errors.Join(err, ledger.ErrAsIs)
		}
		return pipeline.Encode(next(s)), nil
	})
	if err != nil {
		return runs.SharedRecord{}, err
	}
	return runs.DecodeShared(value)
}

// A sharedContent is what a shared check run has to show.
type sharedContent struct {
	projects []runs.SharedProject
	waiting  int // projects without an entry: they are not planned yet, or the process that has to write the entry has died
	digest   string
}

// sharedContent reads the entries of a shared check run.
func (rp *Reporter) sharedContent(ctx context.Context, s runs.SharedRecord, all []ledger.Versioned) (c sharedContent, err error) {
	list, err := rp.Ledger.Records.List(ctx, s.ProjectsDir(rp.Facts.Message.Pull))
	if err != nil {
		return c, fmt.Errorf("list the projects of a shared check: %w", err)
	}
	have := map[string]bool{}
	for _, rec := range list {
		x, err := runs.DecodeSharedProject(rec.Value)
		if err != nil {
			return c, err
		}
		_, x.Target = pipeline.SplitKey(rec.Key)
		have[x.Target] = true
		c.projects = append(c.projects, x)
	}
	for _, r := range all {
		if r.Spec.Head == s.Head && r.Spec.Shared.Number == s.Check.Number && !have[r.Target()] && r.Phase != runs.Superseded && r.Phase != runs.Dropped {
			c.waiting++
		}
	}
	c.digest = runs.SharedDigest(c.projects, c.waiting)
	return c, nil
}

// putShared writes a shared check run on GitHub, and returns its ID.
func (rp *Reporter) putShared(ctx context.Context, s runs.SharedRecord, c sharedContent) (id int64, err error) {
	pull := rp.Facts.Message.Pull
	shown, exists, err := rp.Facts.PlansOnGitHub(ctx, s.Check, s.Head)
	if err != nil {
		return s.ID, err
	}
	proofs := maps.Clone(shown)
	if proofs == nil {
		proofs = markdown.Proofs{}
	}
	page := comment.SharedCheck{Waiting: c.waiting}
	for _, x := range c.projects {
		page.Rows = append(page.Rows, x.Row)
		if proof := x.Proof.Shown(x.Proof.IsSealed(pull, s.Head, x.Target, rp.Facts.Hub.Seal), shown.Of(x.Target)); proof != (markdown.Proof{}) {
			proofs.Set(x.Target, proof)
		}
	}
	page.Body = func(i int) (string, error) { return rp.sharedBody(ctx, c.projects[i]) }
	head := proofs.Markdown()
	text, err := page.Text(github.MaxCheckText - len(head))
	if err != nil {
		return s.ID, err
	}
	check := github.Check{
		Name: s.Check.Name(), SHA: s.Head, ExternalID: s.Check.ExternalID(),
		Title: page.Title(github.MaxCheckTitle), Summary: markdown.Cut(rp.Clean(page.Summary(github.MaxCheckText)), github.MaxCheckText),
		Text: head + markdown.Cut(rp.Clean(text), github.MaxCheckText-len(head)),
	}
	check.Status, check.Conclusion = runs.ConcludeShared(c.projects, c.waiting)
	if rp.Facts.Pull.Open && rp.Facts.Pull.Head.SHA == s.Head {
		for _, b := range comment.SharedButtons() {
			check.Buttons = append(check.Buttons, github.CheckButton(b))
		}
	}
	var annotated []string
	if check.Annotations, annotated, err = rp.sharedAnnotations(ctx, c.projects); err != nil {
		return s.ID, err
	}
	switch id = s.ID; {
	case !s.Alone:
		id = 0 // others may have created another one
	case !exists && id == 0:
		id = github.NewCheck
	}
	id, absent, err := WriteCheck(ctx, rp, id, check)
	if err != nil || absent {
		return s.ID, err
	}
	return id, rp.noted(ctx, s, annotated)
}

// sharedBody returns the plan or the error of a project in a shared check run, in Markdown; "" if there is none.
func (rp *Reporter) sharedBody(ctx context.Context, x runs.SharedProject) (string, error) {
	if x.Report.Key == "" {
		return "", nil
	}
	text, err := ledger.Text(ctx, rp.Artifacts, x.Report)
	if text != "" && x.Reported != "" && runs.HashOf([]byte(text)) != x.Reported {
		text = notes.Exchanged()
	}
	return text, err
}

// maxSharedAnnotations is the maximum number of annotations that one write adds to a shared check run. GitHub takes 50 in a
// request.
const maxSharedAnnotations = 200

// sharedAnnotations returns the annotations that a shared check run does not have yet, each with its project in the title.
// targets are those of their projects.
func (rp *Reporter) sharedAnnotations(ctx context.Context, projects []runs.SharedProject) (out []github.Annotation, targets []string, err error) {
	for _, x := range projects {
		if x.Notes.Key == "" || x.Noted {
			continue
		}
		all, err := rp.annotationsIn(ctx, x.Notes, x.Row.Label)
		if err != nil {
			return nil, nil, err
		}
		if len(out) > 0 && len(out)+len(all) > maxSharedAnnotations {
			break
		}
		for _, a := range all {
			a.Title = strings.ToValidUTF8((x.Row.Label + ": " + a.Title)[:min(len(x.Row.Label)+2+len(a.Title), github.MaxCheckTitle)], "")
			out = append(out, a)
		}
		targets = append(targets, x.Target)
	}
	return out[:min(len(out), maxSharedAnnotations)], targets, nil
}

// noted records that a shared check run has the annotations of some projects.
func (rp *Reporter) noted(ctx context.Context, s runs.SharedRecord, targets []string) error {
	for _, target := range targets {
		_, err := rp.Ledger.Change(ctx, s.ProjectsDir(rp.Facts.Message.Pull)+"/"+target, func(old []byte) ([]byte, error) {
			x, err := runs.DecodeSharedProject(old)
			if err != nil || old == nil || x.Noted {
				return nil, errors.Join(err, ledger.ErrAsIs)
			}
			x.Noted = true
			return pipeline.Encode(x), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
