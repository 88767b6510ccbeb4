//go:build linux

package subprocess

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestSecretsOfAJob holds that a child gets the secrets of its own job, and that nothing that it says
// then has them: neither a report nor the words of its death.
func TestSecretsOfAJob(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	asked := 0
	e.Secrets = func(_ context.Context, j jobs.Job) (map[string]string, error) {
		if asked++; strings.HasPrefix(j.Project, "denied") {
			return nil, errors.New("AccessDenied")
		}
		return map[string]string{"TOKEN": "correct-horse-battery"}, nil
	}
	e.Redact = func(text string, others []string) string {
		for _, s := range others {
			text = strings.ReplaceAll(text, s, "(hidden)")
		}
		return text
	}
	for project, want := range map[string]string{
		"vault":     "map[TOKEN:(hidden)]",
		"vault:die": "**Interrupted: ",
	} {
		got, err := e.Plan(t.Context(), named(t, project))
		if err != nil || !strings.Contains(got.Report, want) || strings.Contains(got.Report, "horse") {
			t.Errorf("%s: %s, %v", project, got.Report, err)
		}
	}
	o, err := e.Apply(t.Context(), named(t, "vault"), nil, whether(func(runs.StateID) bool { return true }))
	if err != nil || !strings.Contains(o.Report, "(hidden)") || strings.Contains(o.Report, "horse") {
		t.Errorf("%+v, %v", o, err)
	}
	checked, err := e.Check(t.Context(), named(t, "vault"), nil)
	if err != nil || checked.Now.Again == nil || !strings.Contains(checked.Now.Again.Plan.Report, "(hidden)") || strings.Contains(checked.Now.Again.Plan.Report, "horse") {
		t.Errorf("%+v, %v", checked, err)
	}
	if asked != 4 {
		t.Errorf("the secrets were read %d times for 4 runs", asked)
	}
	e.Secrets = nil
	if got, err := e.Plan(t.Context(), named(t, "vault")); err != nil || !strings.Contains(got.Report, "map[]") {
		t.Errorf("without secrets: %+v, %v", got, err)
	}
}

// TestSecretsAreForWork holds that a process that only unlocks, or only reads files, gets none.
func TestSecretsAreForWork(t *testing.T) {
	t.Parallel()
	for _, a := range []action{unlocks, discovers, inputs, looks} {
		c := (&Engine{Secrets: func(context.Context, jobs.Job) (map[string]string, error) {
			t.Errorf("%s gets the secrets", a)
			return nil, nil
		}}).call(order{Action: a})
		if _, err := c.answer(t.Context(), question{Kind: isSecrets}); !errors.Is(err, errShape) {
			t.Errorf("%s: %v", a, err)
		}
	}
}
