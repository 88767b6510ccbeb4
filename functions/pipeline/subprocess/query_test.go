//go:build linux

package subprocess

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// TestQuery holds that the process of a query gets the secrets of its project, as a plan does, and that nothing that it returns
// has one of ours, or is too long.
func TestQuery(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	asked := 0
	e.Secrets = func(context.Context, jobs.Job) (map[string]string, error) {
		asked++
		return map[string]string{"TOKEN": "correct-horse-battery"}, nil
	}
	e.Redact = func(text string, others []string) string {
		for _, s := range append(others, "hunter2hunter2") {
			text = strings.ReplaceAll(text, s, "(hidden)")
		}
		return text
	}
	found, failure, err := e.Query(t.Context(), named(t, "vault"), 7)
	if err != nil || asked != 1 || found.Config != "7" || failure != "map[TOKEN:(hidden)] <nil>(hidden)" {
		t.Errorf("%d times, %+v, %s, %v", asked, found, failure, err)
	}
	if name := found.Objects[0].Name; !strings.HasPrefix(name, "(hidden)") || len(name) > 310 {
		t.Errorf("%q", name)
	}
	if found, _, err = e.Query(t.Context(), named(t, "vault"), 0); err != nil || found.Config != "" {
		t.Errorf("more configuration than there is room: %q, %v", found.Config, err)
	}
	command := comment.Command{Verb: comment.Output, Arguments: []string{"a"}}
	shown, failure, err := e.Show(t.Context(), named(t, "vault"), command)
	if err != nil || shown.Text != "a = (hidden)\n" || !shown.Command.Equal(command) || shown.Project != "vault" || !strings.HasSuffix(failure, "(hidden)") {
		t.Errorf("%+v, %s, %v", shown, failure, err)
	}
	if _, failure, err = e.Query(t.Context(), named(t, "exit"), 0); err != nil || !strings.Contains(failure, "**Interrupted: Querying `exit`.**") {
		t.Errorf("%s, %v", failure, err)
	}
}
