// Command lockstep plans and applies Terraform-language configurations, on the command line and for
// pull requests.
//
// This package is the table of commands. Each command has a file named after it in the package of its
// family under internal/: preparing, authoring, changing, statekeeping, serving; package cli has all
// that they share, and package program runs them. Results go to standard output, everything else to
// standard error, headed `lockstep: error:` where the command line itself is wrong. Start at [commands].
package main

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program"
)

// version is Lockstep's own; the release sets it with -ldflags.
var version = "0.1.0-dev"

func main() {
	localpipeline.Main()
	demo.Main()
	lockstep().Main()
}

// lockstep is the program with all commands.
func lockstep() program.Program { return program.Program{Version: version, Commands: commands()} }
