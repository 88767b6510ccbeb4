package demo

import (
	"context"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const unitStates = "acme-unit-states"

// unit returns a terragrunt.hcl for a module. more are further lines.
func unit(module, more string) string {
	return "terraform {\n  source = \"../../modules/" + module + "\"\n}\n" + more
}

const shopOfUnit = `dependency "vpc" {
  config_path = "../vpc"
}

inputs = {
  range    = dependency.vpc.outputs.range
  vpc      = "vpc ${dependency.vpc.outputs.id}"
  password = dependency.vpc.outputs.password
}
`

var units = Story{
	Name:   "terragrunt",
	Shows:  "Units of Terragrunt are projects. Terragrunt prepares them without credentials; Lockstep plans them.",
	bucket: unitStates,
	scenes: []scene{
		{title: "main names Terragrunt by its checksum (here a small program takes its place)", do: func(_ context.Context, w *World) error {
			tools, err := w.storeChecker()
			if err != nil {
				return err
			}
			w.repo.Push("carol", "main", "Terragrunt", githubtest.Files{
				"lockstep.hcl":         strings.ReplaceAll(tools, checkerName, terragruntName) + "\nterragrunt {}\n\nallow {\n  states = [\"s3://" + unitStates + "/live/**\"]\n}\n",
				"bucket":               unitStates + "\n",
				"modules/vpc/vpc.tf":   vpc,
				"modules/shop/shop.tf": takes,
			})
			return nil
		}},
		without(opened("alice adds two units: the shop gets outputs of the network, which has no state yet", "alice", "units", "A network and a shop",
			githubtest.Files{"live/vpc/terragrunt.hcl": unit("vpc", "inputs = {}\n"), "live/shop/terragrunt.hcl": unit("shop", shopOfUnit)},
			"check lockstep/live/vpc: success, Ready to apply – 1 to add", "check lockstep/live/shop: success, Ready to apply – 1 to add", "This plan uses the outputs that `live/vpc` will have after its apply", "(known after apply)"), "correct-horse"),
		without(commented("she applies both: the network first, then Terragrunt prepares the shop again, with the outputs of the state", "alice", 1, "lockstep apply",
			"`live/vpc`: 1 added", "`live/shop`: 1 added"), "correct-horse"),
		merged("and merges", "alice", 1),
		opened("bob changes the network's module: its unit is planned", "bob", "range", "Another range", githubtest.Files{"modules/vpc/vpc.tf": strings.ReplaceAll(vpc, "10.20.", "10.30.")}, "check lockstep/live/vpc: success"),
		opened("and mistypes an output in another pull request", "bob", "typo", "A typo", githubtest.Files{"live/shop/terragrunt.hcl": unit("shop", strings.Replace(shopOfUnit, "outputs.range", "outputs.rnage", 1))},
			"check lockstep/live/shop: failure", "terragrunt.hcl:9"),
	},
}
