// Package requirements parses the require blocks of lockstep.hcl. Such a block has conditions for a command for
// a project, in addition to the rules for everybody.
//
//	require "apply" {
//	  projects    = ["prod-*"]
//	  approvals   = 2
//	  approved_by = ["acme/sre"]
//	  windows     = ["Mon-Fri 08:00-17:00 Europe/Berlin"]
//	  override    = ["acme/leads"]
//
//	  alternative "owners" {
//	    codeowners = true
//	  }
//	}
//
// A command is allowed if it meets all conditions of all blocks for its project. If a block has alternatives,
// the command has to meet one of them, too. A block with a mistake is an error, and never a block with fewer
// conditions: the caller must refuse the command then.
//
// This package does not know pull requests. Package requirementrules decides whether a pull request meets the
// conditions. Start reading at [Parse].
package requirements
