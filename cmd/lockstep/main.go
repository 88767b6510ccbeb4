// Command lockstep plans and applies Terraform-language configurations, on the command line and for pull
// requests.
//
// This package has the table of commands. Each command has its own file in a package under internal/:
// preparing, authoring, changing, statekeeping, serving, deploying, surveying. Package cli has the code that
// all commands share. Package program runs a command. Results go to standard output, everything else to
// standard error. If the command line itself is wrong, the message starts with `lockstep: error:`. Start at
// [commands].
package main

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/demo"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program"
)

// version is Lockstep's version; a release sets it with -ldflags.
var version = "0.1.0-dev"

func main() {
	localpipeline.Main()
	demo.Main()
	lockstep().Main()
}

// lockstep returns the program with all commands.
func lockstep() program.Program { return program.Program{Version: version, Commands: commands()} }
