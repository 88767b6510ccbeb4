package localstore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// toPlan is a message for a plan of a repository.
func toPlan(app string, repo int64, number, i int) pipeline.Message {
	return pipeline.Message{
		ID: fmt.Sprintf("plan-%d-%d-%d", repo, number, i), Kind: pipeline.ToPlan, Target: fmt.Sprintf("p%d@default", i),
		Pull: pipeline.Pull{App: app, Repo: github.Repo{ID: repo}, Number: number},
	}
}

// handled drains the queue, and returns the repositories and numbers of what it handed over, in that order.
func handled(t *testing.T, q *Queue) (out []string) {
	t.Helper()
	_, err := q.Drain(t.Context(), Worker{Handle: func(_ context.Context, m pipeline.Message) error {
		out = append(out, fmt.Sprintf("%s%d/%d", m.Pull.App, m.Pull.Repo.ID, m.Pull.Number))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestShareOfRepository holds that a repository which queues very much keeps no other one waiting for all of it: they take turns. What one
// repository has queued stays in its order.
func TestShareOfRepository(t *testing.T) {
	q := openDir(t).Queue
	for i := range 300 {
		send(t, q, toPlan("", 5, 1+i/100, i))
	}
	send(t, q, toPlan("", 6, 1, 0), pushed("event", 4), toPlan("", 6, 1, 1), toPlan("ghes", 5, 9, 0), toPlan("", 6, 2, 2))
	for about, want := range map[pipeline.Pull]int{
		{Repo: github.Repo{ID: 5}, Number: 8}: 300, {Repo: github.Repo{ID: 6}}: 3, {App: "ghes", Repo: github.Repo{ID: 5}}: 1, {Repo: github.Repo{ID: 50}}: 0,
	} {
		if n, err := q.Ahead(t.Context(), about); n != want || err != nil {
			t.Errorf("%d plans of %v are ahead, %v; want %d", n, about, err, want)
		}
	}
	got := handled(t, q)
	if want := []string{"5/1", "6/1", "ghes5/9", "5/1", "6/1", "5/1", "6/2", "5/1"}; len(got) != 305 || !slices.Equal(got[:8], want) {
		t.Errorf("%d messages in the order %q", len(got), got[:min(len(got), 10)])
	}
	var of5 []string
	for _, x := range got {
		if x[0] == '5' {
			of5 = append(of5, x)
		}
	}
	if !slices.IsSorted(of5[:300]) || of5[300] != "5/4" {
		t.Errorf("one repository's messages are out of order: %q", of5)
	}
	// A repository that was never served is first, and those that were served last are last.
	send(t, q, toPlan("", 6, 3, 0), toPlan("", 6, 3, 1), toPlan("", 7, 1, 0), toPlan("", 5, 5, 300), toPlan("", 5, 5, 301))
	if got, want := handled(t, q), []string{"7/1", "6/3", "5/5", "6/3", "5/5"}; !slices.Equal(got, want) {
		t.Errorf("then in the order %q, want %q", got, want)
	}
}
