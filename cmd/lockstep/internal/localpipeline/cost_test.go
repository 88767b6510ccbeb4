package localpipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// TestMain is also the process of a run.
func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// BenchmarkPlan is what a process for each run costs: the plan of a project with one resource,
// here and apart.
func BenchmarkPlan(b *testing.B) {
	dir := b.TempDir()
	checkout := filepath.Join(dir, "checkout")
	if err := os.Mkdir(checkout, 0o700); err != nil {
		b.Fatal(err)
	}
	const config = "terraform {\n  backend \"local\" {\n  }\n}\nresource \"terraform_data\" \"a\" {\n  input = 1\n}\n"
	if err := os.WriteFile(filepath.Join(checkout, "main.tf"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	s, err := subprocess.OpenScratch(filepath.Join(dir, "runs"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	states := filepath.Join(dir, "states")
	j := jobs.Job{Checkout: checkout, Dir: ".", Project: "p", Workspace: project.DefaultWorkspace, Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Owner: "lockstep acme/infra#1"}
	reading := &subprocess.Engine{Settings: childSettings{}, Scratch: s.Dir}
	b.Run("discovery apart", func(b *testing.B) {
		for b.Loop() {
			if d, err := reading.Discover(b.Context(), checkout); err != nil || len(d.Projects) != 1 {
				b.Fatalf("%+v, %v", d, err)
			}
		}
	})
	for name, e := range map[string]jobs.Engine{
		"here":  &executor.Engine{Version: "test", Backend: executor.States(states)},
		"apart": &subprocess.Engine{Settings: childSettings{Version: "test", States: states}, Scratch: s.Dir},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p, err := e.Plan(b.Context(), j); err != nil || p.Counts.Add != 1 {
					b.Fatalf("%+v, %v", p, err)
				}
			}
		})
	}
}
