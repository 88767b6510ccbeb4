package dispatch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// newSharing returns a stage whose pull requests have two projects with check runs of their own, and whose others share them,
// three each. Its projects are the directories named.
func newSharing(t *testing.T, dirs string) *stage {
	t.Helper()
	files := githubtest.Files{}
	for dir := range strings.FieldsSeq(dirs) {
		files[dir+"/main.tf"] = resource(dir, "1")
	}
	s := newStage(t, files)
	s.pipeline.OwnChecks, s.pipeline.SharedSize, s.pipeline.Loud = 2, 3, 4
	return s
}

// in returns a change of projects.
func in(dirs, value string) githubtest.Files {
	out := githubtest.Files{}
	for dir := range strings.FieldsSeq(dirs) {
		out[dir+"/b.tf"] = resource("more", value)
	}
	return out
}

// sharers returns the check runs at the head of a branch: for a shared one, with its projects and their plans.
func (s *stage) sharers(branch string) string {
	s.t.Helper()
	var out []string
	for _, c := range s.repo.Checks(s.repo.Head(branch)) {
		line := strings.TrimPrefix(c.Name, "lockstep/")
		if !strings.HasPrefix(line, "projects ") {
			if line != "lockstep" {
				out = append(out, line)
			}
			continue
		}
		for _, row := range strings.Split(c.Summary, "\n") {
			if cells := strings.Split(row, "|"); len(cells) == 5 && strings.Contains(row, "`") {
				line += " " + strings.Trim(cells[2], " `") + "=" + strings.TrimSpace(cells[1])
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func (s *stage) sharersAre(when, branch, want string) {
	s.t.Helper()
	if got := s.sharers(branch); got != want {
		s.t.Errorf("%s: %s\nwant %s", when, got, want)
	}
}

// runAt returns the record of a project's run.
func (s *stage) runAt(n int, project string) runs.Run {
	s.t.Helper()
	rec, err := s.records.Get(s.t.Context(), s.ref(n).Runs()+"/"+project+"@default")
	if err != nil {
		s.t.Fatal(err)
	}
	var r runs.Run
	if err := json.Unmarshal(rec.Value, &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestSharedChecks is the story of a pull request with more projects than have check runs of their own.
func TestSharedChecks(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d e f g h")
	n := s.pull("alice", "one", in("a b c d e f", "1"))
	s.sharersAre("the first push", "one", "a; b; projects 3-5 (#1) c=ready to apply d=ready to apply e=ready to apply; projects 6-8 (#1) f=ready to apply")
	s.golden("shared", s.pages("one"))
	s.expect("one apply", s.say("bob", n, "lockstep apply -p d"), "**Applied** `d`: 2 added")
	s.sharersAre("after the apply", "one", "a; b; projects 3-5 (#1) c=ready to apply d=applied by `bob` e=ready to apply; projects 6-8 (#1) f=ready to apply")
	s.expect("the plan of one project", s.say("bob", n, "lockstep plan -p e"), "**Planned** `e`: 2 to add", "terraform_data.more")

	was := s.repo.Head("one")
	change := in("b d e f g", "1")
	change["c/b.tf"] = "resource"
	s.repo.ForcePush("alice", "one", "Less", change)
	s.settle()
	s.sharersAre("a push", "one", "b; projects 3-5 (#1) c=**failed to plan** d=up to date e=ready to apply; projects 6-8 (#1) f=ready to apply g=ready to apply")
	for _, c := range s.repo.Checks(was) {
		if c.Status != github.CheckCompleted {
			t.Errorf("a check of the former head is open: %s", c.Name)
		}
	}
	if c := s.checkOf("one", "lockstep/projects 3-5 (#1)"); c.Conclusion != github.ConcludedFailure || !strings.HasPrefix(c.Title, "1 project failed to plan, 1 ready to apply") {
		t.Errorf("one that failed: %s, %s", c.Conclusion, c.Title)
	}
	s.expect("the apply of all", s.say("bob", n, "lockstep apply"), "**Applied** `b`, `e`, `f`, `g`, each")
}

// TestSharedRerun presses the buttons of a shared check run: its projects are planned again, and no other.
func TestSharedRerun(t *testing.T) {
	t.Parallel()
	for _, button := range []string{"Re-run", "Plan again"} {
		t.Run(button, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "a b c d e f")
			n := s.pull("alice", "one", in("a b c d e f", "1"))
			c := s.checkOf("one", "lockstep/projects 3-5 (#1)")
			switch button {
			case "Re-run":
				s.repo.Rerequest("bob", c.ID)
			default:
				s.repo.Press("bob", c.ID, c.Buttons[0].Identifier)
			}
			s.settle()
			for project, want := range map[string]int{"a": 1, "b": 1, "c": 2, "d": 2, "e": 2, "f": 1} {
				if got := s.runAt(n, project).Asked.Attempt; got != want {
					t.Errorf("%s is planned %d times, want %d", project, got, want)
				}
			}
			s.sharersAre("afterwards", "one", "a; b; projects 3-5 (#1) c=ready to apply d=ready to apply e=ready to apply; projects 6-8 (#1) f=ready to apply")
			s.expect("an apply", s.say("bob", n, "lockstep apply -p c"), "**Applied** `c`")
			s.repo.Press("mallory", c.ID, "apply 1a2b3c4d5e6f")
			s.settle()
		})
	}
}

// TestSharedRequired holds that a check which the base branch requires by its name is no shared one.
func TestSharedRequired(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d")
	s.repo.Protect("blocked", []githubtest.Required{{Name: "lockstep/d"}}, []githubtest.Required{{Name: "lockstep"}})
	n := s.pull("alice", "one", in("a b c d", "1"))
	s.sharersAre("with a rule", "one", "a; b; d; projects 3-5 (#1) c=ready to apply")
	s.repo.Protect("blocked", []githubtest.Required{{Name: "lockstep/c"}}, nil)
	s.expect("a plan of the same head", s.say("bob", n, "lockstep plan -p c"), "**Planned** `c`")
	s.sharersAre("with another rule", "one", "a; b; d; projects 3-5 (#1) c=ready to apply")
	s.pushed(n, "one", in("a b c d", "2"))
	s.settle()
	s.sharersAre("with another head", "one", "a; b; c; projects 3-5 (#1) d=ready to apply")
}

// TestSharedTwoPulls is about two pull requests with one head: each has its own shared check run.
func TestSharedTwoPulls(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d")
	for _, branch := range []string{"one", "twin"} {
		s.repo.Push("GitHub", branch, "Change", in("a b c d", "1"))
	}
	s.repo.OpenPull("alice", "Change", "one")
	s.settle()
	n := s.repo.OpenPull("alice", "Change", "twin")
	s.settle()
	s.expect("the apply", s.say("bob", n, "lockstep apply -p c"), "**Applied** `c`")
	if got := s.sharers("one"); !strings.Contains(got, "projects 3-5 (#2) c=applied by `bob` d=ready to apply") || !strings.Contains(got, "projects 3-5 (#1) c=") || s.repo.Head("one") != s.repo.Head("twin") {
		t.Errorf("two pull requests: %s", got)
	}
}

// forge changes the entry of a project in a shared check run, as somebody can who may write records.
func (s *stage) forge(r runs.Run, change func(*runs.SharedProject)) {
	s.t.Helper()
	rec, err := s.records.Get(s.t.Context(), runs.SharedProjectKey(r))
	if err != nil {
		s.t.Fatal(err)
	}
	x, err := runs.DecodeSharedProject(rec.Value)
	if err != nil {
		s.t.Fatal(err)
	}
	change(&x)
	if _, err := s.records.Put(s.t.Context(), rec.Key, pipeline.Encode(x), rec.Version); err != nil {
		s.t.Fatal(err)
	}
	key := runs.SharedKey(r)
	rec, err = s.records.Get(s.t.Context(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	shared, err := runs.DecodeShared(rec.Value)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.records.Put(s.t.Context(), key, pipeline.Encode(shared.Owe()), rec.Version); err != nil {
		s.t.Fatal(err)
	}
}

// TestExchangedSharedPlan carries out attacks on a project that shares its check run: whoever may write records and plans puts
// another plan there, and has the check run name it. It holds that the other plan is not applied, and that a new plan helps.
func TestExchangedSharedPlan(t *testing.T) {
	t.Parallel()
	const robbed = "c"
	type attack func(r robber, mine runs.SharedProject)
	own := func(r robber) {
		r.plan()
		now := r.runAt(r.victim.Pull.Number, robbed)
		now.Plan.Hash, now.Plan.Parts, now.Plan.State, now.Plan.Inputs = r.own.Plan.Hash, r.own.Plan.Parts, r.own.Plan.State, r.own.Plan.Inputs
		r.writeRun(now)
	}
	for name, do := range map[string]attack{
		"record": func(r robber, _ runs.SharedProject) { own(r) },
		"hash": func(r robber, _ runs.SharedProject) {
			own(r)
			r.forge(r.victim, func(x *runs.SharedProject) { x.Proof.Hash = r.own.Plan.Hash; x.Proof.Plan++ })
		},
		"hash without a seal": func(r robber, _ runs.SharedProject) {
			own(r)
			r.forge(r.victim, func(x *runs.SharedProject) { x.Proof = runs.Proof{Plan: 9, Hash: r.own.Plan.Hash} })
		},
		"proof of another pull request": func(r robber, mine runs.SharedProject) {
			own(r)
			r.forge(r.victim, func(x *runs.SharedProject) { x.Proof = mine.Proof })
		},
		"proof of another project": func(r robber, _ runs.SharedProject) {
			own(r)
			other := r.runAt(r.victim.Pull.Number, "d")
			rec, err := r.records.Get(r.t.Context(), runs.SharedProjectKey(other))
			if err != nil {
				r.t.Fatal(err)
			}
			x, _ := runs.DecodeSharedProject(rec.Value)
			r.forge(r.victim, func(to *runs.SharedProject) { to.Proof = x.Proof })
		},
		"the check run of its own": func(r robber, _ runs.SharedProject) {
			own(r)
			now := r.runAt(r.victim.Pull.Number, robbed)
			now.Spec.Shared = runs.Shared{}
			r.writeRun(now)
		},
		"another check run": func(r robber, _ runs.SharedProject) {
			own(r)
			now := r.runAt(r.victim.Pull.Number, robbed)
			now.Spec.Shared = runs.SharedBy(6, 2, 3)
			r.writeRun(now)
		},
		"text": func(r robber, _ runs.SharedProject) {
			own(r)
			lines := fmt.Sprintf("x\n</details>\n- `c@default` 9.0 `%s`\n", r.own.Plan.Hash)
			r.forge(r.victim, func(x *runs.SharedProject) { x.Row.Cell, x.Row.Label, x.Row.Plan = lines, lines, lines })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "a b c d e f")
			n := s.pull("alice", "one", in("a b c d e f", "1"))
			evil := s.pull("alice", "evil", in("a b c d e f", "evil"))
			r := robber{stage: s, victim: s.runAt(n, robbed), own: s.runAt(evil, robbed)}
			if r.victim.Spec.Shared.IsZero() {
				t.Fatal("it has a check run of its own")
			}
			rec, err := s.records.Get(t.Context(), runs.SharedProjectKey(r.own))
			if err != nil {
				t.Fatal(err)
			}
			mine, err := runs.DecodeSharedProject(rec.Value)
			if err != nil {
				t.Fatal(err)
			}
			do(r, mine)
			s.say("bob", n, "lockstep plan -p f") // writes the check runs
			if c := s.checkOf("one", "lockstep/projects 3-5 (#1)"); markdown.ProofsIn(c.Text).Of(r.victim.Target()).Hash == r.own.Plan.Hash {
				t.Error("the check run names the other plan")
			}
			s.without("the apply", s.say("bob", n, "lockstep apply -p c "+r.own.Plan.Hash), "**Applied**")
			s.without("the apply of all", s.say("bob", n, "lockstep apply"), "**Applied** `c`")
			s.expect("a new plan", s.say("alice", n, "lockstep plan -p c"), "**Planned** `c`: 2 to add")
			if name == "another check run" || name == "the check run of its own" {
				return // the plan goes to the check run that the record names
			}
			s.expect("its apply", s.say("bob", n, "lockstep apply -p c"), "**Applied** `c`: 2 added")
		})
	}
}

// TestSharedPlanPutBack is an attack: whoever may write records and plans keeps those of an old plan, and puts them back once
// a newer plan of the same head was made. It holds that the old plan is not applied.
func TestSharedPlanPutBack(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d")
	n := s.pull("alice", "one", in("a b c d", "1"))
	old := s.runAt(n, "c")
	rec, err := s.records.Get(t.Context(), runs.SharedProjectKey(old))
	if err != nil {
		t.Fatal(err)
	}
	was, err := runs.DecodeSharedProject(rec.Value)
	if err != nil {
		t.Fatal(err)
	}
	saved := map[pipeline.Artifact][]byte{}
	for _, a := range old.AllArtifacts(old.Artifacts.Begun) {
		if data, err := s.data.Artifacts.Get(t.Context(), a); err == nil {
			saved[a] = data
		}
	}
	s.expect("a newer plan", s.say("alice", n, "lockstep plan -p c -target=terraform_data.c"), "**Planned** `c`")
	if s.runAt(n, "c").Plan.Hash == old.Plan.Hash {
		t.Fatal("it is the same plan")
	}
	r := robber{stage: s, victim: s.runAt(n, "c")}
	for a, data := range saved {
		if err := s.data.Artifacts.Put(t.Context(), a, data); err != nil {
			t.Fatal(err)
		}
	}
	r.writeRun(old)
	s.forge(old, func(x *runs.SharedProject) { *x = was })
	s.say("bob", n, "lockstep plan -p d") // writes the check runs
	s.expect("the apply", s.say("bob", n, "lockstep apply -p c "+old.Plan.Hash), "**Not applied** `c`", "This plan is not the one you saw")
}

// TestSharedPlanAndApply holds that an apply that is requested together with its plan finds the hash of the plan on GitHub.
func TestSharedPlanAndApply(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d e f")
	s.repo.Push("bob", "main", "Settings", githubtest.Files{"lockstep.hcl": "apply_unseen = true\n"})
	n := s.pull("alice", "one", in("a b c d e f", "1"))
	s.expect("plan and apply", s.say("bob", n, "lockstep plan\nlockstep apply"), "**Applied** `a`, `b`, `c`, `d`, `e`, `f`, each")
}

// TestSharedDeaths lets the process die before and after each write of a shared check run, and each write of its records. It
// holds that the check run shows all of its projects in the end, and that their plans are applied.
func TestSharedDeaths(t *testing.T) {
	t.Parallel()
	const all = "projects 3-5 (#1) c=ready to apply d=ready to apply e=ready to apply"
	for at, died := 0, true; died; at++ {
		s := newSharing(t, "a b c d e")
		s.unchecked = true
		writes := 0
		died = false
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/check-runs") {
				return false
			}
			writes++
			if died = died || writes == at+1; writes == at+1 {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			}
			return false
		}
		n := s.pull("alice", "one", in("a b c d e", "1"))
		if got := s.sharers("one"); !strings.Contains(got, all) {
			t.Fatalf("the write %d fails: %s", at, got)
		}
		s.expect(fmt.Sprintf("after the failure of the write %d", at), s.say("bob", n, "lockstep apply -p d"), "**Applied** `d`")
	}
}

// TestSharedAtOnce lets processes plan projects and write their shared check run while another process is writing it. It holds that no
// entry of another project is lost.
func TestSharedAtOnce(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d e")
	n := s.pull("alice", "one", in("a b c d e", "1"))
	s.unchecked = true
	var held []pipeline.Message
	s.repo.Comment("bob", n, "lockstep plan -p c\nlockstep plan -p d\nlockstep plan -p e")
	s.settleKeeping(func(m pipeline.Message) bool {
		if m.Kind == pipeline.ToPlan {
			held = append(held, m)
		}
		return m.Kind == pipeline.ToPlan
	})
	if len(held) != 3 {
		t.Fatalf("%d plans", len(held))
	}
	next := 1
	if err := s.pipeline.Handle(t.Context(), held[0]); err != nil {
		t.Fatal(err)
	}
	s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method != http.MethodPatch || !bytes.Contains(body, []byte("projects 3-5")) || next == len(held) {
			return false
		}
		next++ // meanwhile:
		for _, m := range []pipeline.Message{held[next-1], {ID: fmt.Sprintf("meanwhile-%d", next), Kind: pipeline.SyncComments, Pull: s.ref(n)}} {
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	s.say("bob", n, "lockstep help")
	s.fault = nil
	if next != len(held) {
		t.Fatalf("%d of the plans were made", next)
	}
	s.sharersAre("at once", "one", "a; b; projects 3-5 (#1) c=ready to apply d=ready to apply e=ready to apply")
	c := s.checkOf("one", "lockstep/projects 3-5 (#1)")
	for _, project := range []string{"c", "d", "e"} {
		if r := s.runAt(n, project); r.Asked.Attempt != 2 || markdown.ProofsIn(c.Text).Of(r.Target()).Hash != r.Plan.Hash {
			t.Errorf("the check run does not have the plan of %s", project)
		}
	}
}

// TestSharedAnnotations holds that the annotations of a shared check run name their projects, and that each is made once.
func TestSharedAnnotations(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "a b c d")
	n := s.pull("alice", "one", in("a b c d", "1"))
	for range 2 {
		var found []string
		for _, a := range s.checkOf("one", "lockstep/projects 3-5 (#1)").Annotations {
			found = append(found, fmt.Sprintf("%s %s:%d %s", a.Level, a.Path, a.First, a.Title))
		}
		if got, want := strings.Join(found, "; "), "notice c/b.tf:1 c: Creates terraform_data.more; notice d/b.tf:1 d: Creates terraform_data.more"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.say("bob", n, "lockstep plan -p c")
	}
}
