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
// All arguments of a block must be met. If the block has alternatives, one of them must be met, too. All blocks
// for a command and a project must be met. A block with a mistake is an error, and never a block with fewer
// conditions. The caller must refuse what it cannot read.
//
// This package does not know pull requests and their facts. Package requirementrules decides about them. Start
// reading at [Parse].
package requirements
