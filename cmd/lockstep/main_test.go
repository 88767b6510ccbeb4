package main

import (
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

func TestMain(m *testing.M) {
	localpipeline.Main()
	demo.Main()
	programtest.Main(m, main)
}

// TestScripts runs command lines about pull requests as people type them, in testdata/script. Those of the other chapters are in
// package program.
func TestScripts(t *testing.T) {
	t.Parallel()
	programtest.Scripts(t)
}
