package dispatch_test

import (
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const releaseNamed = "allow {\n  branches = [\"release\"]\n}\n"

// lockedInRelease is a stage with a pull request that has the state locked, and goes into a branch which the settings name.
func lockedInRelease(t *testing.T) (s *stage, o int) {
	t.Helper()
	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + releaseNamed})
	s.repo.Push("alice", "release", "Cut", githubtest.Files{"README.md": "release"})
	s.repo.Push("bob", "o", "O", githubtest.Files{"net/o.tf": resource("o", "1")})
	o = s.repo.OpenPull("bob", "O", "o")
	s.repo.Retarget("bob", o, "release")
	s.settle()
	s.expect("the lock", s.say("bob", o, "lockstep lock --reason mine"), "**Locked** `net`")
	return s, o
}

// TestLockOnABranchNamedNoMore holds that the lock of a pull request which is applied does not outlast the settings that named its base
// branch: nobody can plan or apply there. A command lifts it before, and others are told of that.
func TestLockOnABranchNamedNoMore(t *testing.T) {
	t.Parallel()
	for name, commanded := range map[string]bool{"by a command": true, "by itself": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := lockedInRelease(t)
			s.expect("the apply", s.say("bob", o, "lockstep apply"), "**Applied** `net`")
			s.repo.Push("alice", "main", "Settings", githubtest.Files{"lockstep.hcl": netProject})
			s.settle()
			q := s.pull("alice", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
			s.expect("another", s.status(q), "Locked by #1: `bob` has locked the state", "`lockstep unlock`")
			if commanded {
				s.expect("the command", s.say("bob", o, "lockstep unlock"), "**Unlocked** `net` for other pull requests")
			} else {
				if f := s.roundsWithin(3 * time.Hour); f.Heads != 1 {
					t.Errorf("%+v", f)
				}
				s.headIs("the check", "o", "action_required Nothing is planned")
				s.expect("the status", s.status(o), "First change the base branch of this pull request to one that Lockstep plans.")
				if f := s.roundsWithin(3 * time.Hour); f.Heads != 0 {
					t.Errorf("%+v", f)
				}
			}
			s.without("another then", s.status(q), "has locked the state")
		})
	}
}

// TestMergedUnheard holds that a merge of which no webhook has told, and that no list of deliveries has, is found and applied:
// the App was not installed at that time, or everything that GitHub sent is lost for longer than it remembers.
func TestMergedUnheard(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after func(*stage)
		open          bool // there is another pull request
		later         time.Duration
		found         int // before the time is over
	}{
		"not installed": {func(s *stage) { s.repo.Uninstall("alice") }, func(s *stage) { githubtest.Install(s.repo, "alice") }, true, time.Hour, 0},
		"lost":          {func(s *stage) { s.hub.LoseDeliveries(1 << 20) }, func(s *stage) { s.delivered(); s.hub.LoseDeliveries(0) }, true, 4 * 24 * time.Hour, 0},
		"the last":      {func(s *stage) { s.hub.LoseDeliveries(1 << 20) }, func(s *stage) { s.delivered(); s.hub.LoseDeliveries(0) }, false, time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := newBuckets(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir   = \"net\"\n  apply = \"merge\"\n}\n"})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			closed := s.pull("bob", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
			if test.open {
				s.pull("bob", "d", githubtest.Files{"README.md": "x"})
			}
			begun := s.hub.Now().Add(time.Minute)
			ended := func(at time.Time, want int) {
				t.Helper()
				j := &reconcile.Janitor{Pipeline: s.pipeline, App: noDeliveries{s.app}, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
					return s.app.Repository(installation, r)
				}}
				if f, err := j.Round(t.Context(), at); err != nil || f.Closed != want {
					t.Errorf("%s: %+v, %v", at, f, err)
				}
				s.settle()
			}
			ended(begun, 0)
			test.before(s)
			s.settle()
			s.repo.Merge("alice", n)
			s.repo.Close("bob", closed)
			s.settle()
			test.after(s)
			s.settle()
			ended(begun.Add(50*time.Minute), test.found)
			ended(begun.Add(test.later), 2-test.found)
			s.expect("the status", s.status(n), "applied by `alice`")
			s.expect("the other", s.status(closed), "closed")
			if got := b.objects(t, "s3://states/net"); got != "a b" {
				t.Errorf("the state has %q", got)
			}
			ended(begun.Add(test.later+2*time.Hour), 0)
		})
	}
}

// TestMergedUnheardAndSeen holds that the janitor finds a merge that nobody heard of, also where somebody has found the pull request merged
// meanwhile, for a comment or for a plan whose turn came.
func TestMergedUnheardAndSeen(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"a comment", "a plan"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
		s.pipeline.Log = func(error) {}
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		k := s.pull("bob", "k", githubtest.Files{"net/k.tf": resource("k", "1")})
		s.round(reconcile.Found{})
		s.say("bob", n, "lockstep apply")
		if how == "a plan" {
			s.repo.Push("alice", "b", "More", githubtest.Files{"net/c.tf": resource("c", "1")})
			m := s.held(pipeline.ToPlan)
			s.repo.Uninstall("alice")
			s.repo.Merge("alice", n)
			githubtest.Install(s.repo, "alice")
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		} else {
			s.repo.Uninstall("alice")
			s.repo.Merge("alice", n)
			githubtest.Install(s.repo, "alice")
			s.say("bob", n, "lockstep plan")
		}
		s.settle()
		s.expect(how+": another one", s.status(k), "**blocked**")
		if f := s.roundsWithin(3 * time.Hour); f.Closed != 1 {
			t.Errorf("%s: %+v", how, f)
		}
		s.without(how+": another one, then", s.status(k), "**blocked**")
		if f := s.roundsWithin(9 * time.Hour); f.Closed != 0 {
			t.Errorf("%s: %+v", how, f)
		}
	}
}

// roundsWithin lets the janitor go round four times within a time from now, and returns what it has found.
func (s *stage) roundsWithin(d time.Duration) (found reconcile.Found) {
	s.t.Helper()
	j := s.janitor()
	for i := range time.Duration(4) {
		f, err := j.Round(s.t.Context(), s.hub.Now().Add(d*(i+1)/4))
		if err != nil {
			s.t.Fatal(err)
		}
		found.Add(f)
		s.settle()
	}
	return found
}

// TestFirstGate holds that the first requirement of a base branch reaches the pull requests that are open, and that they cost
// nothing as long as the settings are the same.
func TestFirstGate(t *testing.T) {
	t.Parallel()
	const set = "project \"net\" {\n  dir   = \"net\"\n  apply = \"merge\"\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": set})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "applies on merge")
	s.repo.Push("alice", "main", "More", githubtest.Files{"README.md": "more"})
	s.settle()
	if f := s.roundsWithin(50 * time.Hour); f.Decisions != 0 {
		t.Errorf("%+v", f)
	}
	s.repo.Push("alice", "main", "Gate", githubtest.Files{"lockstep.hcl": set + "require \"apply\" {\n  approvals = 1\n}\n"})
	s.settle()
	s.roundsWithin(30 * time.Minute)
	s.expect("the status then", s.status(n), "**not met**: an approval")
	s.headIs("the check then", "b", "action_required 1 project needs approval")
	s.repo.Push("alice", "main", "No gate", githubtest.Files{"lockstep.hcl": set})
	s.settle()
	s.roundsWithin(time.Hour)
	s.expect("without it", s.status(n), "applies on merge")
	if f := s.roundsWithin(50 * time.Hour); f.Decisions != 0 {
		t.Errorf("%+v", f)
	}
	s.repo.Push("alice", "main", "Other", githubtest.Files{"lockstep.hcl": set + "# x\n"})
	s.settle()
	if f := s.roundsWithin(3 * time.Hour); f.Decisions != 1 {
		t.Errorf("%+v", f)
	}
}

// TestUnknownSettingsAreNoNews holds that a pull request whose look tells no settings, and of which nothing is shown by any, is not
// decided about in each round.
func TestUnknownSettingsAreNoNews(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ledger.Look){
		"refused":             func(l *ledger.Look) { l.Refused = "no" },
		"into another branch": func(l *ledger.Look) { l.Into = "release" },
		"asked":               func(l *ledger.Look) { l.Asked = true },
		"closed":              func(l *ledger.Look) { l.Closed = true },
	} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		if err := s.pipeline.Ledger().ChangeLook(t.Context(), s.ref(n), func(l *ledger.Look) { l.Settings = ""; change(l) }); err != nil {
			t.Fatal(err)
		}
		j := s.janitor()
		if f, err := j.Round(t.Context(), s.hub.Now()); err != nil || f.Decisions != 0 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestBranchNamedNoMore holds that the plans and locks of a pull request end once the settings no longer name its base branch, and
// that it is planned once they name it again.
func TestBranchNamedNoMore(t *testing.T) {
	t.Parallel()
	s, o := lockedInRelease(t)
	q := s.pull("alice", "q", githubtest.Files{"net/q.tf": resource("q", "1")})
	s.expect("another", s.status(q), "**locked by #1**")
	if f := s.roundsWithin(3 * time.Hour); f.Heads != 0 {
		t.Errorf("%+v", f)
	}

	s.repo.Push("alice", "main", "Settings", githubtest.Files{"lockstep.hcl": netProject})
	s.settle()
	if f := s.roundsWithin(3 * time.Hour); f.Heads != 1 {
		t.Errorf("%+v", f)
	}
	s.expect("the status", s.status(o), "Nothing is planned", "The pull request goes into `release`")
	s.headIs("the check", "o", "action_required Nothing is planned")
	s.expect("another then", s.status(q), "ready to apply")

	s.repo.Push("alice", "main", "Settings", githubtest.Files{"lockstep.hcl": netProject + releaseNamed})
	s.settle()
	if f := s.roundsWithin(3 * time.Hour); f.Heads != 1 {
		t.Errorf("%+v", f)
	}
	s.expect("named again", s.status(o), "ready to apply")
}
