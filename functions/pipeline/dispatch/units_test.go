package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// finding finds one unit in each checkout, in the directory "live/net". It keeps the blocks by which it was called.
type finding struct {
	mu      sync.Mutex
	asked   []requirements.Terragrunt
	problem string
}

func (f *finding) use(s *stage) *finding { s.pipeline.FindUnits = f.find; return f }

func (f *finding) find(_ context.Context, _ jobs.Job, t requirements.Terragrunt) (jobs.Units, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, t)
	config := map[string]json.RawMessage{}
	return jobs.Units{Problem: f.problem, Units: []terragrunt.Unit{{Dir: "live/net", Source: "live/net", Digest: "1", Backend: "local", Config: config}}}, nil
}

// ofTerragrunt is a repository with one unit, and a terragrunt block with the lines.
func ofTerragrunt(digest, lines string) githubtest.Files {
	return githubtest.Files{
		"live/net/terragrunt.hcl": "", "live/net/main.tf": strings.ReplaceAll(resource("a", "1"), "terraform {\n  backend \"local\" {}\n}\n", ""),
		"lockstep.hcl": "tools = { terragrunt = \"" + digest + "\" }\nterragrunt {\n" + lines + "}\n",
	}
}

// TestTerragruntIsTheBase holds that a pull request decides neither whether Terragrunt runs, nor how, nor which program.
func TestTerragruntIsTheBase(t *testing.T) {
	t.Parallel()
	other := "sha256:" + strings.Repeat("ab", 32)
	for name, files := range map[string]githubtest.Files{
		"another program":         {"lockstep.hcl": ofTerragrunt(other, "")["lockstep.hcl"]},
		"the network":             {"lockstep.hcl": ofTerragrunt(toolDigest, "  network = true\n")["lockstep.hcl"]},
		"environment variables":   {"lockstep.hcl": ofTerragrunt(toolDigest, "  env = { PATH = \"/bin\" }\n")["lockstep.hcl"]},
		"the block removed":       {"lockstep.hcl": ""},
		"a file with other units": {"live.units.json": `{"Units":[{"Dir":"evil"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, ofTerragrunt(toolDigest, ""))
			f := (&finding{}).use(s)
			files["live/net/main.tf"] = strings.ReplaceAll(resource("a", "2"), "terraform {\n  backend \"local\" {}\n}\n", "")
			n := s.pull("alice", "b", files)
			s.expect("the status", s.status(n), "`live/net`")
			if strings.Contains(s.status(n), "evil") {
				t.Error(s.status(n))
			}
			if len(f.asked) == 0 {
				t.Error("Terragrunt does not run")
			}
			for _, got := range f.asked {
				if want := (requirements.Terragrunt{Digest: strings.TrimPrefix(toolDigest, "sha256:"), Timeout: requirements.DefaultStepTimeout}); got.ID() != want.ID() {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
		})
	}
	base := ofTerragrunt(toolDigest, "")
	settings := base["lockstep.hcl"]
	base["lockstep.hcl"] = ""
	s := newStage(t, base)
	f := (&finding{}).use(s)
	s.pull("alice", "b", githubtest.Files{"lockstep.hcl": settings})
	if len(f.asked) > 0 {
		t.Errorf("a pull request turns it on: %+v", f.asked)
	}
}

// TestTerragruntFails has units that nobody can find: the pull request says why.
func TestTerragruntFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, ofTerragrunt(toolDigest, ""))
	(&finding{problem: "the toolbox does not have it"}).use(s)
	n := s.pull("alice", "b", githubtest.Files{"live/net/terragrunt.hcl": "# more\n"})
	s.expect("the status", s.status(n), "Terragrunt cannot find the units: the toolbox does not have it")
	s.pipeline.FindUnits = nil
	s.say("bob", n, "lockstep plan")
	s.expect("the status", s.status(n), "Run `lockstep deploy` to update it")
}

// TestTerragruntOfAFork carries out an attack: a unit of a fork has a hook. It does not run, also for a command.
func TestTerragruntOfAFork(t *testing.T) {
	t.Parallel()
	base := ofTerragrunt(toolDigest, "")
	base["lockstep.hcl"] += "allow {\n  forks = true\n}\n"
	s := newStage(t, base)
	f := (&finding{}).use(s)
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "x", "Change a unit", githubtest.Files{"live/net/terragrunt.hcl": "# a hook\n"})
	n := s.repo.OpenPullFrom(fork, "mallory", "Change a unit", "x")
	s.settle()
	s.say("bob", n, "lockstep plan "+fork.Head("x"))
	if len(f.asked) > 0 {
		t.Errorf("it runs: %+v", f.asked)
	}
	s.expect("the status", s.status(n), "Terragrunt does not run for commits of forks")
}
