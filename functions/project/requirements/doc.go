// Package requirements reads the require blocks of lockstep.hcl: the conditions under which a
// command may be carried out for a project, beside the rules that hold for everybody.
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
// All arguments of a block have to hold, and one of its alternatives if it has any. All blocks that
// are about a command and a project have to hold. A block with a mistake is an error, and never a
// block with fewer conditions: the caller must refuse what it cannot read.
//
// The package refuses to know pull requests and their facts: package requirementrules decides. Start at
// [Parse].
package requirements
