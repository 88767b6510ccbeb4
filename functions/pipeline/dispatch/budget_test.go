package dispatch_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// poor is a GitHub that takes few requests.
type poor struct {
	dispatch.GitHub
	budget github.Budget
}

func (h poor) Budget() github.Budget { return h.budget }

// TestShareOfBudget holds that a repository which has used up most of what GitHub takes from an installation has its further plans wait for the next hour,
// that another repository goes on meanwhile, and so do the commands of people.
func TestShareOfBudget(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	connect, reset := s.pipeline.Connect, time.Now().UTC().Truncate(time.Second).Add(time.Hour)
	left := 2400
	s.pipeline.Connect = func(p pipeline.Pull) (dispatch.GitHub, error) {
		hub, err := connect(p)
		left -= 300
		return poor{hub, github.Budget{Limit: 5000, Left: left, Reset: reset, Used: 300}}, err
	}
	mine := pipeline.Message{ID: "plan-x", Kind: pipeline.ToPlan, Pull: s.ref(n), Target: ".@default"}
	for i := range 5 { // 900 requests are left then
		m := mine
		m.ID += strings.Repeat("x", i)
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Fatalf("with %d requests left: %v", left, err)
		}
	}
	var busy *pipeline.BusyError
	mine.ID = "plan-y"
	if err := s.pipeline.Handle(t.Context(), mine); !errors.As(err, &busy) || !busy.Until.Equal(reset) || !strings.Contains(err.Error(), "GitHub's 5000 requests an hour") {
		t.Errorf("with %d requests left: %v", left, err)
	}
	other := mine
	other.Pull.Repo.ID, other.Pull.Repo.Name = 999, "other"
	for _, m := range []pipeline.Message{other, {ID: "tell-z", Kind: pipeline.SyncComments, Pull: s.ref(n)}} {
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Errorf("%s: %v", m.ID, err)
		}
	}
}
