package gatefacts

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// oneHub answers with one pull request, and counts how often it is read.
type oneHub struct {
	Hub
	pull  github.PullRequest
	reads int
}

func (h *oneHub) PullRequest(context.Context, int) (github.PullRequest, error) {
	h.reads++
	return h.pull, nil
}

func (h *oneHub) Seal(text []byte) string { return runs.HashOf(append([]byte("key"), text...)) }

// TestLookForPlan holds which reading of a pull request the plans of many projects share. Whoever may write records cannot tell a
// plan another base branch, or put an old reading back.
func TestLookForPlan(t *testing.T) {
	repo := github.Repo{ID: 7, Owner: "acme", Name: "infra"}
	now := github.PullRequest{Number: 12, Open: true, Head: github.Branch{Repo: repo, SHA: "head"}, Base: github.Branch{Repo: repo, Ref: "main"}}
	change := func(rec *sealedReading, from, to string) {
		if !strings.Contains(string(rec.Reading), from) {
			panic(from)
		}
		rec.Reading = json.RawMessage(strings.Replace(string(rec.Reading), from, to, 1))
	}
	for name, test := range map[string]struct {
		forge func(*sealedReading, *memory.Store)
		later time.Duration
		loud  bool
		reads int
	}{
		"shared":                 {},
		"after 59 seconds":       {later: 59 * time.Second},
		"after a minute":         {later: time.Minute, reads: 1},
		"of one of few projects": {loud: true, reads: 1},
		"with another base":      {forge: func(r *sealedReading, _ *memory.Store) { change(r, `"main"`, `"evil"`) }, reads: 1},
		"with another time":      {forge: func(r *sealedReading, _ *memory.Store) { change(r, `"At":"20`, `"At":"21`) }, later: time.Hour, reads: 1},
		"without a seal":         {forge: func(r *sealedReading, _ *memory.Store) { r.Seal = "" }, reads: 1},
		"of another pull request": {forge: func(r *sealedReading, _ *memory.Store) {
			r.Seal = (&oneHub{}).Seal(sealedText(pipeline.Pull{Repo: repo, Number: 13}, r.Reading))
		}, reads: 1},
		"damaged": {forge: func(r *sealedReading, _ *memory.Store) { r.Reading = json.RawMessage(`"x"`) }, reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := new(memory.Store)
				hub := &oneHub{pull: now}
				reader := func() *Reader {
					return &Reader{Hub: hub, Ledger: ledger.Ledger{Records: store}, Message: pipeline.Message{Pull: pipeline.Pull{Repo: repo, Number: 12}}}
				}
				first := reader()
				if err := first.Look(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := first.Share(t.Context()); err != nil {
					t.Fatal(err)
				}
				if test.forge != nil {
					rec, err := store.Get(t.Context(), readingKey(first.Message.Pull))
					if err != nil {
						t.Fatal(err)
					}
					var s sealedReading
					if err := json.Unmarshal(rec.Value, &s); err != nil {
						t.Fatal(err)
					}
					test.forge(&s, store)
					if _, err := store.Put(t.Context(), rec.Key, pipeline.Encode(s), rec.Version); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(test.later)
				hub.reads = 0
				plan := reader()
				r := runs.Run{ID: runs.ID{Pull: plan.Message.Pull}, Spec: runs.Spec{Head: "head"}, Asked: runs.Asked{Quiet: !test.loud}}
				if err := plan.LookForPlan(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				if hub.reads != test.reads || plan.Pull.Base.Ref != "main" || !plan.Pull.Open {
					t.Errorf("it was read %d times, want %d: %+v", hub.reads, test.reads, plan.Pull)
				}
				hub.reads = 0
				if err := reader().LookForPlan(t.Context(), r); err != nil || hub.reads != 0 && !test.loud {
					t.Errorf("the next plan reads it %d times: %v", hub.reads, err)
				}
				r.Spec.Head = "other"
				if err := reader().LookForPlan(t.Context(), r); err != nil || hub.reads == 0 {
					t.Errorf("a plan of another head does not read it: %v", err)
				}
			})
		})
	}
}
