package dispatch_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestNoise holds that somebody who asks without end is told once that it is too much,
// and keeps nobody else from asking; and that they may ask again when time has passed.
func TestNoise(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	s.pipeline.MaxCommands, s.pipeline.MaxStrangers = 2, 100
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	begin := s.hub.Now()
	for range 2 {
		s.expect("a command", s.say("mallory", n, "lockstep plan"), "`mallory` has the permission `read`")
	}
	answer := s.say("mallory", n, "lockstep plan")
	s.expect("one too many", answer, "has reached the limit of 2 comments with commands an hour on this pull request.", "`mallory`", "has reached the limit of 2 comments with commands an hour on this pull request.", "has reached the limit of 2 comments with commands an hour on this pull request.")
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
	if s.hub.Now().Sub(begin) >= ratelimits.Window {
		t.Fatal("that took an hour")
	}
	for s.hub.Now().Sub(begin) < ratelimits.Window+10*time.Minute {
		s.repo.Comment("bob", n, "Time passes.")
	}
	s.settle()
	s.expect("later", s.say("mallory", n, "lockstep plan"), "`mallory` has the permission `read`")
}

// TestStrangersNoise holds that whoever may not write is answered once on a pull request, and so often in a repository, whoever asks,
// and gets nothing beyond that; and that colleagues are answered meanwhile.
func TestStrangersNoise(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	s := newStageAt(t, githubtest.Files{"main.tf": resource("a", "1")}, func() time.Time { return now })
	s.strict, s.pipeline.MaxStrangers = true, 0
	s.repo.Grant("trudy", "read")
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("a stranger", s.say("mallory", n, "lockstep plan"), "`mallory` has the permission `read`")
	c := &counted{kinds: map[string]int{}}
	s.answered = func(r *http.Request, _ int) { c.count(r, http.StatusOK) } // also those that do not count against GitHub's limit
	for i, who := range []string{"mallory", "trudy", "mallory", "trudy", "mallory"} {
		was := len(s.hub.Edits())
		if i == 2 {
			c.kinds = map[string]int{} // both are known as strangers by now
		}
		if got := s.say(who, n, "lockstep plan"); got != "" {
			t.Errorf("%s was answered again: %s", who, got)
		}
		if got := len(s.hub.Edits()) - was; got > 1 {
			t.Errorf("the comment of %s led to %d edits:\n%s", who, got-1, strings.Join(s.hub.Lines(), "\n"))
		}
	}
	if got := c.sum(""); got != 0 {
		t.Errorf("the comments of known strangers cost requests:\n%s", c)
	}
	s.expect("a colleague", s.say("bob", n, "lockstep plan"), "**Planned** `.`")
	answers := 0
	for i := range ratelimits.MaxStrangersHere + 4 {
		m := s.repo.OpenPull("alice", fmt.Sprint("Pull ", i), s.branch(i))
		s.settle()
		if s.say("mallory", m, "lockstep help") != "" {
			answers++
		}
	}
	if answers >= ratelimits.MaxStrangersHere {
		t.Errorf("%d answers in the repository", answers)
	}
}

// TestStrangerNoMore holds that somebody who may write by now is heard soon, and not only when the hour of the strangers is over.
func TestStrangerNoMore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	s := newStageAt(t, githubtest.Files{"main.tf": resource("a", "1")}, func() time.Time { return now })
	s.strict, s.pipeline.MaxStrangers = true, 0
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("a stranger", s.say("mallory", n, "lockstep plan"), "`mallory` has the permission `read`")
	s.repo.Grant("mallory", "write")
	now = now.Add(ratelimits.StrangerFor + time.Minute)
	s.expect("a colleague", s.say("mallory", n, "lockstep plan"), "**Planned** `.`")
}

// branch pushes a branch without anything to plan.
func (s *stage) branch(i int) string {
	name := fmt.Sprint("branch-", i)
	s.repo.Push("alice", name, "Note", githubtest.Files{name + ".md": "x"})
	return name
}
