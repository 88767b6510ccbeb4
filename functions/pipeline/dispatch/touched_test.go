package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// local is a backend block.
const local = "terraform {\n  backend \"local\" {\n  }\n}\n"

// input is a resource whose input is an expression.
func input(name, x string) string {
	return "resource \"terraform_data\" \"" + name + "\" {\n  input = " + x + "\n}\n"
}

// TestTouchedByContent holds that a pull request touches what differs between its base and its trial merge, whatever the names are
// that GitHub lists.
func TestTouchedByContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files, before, changes githubtest.Files // before are those of a push to the base branch behind the pull request's branch
		want                   []string
	}{
		"renamed on the base": {
			githubtest.Files{"net/main.tf": input("a", "\"1\"")},
			githubtest.Files{"net/main.tf": githubtest.Deleted, "net/backend.tf": githubtest.Deleted, "network/main.tf": input("a", "\"1\""), "network/backend.tf": local},
			githubtest.Files{"net/main.tf": input("a", "\"2\"")},
			[]string{"`network`", "1 to add", `input  = "2"`},
		},
		"a linked file": {
			githubtest.Files{"dev/main.tf": input("a", "\"1\""), "prod/main.tf": input("a", "\"1\""), "dev/shared.tf": githubtest.Link("../shared/shared.tf"), "prod/shared.tf": githubtest.Link("../shared/shared.tf"), "shared/shared.tf": input("s", "\"1\"")},
			nil, githubtest.Files{"shared/shared.tf": input("s", "\"2\"")}, []string{"`dev`", "`prod`"},
		},
		"a file that a function reads": {
			githubtest.Files{"live/dev/main.tf": input("a", "yamldecode(file(\"${path.module}/../../config/dev.yaml\")).size"), "config/dev.yaml": "size: 1\n"},
			nil, githubtest.Files{"config/dev.yaml": "size: 2\n"}, []string{"`live/dev`", "input  = 2"},
		},
		"its deletion": {
			githubtest.Files{"live/dev/main.tf": input("a", "file(\"../../config/a.txt\")"), "config/a.txt": "a"},
			nil, githubtest.Files{"config/a.txt": githubtest.Deleted}, []string{"`live/dev`", "no file exists"},
		},
		"all files are links": {
			githubtest.Files{"dev/x.tf": githubtest.Link("../modules/shared/x.tf"), "modules/shared/x.tf": input("a", "\"1\""), "dev/backend.tf": githubtest.Link("../modules/be/backend.tf"), "modules/be/backend.tf": local},
			nil, githubtest.Files{"modules/shared/x.tf": input("a", "\"2\"")}, []string{"`dev`"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.files)
			s.repo.Push("alice", "topic", "Change", c.changes)
			if c.before != nil {
				s.repo.Push("bob", "main", "Elsewhere", c.before)
			}
			n := s.repo.OpenPull("alice", "Change", "topic")
			s.settle()
			s.expect("the status", s.status(n), c.want...)
		})
	}
}

// TestTouchedOnceItIsMerged holds that a merge that touches other projects than its trial merge did, as the base branch has moved,
// has them planned.
func TestTouchedOnceItIsMerged(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": input("a", "\"1\""), "config/x": "1"})
	n := s.pull("alice", "topic", githubtest.Files{"config/x": "2"})
	if got := s.check("topic"); !strings.Contains(got, "No project is affected") {
		t.Errorf("the check: %s", got)
	}
	s.repo.Push("bob", "main", "Read it", githubtest.Files{"net/main.tf": input("a", "file(\"../config/x\")")})
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the status", s.status(n), "`net`", "1 to add", `input  = "2"`)
}

// TestTouchedByWhatWasRead holds that what the plan of the base branch has read counts, where its configuration does not tell.
func TestTouchedByWhatWasRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "variable \"e\" {\n  default = \"dev\"\n}\n" + input("a", "file(\"../config/${var.e}.txt\")"), "config/dev.txt": "1", "config/prod.txt": "1", "README.md": "1"})
	first := s.pull("alice", "first", githubtest.Files{"config/prod.txt": "2"})
	s.expect("before any plan", s.status(first), "`net`", `input  = "1"`)
	s.repo.Merge("alice", first)
	s.settle()
	s.pull("alice", "second", githubtest.Files{"config/prod.txt": "3", "README.md": "2"})
	if got := s.check("second"); !strings.Contains(got, "No project is affected") {
		t.Errorf("what nobody reads: %s", got)
	}
	n := s.pull("alice", "third", githubtest.Files{"config/dev.txt": "2"})
	s.expect("what is read", s.status(n), "`net`", `input  = "2"`)
}

// TestDirectoriesThatNoCommandNames holds that a change of one is told, in check and comment, also beside other projects.
func TestDirectoriesThatNoCommandNames(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"live/eu west", "münchen", "team+x/a@b", ".infra"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{dir + "/main.tf": input("a", "\"1\""), "ok/main.tf": input("a", "\"1\"")})
			other := s.pull("alice", "other", githubtest.Files{"ok/main.tf": input("a", "\"2\"")})
			s.expect("another project", s.status(other), "`ok`", "1 to add")
			s.without("another project", s.status(other), dir)
			n := s.pull("alice", "topic", githubtest.Files{dir + "/main.tf": input("a", "\"2\"")})
			s.expect("the status", s.status(n), "`"+dir+"`", "Lockstep cannot plan", "exclude")
			if got := s.check("topic"); strings.Contains(got, "success") {
				t.Errorf("the check: %s", got)
			}
			both := s.pull("alice", "both", githubtest.Files{dir + "/main.tf": input("a", "\"2\""), "ok/main.tf": input("a", "\"2\"")})
			s.expect("beside another", s.status(both), "`"+dir+"`", "Lockstep cannot plan", "`ok`", "1 to add")
			alone := newStage(t, githubtest.Files{dir + "/main.tf": input("a", "\"1\"")})
			n = alone.pull("alice", "topic", githubtest.Files{"README.md": "1"})
			got := alone.say("alice", n, "lockstep plan")
			alone.expect("where there is no project", got, "`"+dir+"`", "Lockstep cannot plan")
			alone.without("where there is no project", got, "no directory has a configuration")
		})
	}
}

// TestGuardsThatSelectNothing holds that a slip in the pattern of a guard holds applies, and is told where it comes in.
func TestGuardsThatSelectNothing(t *testing.T) {
	t.Parallel()
	const net = "project \"prod-net\" {\n  dir = \"live/net\"\n}\n"
	require := func(projects string) string {
		return net + "require \"apply\" {\n  projects  = [\"" + projects + "\"]\n  approvals = 1\n}\n"
	}
	for pattern, slip := range map[string]bool{"live/net/": false, "./live/net": false, "live": false, "prod-*": false, "Live/net": true, "live/nett": true, "prdo-*": true, "{prod-net,ap}": true} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"lockstep.hcl": require(pattern), "live/net/main.tf": resource("a", "1")})
			n := s.pull("alice", "topic", githubtest.Files{"live/net/b.tf": resource("b", "1")})
			s.expect("nobody has approved it", s.say("alice", n, "lockstep apply"), "**Not applied** `prod-net`")
			s.repo.Review("bob", n, "APPROVED", "")
			got := s.say("alice", n, "lockstep apply")
			if slip {
				s.expect("an approval", got, "**Not applied** `prod-net`", "Guard without projects")
			} else {
				s.expect("an approval", got, "**Applied** `prod-net`")
			}
		})
	}
	for name, body := range map[string]string{"no condition": "", "a condition that is false": "  mergeable = false\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"lockstep.hcl": net + "require \"apply\" {\n  projects = [\"live/net\"]\n" + body + "}\n", "live/net/main.tf": resource("a", "1")})
			n := s.pull("alice", "topic", githubtest.Files{"live/net/b.tf": resource("b", "1")})
			s.expect("it requires nothing", s.say("alice", n, "lockstep apply"), "**Not applied** `prod-net`")
		})
	}
	s := newStage(t, githubtest.Files{"lockstep.hcl": net, "live/net/main.tf": resource("a", "1")})
	n := s.pull("alice", "topic", githubtest.Files{"lockstep.hcl": require("live/nett"), "live/net/b.tf": resource("b", "1")})
	s.expect("the pull request that brings it", s.status(n), "**Rules that match no project.** If you merge this, all applies are blocked until `lockstep.hcl` is corrected.", "live/nett", "`lockstep.hcl:5`")
	if got := s.check("topic"); strings.Contains(got, "lockstep: success") {
		t.Errorf("the check: %s", got)
	}
	s.repo.Merge("alice", n)
	n = s.pull("alice", "next", githubtest.Files{"live/net/c.tf": resource("c", "1")})
	s.without("the next one", s.status(n), "If you merge this")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `prod-net`")
	n = s.pull("alice", "warns", githubtest.Files{"lockstep.hcl": net + "exclude = [\"legacy/\"]\n", "live/net/c.tf": resource("c", "2")})
	s.expect("a warning", s.status(n), "**Pattern without directories.**", "legacy")
}

// TestTouchedInAMergeGroup holds that a pull request that touches a project only together with the pull requests ahead of it in the
// merge queue is not merged before somebody has seen a plan of that.
func TestTouchedInAMergeGroup(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": input("a", "\"1\""), "mods/m/m.tf": input("m", "\"1\""), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n  apply = \"merge\"\n}\n"})
	n := s.pull("alice", "calls", githubtest.Files{"net/m.tf": "module \"m\" {\n  source = \"../mods/m\"\n}\n"})
	m := s.pull("bob", "writes", githubtest.Files{"mods/m/m.tf": input("m", "\"2\"")})
	if got := s.check("writes"); !strings.Contains(got, "No project is affected") {
		t.Errorf("by itself: %s", got)
	}
	first, second := s.repo.Enqueue("alice", n), s.repo.Enqueue("bob", m)
	s.settle()
	s.expect("the first", s.group(first), "completed success")
	got := s.group(second) + s.page(second)
	s.expect("the second", got, "completed failure", "Failed: no plan without the pull requests ahead in the merge queue", "): this pull request changes the project only together with the pull requests ahead in the queue, so nobody has seen a plan.", "): this pull request changes the project only together with the pull requests ahead in the queue, so nobody has seen a plan.", "): this pull request changes the project only together with the pull requests ahead in the queue, so nobody has seen a plan.")
	s.without("the second", got, "Planning failed", "could not be planned", "lockstep plan -p net")
}

// TestTouchedNoMore holds that `lockstep plan` makes a plan anew that waits, where the pull request does not touch its project any more
// because the base branch has changed: the answer and the status say the same.
func TestTouchedNoMore(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"app/main.tf": input("a", "\"1\"") + "module \"m\" {\n  source = \"../mods/m\"\n}\n", "mods/m/m.tf": input("m", "\"1\"")})
	n := s.pull("alice", "topic", githubtest.Files{"mods/m/m.tf": input("m", "\"2\"")})
	s.expect("the plan", s.status(n), "`app` | 2 to add")
	s.repo.Push("bob", "main", "Call it no more", githubtest.Files{"app/main.tf": input("a", "\"1\"")})
	s.settle()
	s.expect("the answer", s.say("alice", n, "lockstep plan"), "**Planned** `app`: 1 to add")
	s.expect("the status", s.status(n), "`app` | 1 to add")
	s.repo.Push("alice", "topic", "Nothing", githubtest.Files{"README.md": "1"})
	s.settle()
	s.expect("the answer at another head", s.say("alice", n, "lockstep plan"), "changes no project")
}
