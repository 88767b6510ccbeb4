package demo

import (
	"context"
	"fmt"
	"maps"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// Begin tells the past of the company: the infrastructure is built and merged, and three pull
// requests are opened and planned.
func (w *World) Begin(ctx context.Context) error {
	for _, step := range []func(){
		func() {
			w.repo.Push("alice", "first", "Say whose it is", githubtest.Files{"README.md": "The infrastructure of acme, as code.\n", "network/README.md": "Ranges: 10.20.0.0/16 is ours.\n", "app/README.md": "The shop.\n"})
			w.repo.OpenPull("alice", "Build what is there", "first")
		},
		func() { w.repo.Comment("alice", 1, "lockstep apply -p network") },
		func() { w.repo.Merge("alice", 1) },
		func() {
			files := maps.Clone(flowLogs)
			files["network/subnets.tf"] = subnetsFile
			w.repo.Push("alice", "subnets", "Two subnets, and flow logs", files)
			w.repo.OpenPull("alice", "Two subnets, and flow logs", "subnets")
			w.repo.Push("bob", "peering", "Peering with the office", githubtest.Files{"network/peering.tf": peeringFile})
			w.repo.OpenPull("bob", "Peering with the office", "peering")
			w.repo.Push("carol", "release", "Release 2026.11", newRelease)
			w.repo.OpenPull("carol", "Release 2026.11", "release")
		},
	} {
		step()
		if err := w.Settle(ctx); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
	}
	return nil
}

// prepared are the changes that a button pushes, one after the other.
var prepared = []struct {
	label, message string
	files          githubtest.Files
}{
	{"Push: a third subnet", "A third subnet", githubtest.Files{"network/subnets.tf": edit(subnetsFile, `["a", "b"]`, `["a", "b", "c"]`)}},
	{"Push: a mistake", "Nicer names", githubtest.Files{"network/subnets.tf": edit(subnetsFile, "module.naming.name", "module.naming.nmae")}},
	{"Push: mend it", "Names as they were", githubtest.Files{"network/subnets.tf": subnetsFile}},
	{"Push: another name for everything", "A stage of its own", edited("modules/naming/main.tf", `"live"`, `"prod"`)},
}
