package demo

import (
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const triggerStates = "acme-trigger-states"

// runTrigger is a story about an apply that makes another project out of date.
var runTrigger = Story{
	Name:   "run-trigger",
	Shows:  "After an apply, Lockstep plans what depends on it, and an issue takes the commands to apply that.",
	bucket: triggerStates,
	scenes: []scene{
		shopInBucket("main has a network, and a shop that is empty", triggerStates, ""),
		without(opened("alice adds both, passes the network's outputs to the shop, and asks for plans after applies", "alice", "inputs", "A network and a shop",
			githubtest.Files{"vpc/vpc.tf": vpc, "shop/shop.tf": takes, "lockstep.hcl": linked(shopInputs) + "\ndrift {\n  run_triggers = true\n}\n"},
			"check lockstep/vpc: success, Ready to apply – 1 to add", "check lockstep/shop: success, Ready to apply – 1 to add"), "correct-horse"),
		without(commented("she applies both", "alice", 1, "lockstep apply", "`vpc`: 1 added", "`shop`: 1 added"), "correct-horse"),
		merged("and merges", "alice", 1),
		opened("bob gives the network another range", "bob", "range", "Another range", githubtest.Files{"vpc/vpc.tf": strings.ReplaceAll(vpc, "10.20.", "10.30.")}, "check lockstep/vpc: success"),
		without(commented("and applies it: the shop uses that range, so Lockstep plans the shop, too", "bob", 2, "lockstep apply", "**Applied** `vpc`",
			"issue #1001: open, shop has changes to apply since the apply of vpc"), "correct-horse"),
		merged("he merges", "bob", 2),
		without(commented("alice asks for the plan on the issue", "alice", 1001, "lockstep plan", "**Planned** `shop`: 0 to add, 1 to change", "10.30.0.0/16"), "correct-horse"),
		without(commented("and applies it there: the issue is done", "alice", 1001, "lockstep apply", "**Applied** `shop`: 0 added, 1 changed", "issue #1001: closed"), "correct-horse"),
	},
}
