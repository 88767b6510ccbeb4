package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/pacing"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestNoise holds that somebody who asks without end is told once that it is too much,
// and keeps nobody else from asking; and that they may ask again when time has passed.
func TestNoise(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	s.pipeline.MaxCommands = 2
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	begin := s.hub.Now()
	for range 2 {
		s.expect("a command", s.say("mallory", n, "lockstep plan"), "`mallory` has the permission `read`")
	}
	answer := s.say("mallory", n, "lockstep plan")
	s.expect("one too many", answer, "**Not carried out**", "`mallory`", "2 an hour", " UTC; until then further ones get no answer")
	before := len(s.repo.Comments(n))
	for range 2 {
		if got := s.say("mallory", n, "lockstep plan"); got != "" {
			t.Errorf("more were answered: %s", got)
		}
	}
	if got := len(s.repo.Comments(n)); got != before+2 {
		t.Errorf("%d comments of ours in between", got-before-2)
	}
	if last := s.hub.Lines(); !strings.Contains(last[len(last)-1], "confused") {
		t.Errorf("at last there is %s", last[len(last)-1])
	}
	s.expect("somebody else", s.say("alice", n, "lockstep plan"), "**Planned** `.`")
	if s.hub.Now().Sub(begin) >= pacing.Window {
		t.Fatal("that took an hour")
	}
	for s.hub.Now().Sub(begin) < pacing.Window+10*time.Minute {
		s.repo.Comment("bob", n, "Time passes.")
	}
	s.settle()
	s.expect("later", s.say("mallory", n, "lockstep plan"), "`mallory` has the permission `read`")
}
