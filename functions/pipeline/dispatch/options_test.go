package dispatch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestPlanOptions holds that a plan is made with the options of its comment, that people see them
// beside it, that its apply is of it, and that the next push is planned without them.
func TestPlanOptions(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": "variable \"size\" {\n  default = \"1\"\n}\n" + resource("a", "${var.size}")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "2 to add")

	s.expect("the answer", s.say("alice", n, "lockstep plan -target=terraform_data.b"), "**Planned** `.`: 1 to add")
	s.expect("a partial plan", s.status(n), "| 1 to add, 0 to change, 0 to destroy, with -target |", "**This plan is partial**: it leaves out other changes of the project. To plan all of them, comment `lockstep plan -p .")
	s.expect("its check", s.pages("b"), "0 to destroy, with -target", "**This plan is partial**: it leaves out other changes of the project. To plan all of them, comment `lockstep plan -p .")
	whole := s.hash(n)
	s.expect("its apply", s.say("alice", n, "lockstep apply "+whole), "**Applied** `.`: 1 added")

	s.expect("the answer", s.say("alice", n, `lockstep plan -var 'size=2 3' -replace=terraform_data.b -p .`), "**Planned** `.`: 2 to add, 0 to change, 1 to destroy")
	s.expect("the plan", s.status(n), "Planned with `-replace=terraform_data.b`, `-var=\"size=2 3\"`.", "2 3", "with -replace, -var")
	s.repo.Push("alice", "b", "More", githubtest.Files{"c.tf": resource("c", "1")})
	s.settle()
	if text := s.status(n); !strings.Contains(text, "2 to add, 0 to change, 0 to destroy") || strings.Contains(text, "Planned with") {
		t.Errorf("the plan of the next head:\n%s", text)
	}
	s.expect("a destruction", s.say("alice", n, "lockstep plan -destroy"), "**Planned** `.`: 0 to add, 0 to change, 1 to destroy")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 0 added, 0 changed, 1 destroyed.")
	s.expect("an option of an apply", s.say("alice", n, "lockstep apply -destroy"), "**not understood**", "`lockstep apply -destroy` was **not understood**:")
}

// TestExchangedOptions carries out an attack: whoever can write records takes the options out of one
// that people have approved, or puts others in. It holds that the apply is refused.
func TestExchangedOptions(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep plan -target=terraform_data.b")
	key := s.run(n).Key()
	for _, options := range []string{`{}`, `{"Destroy":true}`, `{"Targets":["terraform_data.b","terraform_data.a"]}`} {
		rec, err := s.records.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		var r map[string]json.RawMessage
		if err := json.Unmarshal(rec.Value, &r); err != nil {
			t.Fatal(err)
		}
		var spec map[string]json.RawMessage
		if err := json.Unmarshal(r["Spec"], &spec); err != nil {
			t.Fatal(err)
		}
		spec["Options"] = json.RawMessage(options)
		if r["Spec"], err = json.Marshal(spec); err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.records.Put(t.Context(), key, value, rec.Version); err != nil {
			t.Fatal(err)
		}
		s.expect(options, s.say("alice", n, "lockstep apply "+s.hash(n)), "**Not applied**", "the options of the plan are not those in its hash")
		s.say("alice", n, "lockstep plan -target=terraform_data.b")
	}
}

// TestMergeOfAPart carries an attack out: somebody gives the plan of a project that merges apply options which leave out what the
// pull request changes, or destroy all there is. The check tells so, the merge applies none of it, and what was merged is
// planned and applied afterwards.
func TestMergeOfAPart(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"-destroy", "-target=terraform_data.vpc", "-exclude=terraform_data.subnet", "-refresh-only"} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, onMerge())
			first := s.pull("alice", "first", githubtest.Files{"net/first.tf": resource("first", "v1")})
			s.repo.Merge("bob", first)
			s.settle()
			n := s.pull("alice", "b", githubtest.Files{"net/subnet.tf": resource("subnet", "v1")})
			s.say("alice", n, "lockstep plan -p net "+option)
			s.expect("the status", s.status(n), "**partly planned**, plan the rest with `lockstep plan -p net`")
			s.expect("the check", s.check("b"), "action_required Partly planned")
			s.repo.Merge("bob", n)
			s.settle()
			s.expect("the answer to the merge", s.answer(n, "merge"), "**Not applied** `net`", "leaves out changes of the pull request", "`lockstep retry`")
			issues := s.repo.Issues()
			if len(issues) != 1 || !issues[0].Open || !strings.Contains(issues[0].Title, fmt.Sprintf("#%d is merged", n)) {
				t.Fatalf("the issues are %+v", issues)
			}
			s.expect("all of it", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 1 to add, 0 to change, 0 to destroy")
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 added, 0 changed, 0 destroyed")
			if s.repo.Issues()[0].Open {
				t.Error("the issue is open")
			}
		})
	}
}

// TestAppliedInPart holds that a pull request is not done once a plan with -target is applied: the check that rules require is
// not green until the rest is planned and applied.
func TestAppliedInPart(t *testing.T) {
	t.Parallel()
	head := func(s *stage) string {
		c := s.checkOf("b", "lockstep")
		return string(c.Conclusion) + " " + c.Title
	}
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep plan -target=terraform_data.b")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 1 added")
	s.expect("the status", s.status(n), "partly applied", "**partly applied**, plan the rest with `lockstep plan -p .`")
	s.expect("the check", s.check("b"), "action_required Partly applied")
	s.expect("the required check", head(s), "action_required 1 project partly applied")
	s.say("alice", n, "lockstep plan")
	s.expect("the apply of the rest", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 1 added")
	s.expect("the required check", head(s), "success 1 project applied")
}
