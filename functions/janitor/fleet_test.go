package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// TestAbandonOfNobody holds that a dead letter of an App that is not there any more ends, with a word in the log, and does not
// come again for two weeks.
func TestAbandonOfNobody(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	f := &fleet{world: &wiring.World{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	if err := f.abandon(t.Context(), pipeline.Message{ID: "x", Pull: pipeline.Pull{App: "gone"}}); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `the App \"gone\" is no longer in the parameter Apps`) {
		t.Error(log.String())
	}
}
