package buildrunner

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// TestToken holds that builds of two Apps, whose repositories and runs have the same names, are two builds: with one token
// CodeBuild would take the second for the first, and start none.
func TestToken(t *testing.T) {
	t.Parallel()
	of := func(app string) string {
		return token(pipeline.Message{Pull: pipeline.Pull{App: app, Repo: github.Repo{ID: 5}, Number: 7}, Target: "net@default", Attempt: 1}, 1)
	}
	if first := of(""); first != of("") || first == of("ghes") || of("ghes") == of("emu") {
		t.Errorf("%s, %s, %s", of(""), of("ghes"), of("emu"))
	}
	if token(pipeline.Message{Kind: pipeline.ToPlan, Attempt: 1}, 1) == token(pipeline.Message{Kind: pipeline.ToApply, Attempt: 1}, 1) {
		t.Error("a plan and an apply have one token")
	}
}
