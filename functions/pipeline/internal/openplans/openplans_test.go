package openplans

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// TestDue holds which plans are checked: "phase knows/applies", with "open" where the pull request of
// the last apply is not merged yet.
func TestDue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		phase   runs.Phase
		applies string
		want    bool
	}{
		{runs.Planned, "0/none", false},
		{runs.Planned, "0/1", true},
		{runs.Planned, "0/1 open", false},
		{runs.Planned, "1/1", false},
		{runs.Planned, "1/3", true},
		{runs.Planned, "2/1", false},
		{runs.Queued, "0/1", false},      // it will be planned of what is there
		{runs.ApplyQueued, "0/1", false}, // its apply plans again
		{runs.Stopped, "0/1", false},     // the rest of a plan is none to compare
		{runs.Applied, "0/1", false},
		{runs.Dropped, "0/1", false},
	} {
		knows, last, _ := strings.Cut(test.applies, "/")
		r := runs.Run{Phase: test.phase, Plan: runs.Plan{Applies: number(knows)}}
		var l *runs.LastApply
		if n, open, _ := strings.Cut(last, " "); n != "none" {
			l = &runs.LastApply{Applies: number(n), Settled: open == ""}
		}
		if got := Due(r, l); got != test.want {
			t.Errorf("%s %s: %v", test.phase, test.applies, got)
		}
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// TestFair holds the order of plans by their authors' turns: "mallory1" is pull request 1, of mallory.
func TestFair(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"alice2 alice1", "alice1 alice2"},
		{"mallory1 mallory2 mallory3 mallory4 alice5 bob6 alice7", "mallory1 alice5 bob6 mallory2 alice7 mallory3 mallory4"},
	} {
		var all []runs.Open
		for _, name := range strings.Fields(test.in) {
			author := strings.TrimRight(name, "0123456789")
			all = append(all, runs.Open{Author: author, Pull: pipeline.Pull{Number: number(name[len(author):])}})
		}
		var got []string
		for _, o := range inTurns(all) {
			got = append(got, fmt.Sprint(o.Author, o.Pull.Number))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s, want %s", test.in, s, test.want)
		}
	}
}

// sent is a queue that lists what is sent.
type sent []pipeline.Message

func (s *sent) Send(_ context.Context, m pipeline.Message) error {
	*s = append(*s, m)
	return nil
}

// TestFlood holds that one author with a great many pull requests makes others neither wait nor pay
// for them: each state has a bounded number of checks, and the others' are among them.
func TestFlood(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ld := ledger.Ledger{Records: data.Records}
	run := func(n int) runs.Run {
		return runs.Run{
			ID:    runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: n}, Project: "net", Workspace: "default"},
			Phase: runs.Planned,
			Asked: runs.Asked{Attempt: 3},
		}
	}
	put := func(n int, author string) {
		t.Helper()
		if err := ld.ListPlan(t.Context(), run(n), author); err != nil {
			t.Fatal(err)
		}
		if _, err := ld.Save(t.Context(), ledger.Versioned{Run: run(n)}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2 * AtOnce {
		put(n+1, "mallory")
	}
	put(1000, "alice")
	if err := ld.Remember(t.Context(), run(7), runs.LastApply{Number: 7}); err != nil {
		t.Fatal(err)
	}
	if _, err := ld.Settle(t.Context(), run(7), 7, runs.Closed); err != nil {
		t.Fatal(err)
	}
	var queue sent
	m := Message(run(7))
	m.Pull, m.ID = run(7).Pull, "settled-1"
	if err := (Finder{Ledger: ld, Queue: &queue}).Find(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(queue) != AtOnce || queue[1].Pull.Number != 1000 || queue[1].Kind != pipeline.ToCheck || queue[1].Attempt != 3 {
		t.Errorf("%d messages, the second is %+v", len(queue), queue[1])
	}
	ids := map[string]bool{}
	for _, m := range queue {
		ids[m.ID] = true
	}
	if len(ids) != AtOnce {
		t.Errorf("%d IDs", len(ids))
	}
}
