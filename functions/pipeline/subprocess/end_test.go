package subprocess

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

func permitAll(jobs.BeforeApply) jobs.Permit { return jobs.Permitted }

// TestEndOfAnApply holds that an apply that does not end in its time is killed, with programs that
// would live on; that another process can go on with it; and that its lock stays for that one.
func TestEndOfAnApply(t *testing.T) {
	t.Parallel()
	end := time.Now().Add(3 * time.Second)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	j := named(t, "haunted")
	j.VarFiles, j.Times = []string{j.Checkout}, jobs.TimesBefore(end, end, time.Second)
	var far comment.Progress
	j.Progress = func(o comment.Ongoing) { far = o.Progress }
	got, err := newEngine(t).Apply(ctx, j, []byte("x"), permitAll)
	if want := (comment.Progress{Done: 3, Of: 7}); err != nil || !got.Resumable || got.Lost || got.Progress != want || far != want {
		t.Errorf("%+v, %v, far %v", got, err, far)
	}
	if _, err := os.Stat(filepath.Join(j.Checkout, "unlocked")); err == nil {
		t.Error("its lock was released")
	}
	lives := filepath.Join(j.Checkout, "lives")
	if err := os.Remove(lives); err != nil { // it was there
		t.Fatal(err)
	}
	// The program wrote it every 10 ms, and the next run takes longer than that.
	j.Project = "done"
	if _, err := newEngine(t).Apply(t.Context(), j, nil, permitAll); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(lives); err == nil {
		t.Error("a program of the apply outlived it")
	}
}

// TestStopOfAnApply holds that an apply which is stopped has its time to end.
func TestStopOfAnApply(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := newEngine(t).Apply(ctx, named(t, "polite"), []byte("x"), func(jobs.BeforeApply) jobs.Permit {
		time.AfterFunc(100*time.Millisecond, cancel)
		return jobs.Permitted
	})
	if err != nil || got.Report != "done: politex" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestProgressIsNotPassedOnEachTime holds that a child cannot have its parent write as often as it
// likes, and that questions about it are not limited.
func TestProgressIsNotPassedOnEachTime(t *testing.T) {
	t.Parallel()
	j := named(t, "progress:hunter2")
	n := 0
	j.Progress = func(o comment.Ongoing) {
		n++
		if len(o.UnderWay) != comment.MaxUnderWay || o.More != 0 || o.Of != 3000 {
			t.Errorf("%d changes are under way, and %d more", len(o.UnderWay), o.More)
		}
		for _, c := range o.UnderWay {
			if len(c.Address) > 200 || strings.Contains(c.Address, "hunter2") || !strings.HasPrefix(c.Address, "x.a[\"") {
				t.Errorf("it reports %q", c.Address)
			}
		}
	}
	begun := time.Now()
	e := newEngine(t)
	e.Redact = func(text string, _ []string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") }
	got, err := e.Apply(t.Context(), j, []byte("x"), permitAll)
	if most := 2 + int(time.Since(begun)/progressEvery); /* one of them is the last report */ err != nil || got.Report != "done: progressx" || n < 1 || n > most {
		t.Errorf("%d times of %d, %+v, %v", n, most, got, err)
	}
}
