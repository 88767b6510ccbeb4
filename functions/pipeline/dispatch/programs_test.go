package dispatch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// scripted is a repository where the base branch lets provisioners run, and has a script
// outside of the project's directory that leaves a file where it runs.
func scripted(mark string) githubtest.Files {
	return githubtest.Files{
		"lockstep.hcl":   "project \"net\" {\n  dir = \"net\"\n}\nallow {\n  provisioners = true\n}\n",
		"net/main.tf":    resource("vpc", "v1"),
		"scripts/run.sh": "echo good > '" + mark + "'\n",
		"README.md":      "hello\n",
	}
}

const runsScript = "resource \"terraform_data\" \"script\" {\n  provisioner \"local-exec\" {\n    command = \"sh ${path.root}/../scripts/run.sh\"\n  }\n}\n"

// TestScriptIsExchanged holds that a script which a provisioner runs is a part of the plan
// wherever it is: exchanged after the approval, it does not run.
func TestScriptIsExchanged(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "ran")
	s := newStage(t, scripted(mark))
	n := s.pull("alice", "script", githubtest.Files{"net/script.tf": runsScript})
	s.expect("the status", s.status(n), "2 to add")
	s.repo.Push("mallory", "main", "Exchange", githubtest.Files{"scripts/run.sh": "echo evil > '" + mark + "'\n"})
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "The plan is out of date, because the base branch has changed in these files: `scripts/run.s", "A change of any file makes this plan out of date: `lockstep.hcl` lets programs run in the plan, and programs can read every file.", "Comment `lockstep plan` for a new plan")
	if text, err := os.ReadFile(mark); err == nil {
		t.Fatalf("the script has run: %s", text)
	}
	// A new plan shows it, and is of what is there now.
	s.expect("a new plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`")
	s.expect("its apply", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
	if text, err := os.ReadFile(mark); err != nil || strings.TrimSpace(string(text)) != "evil" {
		t.Errorf("%q %v", text, err)
	}
}

// TestManyFilesMove holds that of many files that moved the project's own are named.
func TestManyFilesMove(t *testing.T) {
	t.Parallel()
	s := newStage(t, scripted(filepath.Join(t.TempDir(), "ran")))
	n := s.pull("alice", "script", githubtest.Files{"net/script.tf": runsScript})
	moved := githubtest.Files{"net/note.txt": "x"}
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		moved["docs/"+name] = "x"
	}
	s.repo.Push("bob", "main", "Words", moved)
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "The plan is out of date, because the base branch has changed in these files: `net/note.t", "and 7 more")
}
