package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var measuring = Story{
	Name:  "metrics",
	Shows: "Prometheus reads what Lockstep has done, how long it took, and what waits.",
	scenes: append(firstNetwork[:len(firstNetwork):len(firstNetwork)],
		scene{title: "Prometheus asks for the metrics", do: by(func(*githubtest.Repository) {}), verify: measured},
	),
}

// measured prints the metrics whose values are equal in each run of the demo. Durations differ from run to run, so
// measured only checks that their metrics exist.
func measured(_ context.Context, w *World) error {
	text := w.metrics.Text()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, shown := range []string{"lockstep_runs_total{", "lockstep_messages_total{kind=\"plan\"", "lockstep_messages_total{kind=\"apply\"", "lockstep_plan_ready_seconds_count"} {
			if strings.HasPrefix(line, shown) {
				w.narrate("%s", line)
			}
		}
	}
	for _, name := range []string{"plan_ready_seconds_sum", "queue_seconds_sum", "message_seconds_sum", "github_requests_total"} {
		if !strings.Contains(text, "\nlockstep_"+name) {
			return fmt.Errorf("lockstep_%s was not measured", name)
		}
	}
	w.narrate("the times of webhooks, queues, plans and applies are histograms: `lockstep docs metrics` lists all metrics")
	return nil
}
