package subprocess

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// TestEnded holds that the outcome of an apply is believed before its end only from a run that may apply, once, and without the
// secrets that it was given.
func TestEnded(t *testing.T) {
	t.Parallel()
	var told []jobs.Outcome
	job := jobs.Job{ApplyTask: jobs.ApplyTask{Ended: func(o jobs.Outcome) error { told = append(told, o); return nil }}}
	q := question{Kind: isEnded, Outcome: jobs.Outcome{Report: "the key is hunter2hunter2"}}
	for _, a := range []action{plans, checks, snapshots, recovers, unlocks, applies} { // nobody has permitted it
		c := (&Engine{}).call(order{Action: a, Job: job})
		c.permitted = a != applies
		if _, err := c.answer(t.Context(), q); !errors.Is(err, errShape) || len(told) > 0 {
			t.Errorf("%s: %v, %+v", a, err, told)
		}
	}
	hide := func(text string, secrets []string) string { return strings.ReplaceAll(text, secrets[0], "(hidden)") }
	c := (&Engine{Redact: hide}).call(order{Action: applies, Job: job})
	c.permitted, c.secrets = true, map[string]string{"KEY": "hunter2hunter2"}
	if a, err := c.answer(t.Context(), q); err != nil || a.Error != nil || len(told) != 1 || strings.Contains(told[0].Report, "hunter2") {
		t.Errorf("%v, %v, %+v", err, a.Error, told)
	}
	if _, err := c.answer(t.Context(), q); !errors.Is(err, errShape) || len(told) != 1 {
		t.Errorf("a second time: %v, %+v", err, told)
	}
	c.ended, c.order.Job.Ended = false, func(jobs.Outcome) error { return errors.New("no records") }
	if a, err := c.answer(t.Context(), q); err != nil || a.Error == nil || a.Error.Text != "no records" {
		t.Errorf("where it cannot be recorded: %v, %v", err, a.Error)
	}
}
