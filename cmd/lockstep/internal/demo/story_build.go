package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/buildrunner"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var longApply = Story{
	Name:  "long-apply",
	Shows: "An apply that is too long for a function runs in a build.",
	scenes: []scene{
		{title: "main has an environment whose applies are done in builds", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "A runner", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] +
				"\ndefaults {\n  environment = \"slow\"\n}\n\nenvironment \"slow\" {\n  runner = \"codebuild\"\n}\n"})
		})},
		opened("alice opens a pull request with a name", "alice", "names", "A name", names, "4 to add"),
		{title: "she applies it: the function hands it over, the first build dies, and the second one does it (a part of this program stands for CodeBuild)", do: inBuilds,
			want: []string{"**Applied** `network`: 4 added, 0 changed, 0 destroyed", "check lockstep/network: success, Applied – 4 added"}},
		merged("and merges", "alice", 1),
	},
}

// buildsHere replaces CodeBuild: it runs builds in this process. A build runs when Look is called for the first
// time. The first build dies before it runs.
type buildsHere struct {
	w       *World
	message pipeline.Message
	ends    []buildrunner.End // the results of the builds for which Look was called
	begun   int
}

// Start implements buildrunner.Service.
func (b *buildsHere) Start(_ context.Context, _, _ string, m pipeline.Message) (string, error) {
	b.message = m
	b.begun++
	b.w.narrate("the function starts build %d", b.begun)
	return fmt.Sprintf("lockstep-apply:%d", b.begun), nil
}

// Look implements buildrunner.Service.
func (b *buildsHere) Look(ctx context.Context, id string) (buildrunner.End, error) {
	switch {
	case len(b.ends) == b.begun:
		return b.ends[b.begun-1], nil
	case b.begun == 1:
		b.w.narrate("the machine of build 1 is lost")
		b.ends = append(b.ends, buildrunner.Faulty)
		return buildrunner.Faulty, nil
	}
	b.w.narrate("build %d takes the apply up", b.begun)
	p := *b.w.machine.Pipeline
	p.Builds, p.Build = nil, id
	end := time.Now().Add(8 * time.Hour)
	work, cancel := context.WithDeadline(pipeline.WithHardStop(ctx, end), end.Add(-time.Minute))
	defer cancel()
	b.ends = append(b.ends, buildrunner.Done)
	return buildrunner.Working, p.Handle(work, b.message)
}

// Stop implements buildrunner.Service.
func (*buildsHere) Stop(context.Context, string) error { return nil }

// inBuilds applies a plan in builds, as CodeBuild would run them.
func inBuilds(ctx context.Context, w *World) error {
	b := &buildsHere{w: w}
	w.machine.Pipeline.Builds = b
	defer func() { w.machine.Pipeline.Builds = nil }()
	w.repo.Comment("alice", 1, "lockstep apply")
	if err := w.drain(ctx, 1, w.machine.Pipeline.Handle); err != nil {
		return err
	}
	if b.begun != 2 {
		return fmt.Errorf("it was done in %d builds", b.begun)
	}
	return nil
}
