package gatefacts

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// A pullReading is a pull request as a process has read it from GitHub. The plans of a push that touches many projects share
// it: otherwise each of them would read the same.
type pullReading struct {
	At   time.Time // by Lockstep's clock
	Pull github.PullRequest
}

// A sealedReading is the record of a [pullReading]. Whoever can write records could otherwise tell a plan another base
// branch, or that a commit is not of a fork. See [github.Client.Seal].
type sealedReading struct {
	Reading json.RawMessage
	Seal    string
}

// readingAge is how long plans share a pullReading. A push, a close or another base branch takes effect at once, by the event
// on GitHub: its handler changes the runs, and records what it has read. Only an event that is lost or late is noticed later by
// so much.
const readingAge = time.Minute

// readingSkew is how much the clocks of two processes may differ.
const readingSkew = 5 * time.Second

func readingKey(p pipeline.Pull) string { return fmt.Sprintf("reading/%d/%d", p.Repo.ID, p.Number) }

func sealedText(p pipeline.Pull, reading []byte) []byte {
	return fmt.Appendf(nil, "pull\n%d\n%d\n%s", p.Repo.ID, p.Number, reading)
}

// open returns the reading if this App has sealed it; zero otherwise.
func (s sealedReading) open(e *Reader) (r pullReading) {
	if s.Seal == "" || !hmac.Equal([]byte(s.Seal), []byte(e.Hub.Seal(sealedText(e.Message.Pull, s.Reading)))) {
		return pullReading{}
	}
	if err := json.Unmarshal(s.Reading, &r); err != nil {
		return pullReading{}
	}
	return r
}

// Share records the pull request, as [Reader.Look] has just read it, for the plans of many projects.
func (e *Reader) Share(ctx context.Context) error {
	now := pullReading{At: time.Now().UTC(), Pull: e.Pull}
	data := pipeline.Encode(now)
	next := sealedReading{data, e.Hub.Seal(sealedText(e.Message.Pull, data))}
	_, err := e.Ledger.Change(ctx, readingKey(e.Message.Pull), func(old []byte) ([]byte, error) {
		var was sealedReading
		if old != nil && json.Unmarshal(old, &was) == nil && was.open(e).At.After(now.At) {
			return nil, ledger.ErrAsIs
		}
		return pipeline.Encode(next), nil
	})
	return err
}

// LookForPlan is like [Reader.Look], for the plan of a run. If it is one of many, it takes the pull request as another process
// has read it within the last minute.
func (e *Reader) LookForPlan(ctx context.Context, r runs.Run) error {
	if !r.Asked.Quiet {
		return e.Look(ctx)
	}
	rec, err := e.Ledger.Records.Get(ctx, readingKey(e.Message.Pull))
	if err != nil {
		return err
	}
	var s sealedReading
	if rec.Value != nil && json.Unmarshal(rec.Value, &s) == nil {
		x := s.open(e)
		age := time.Since(x.At)
		same := x.Pull.Open && x.Pull.Issue == "" && x.Pull.Number == r.Pull.Number && x.Pull.Base.Repo.ID == r.Pull.Repo.ID && x.Pull.Head.SHA == r.Spec.Head
		if same && age >= -readingSkew && age < readingAge {
			e.Pull = x.Pull
			return e.looked(ctx)
		}
	}
	if err := e.Look(ctx); err != nil {
		return err
	}
	return e.Share(ctx)
}
