package dispatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// typed has each command as people type it.
var typed = map[grammar.Verb]string{
	grammar.Plan: "plan", grammar.Apply: "apply", grammar.Retry: "retry", grammar.Stop: "stop", grammar.Recover: "recover", grammar.Query: "query", grammar.Output: "output", grammar.Show: "show",
	grammar.Lock: `lock --reason "it moves"`, grammar.Unlock: "unlock", grammar.Override: `override --reason "it burns"`, grammar.Drift: "drift",
	grammar.Import: "import terraform_data.a an-id", grammar.StateMove: "state mv terraform_data.a terraform_data.z", grammar.StateRemove: "state rm terraform_data.a",
	grammar.Taint: "taint terraform_data.a", grammar.Untaint: "untaint terraform_data.a", grammar.Invoke: "invoke action.lab_notify.a", grammar.Help: "help",
	grammar.DriftAccept: "drift accept", grammar.DriftRevert: "drift revert", grammar.DriftPropose: "drift propose",
}

// planning are the verbs that plan first.
var planning = []grammar.Verb{grammar.Plan, grammar.Drift, grammar.Import, grammar.StateMove, grammar.StateRemove, grammar.Taint, grammar.Untaint, grammar.Invoke}

// misspelt is a command with its last letter of the verb doubled.
func misspelt(v grammar.Verb) string {
	words := strings.Split(typed[v], " ")
	at := strings.Count(string(v), " ")
	words[at] += words[at][len(words[at])-1:]
	return "lockstep " + strings.Join(words, " ")
}

// TestEachCommandBadly gives each command in each way in which it cannot be carried out. It holds that each is answered once,
// in a comment that says why, or not at all where it is none; and that nothing is applied.
func TestEachCommandBadly(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		who  string
		text func(grammar.Verb) string
		end  func(*stage, int)
		says []string // one of these; none: no answer
	}{
		"misspelt":                 {"alice", misspelt, nil, []string{"Did you mean"}},
		"misspelt, by a telephone": {"alice", func(v grammar.Verb) string { return "L" + misspelt(v)[1:] }, nil, []string{"Did you mean"}},
		"misspelt, in capitals":    {"alice", func(v grammar.Verb) string { return strings.Replace(misspelt(v), "lockstep", "LOCKSTEP", 1) }, nil, []string{"Did you mean"}},
		"misspelt, with an @":      {"alice", func(v grammar.Verb) string { return "@" + misspelt(v) }, nil, []string{"Did you mean"}},
		"misspelt, with a slash":   {"alice", func(v grammar.Verb) string { return "/" + misspelt(v) }, nil, []string{"Did you mean"}},
		"for another program":      {"alice", func(v grammar.Verb) string { return "atlantis " + typed[v] }, nil, []string{"**nothing was done**. In Lockstep, comment `lockstep"}},
		"in a block of HTML":       {"alice", func(v grammar.Verb) string { return "See:\n<pre>\nlockstep " + typed[v] + "\n</pre>\n" }, nil, nil},
		"in a block of code":       {"alice", func(v grammar.Verb) string { return "See:\n```\nlockstep " + typed[v] + "\n```\n" }, nil, nil},
		"in code, alone":           {"alice", func(v grammar.Verb) string { return "```\nlockstep " + typed[v] + "\n```\n" }, nil, []string{"was **not done**: Lockstep ignores commands in code"}},
		"in bold, alone":           {"alice", func(v grammar.Verb) string { return "**lockstep " + typed[v] + "**" }, nil, []string{"was **not done**: Lockstep ignores commands in code"}},
		"of a list, alone":         {"alice", func(v grammar.Verb) string { return "- `lockstep " + typed[v] + "`" }, nil, []string{"was **not done**: Lockstep ignores commands in code"}},
		"quoted":                   {"alice", func(v grammar.Verb) string { return "> lockstep " + typed[v] + "\n\nreally?" }, nil, nil},
		"without rights":           {"mallory", func(v grammar.Verb) string { return "lockstep " + typed[v] }, nil, []string{"write", "permission"}},
		"for a project that is gone": {"alice", func(v grammar.Verb) string { return "lockstep " + typed[v] + " -p gone" }, nil,
			[]string{"No project matches `lockstep", "This pull request has no plan that `lockstep", "works only on the issues that Lockstep opens"}},
		"without rights, for a project that is gone": {"mallory", func(v grammar.Verb) string { return "lockstep " + typed[v] + " -p gone" }, nil,
			[]string{"write", "permission"}},
		"once it is closed": {"alice", func(v grammar.Verb) string { return "lockstep " + typed[v] },
			func(s *stage, n int) { s.repo.Close("alice", n) }, []string{"The pull request is closed.\n\nReopen it", "No plan or apply of this pull request is in progress", "**no lock** on", "nothing to recover", "works only on the issues that Lockstep opens"}},
		"twice": {"mallory", func(v grammar.Verb) string { return "lockstep " + typed[v] + "\nlockstep " + typed[v] }, nil, []string{"write", "permission"}},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			if way.end != nil {
				way.end(s, n)
				s.settle()
			}
			for _, v := range grammar.Verbs() {
				if typed[v] == "" {
					t.Fatalf("nobody types %q here", v)
				}
				before := len(s.repo.Comments(n))
				text := way.text(v)
				answer := s.say(way.who, n, text)
				said := len(s.repo.Comments(n)) - before - 1
				switch {
				case way.says == nil && (answer != "" || said > 0):
					t.Errorf("%q is answered: %s", text, answer)
				case way.says != nil && (answer == "" || said != 1):
					t.Errorf("%q has %d answers: %s", text, said, answer)
				case v != grammar.Help && way.says != nil && !slices.ContainsFunc(way.says, func(x string) bool { return strings.Contains(answer, x) }):
					t.Errorf("%q: the answer does not say why: %s", text, answer)
				}
			}
			list, err := s.records.List(t.Context(), fmt.Sprintf("state/%d", s.repo.Repo().ID))
			if err != nil || len(list) > 0 {
				t.Errorf("something is applied: %v, %v", list, err)
			}
		})
	}
}

// TestEachCommandForMany gives each command for 300 projects: it is answered once, as one comment that GitHub takes.
func TestEachCommandForMany(t *testing.T) {
	t.Parallel()
	files := githubtest.Files{"README.md": "hello\n"}
	for i := range 300 {
		files[fmt.Sprintf("p%03d/main.tf", i)] = resource("a", "1")
	}
	s := newStage(t, files)
	n := s.pull("alice", "b", githubtest.Files{"README.md": "bye\n"})
	for _, v := range grammar.Verbs() {
		if slices.Contains(planning, v) { // TestRequestsOfManyProjects plans many
			continue
		}
		before := len(s.repo.Comments(n))
		text := "lockstep " + typed[v] + " -p 'p*'"
		answer := s.say("alice", n, text)
		if said := len(s.repo.Comments(n)) - before - 1; answer == "" || said != 1 {
			t.Errorf("%q has %d answers: %.200s", text, said, answer)
		}
	}
}
