package demo

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// The files of the company's repository, as small as possible: two projects and a module that both use.

var people = []struct{ login, permission string }{
	{"alice", "write"}, {"bob", "write"}, {"carol", "admin"}, {"mallory", "read"},
}

var baseFiles = githubtest.Files{
	"README.md": "The infrastructure, as code.\n",
	"lockstep.hcl": `project "network" {
  dir = "network"
}

# The application goes out when its pull request is merged.
project "app" {
  dir   = "app"
  apply = "merge"
}
`,
	"modules/naming/main.tf": `variable "what" {
  type = string
}

locals {
  stage = "live"
}

output "name" {
  value = "acme-${local.stage}-${var.what}"
}
`,
	"network/main.tf": `terraform {
  backend "local" {}
}

module "naming" {
  source = "../modules/naming"
  what   = "network"
}

locals {
  range = "10.20.0.0/16"
}

resource "terraform_data" "vpc" {
  input = {
    name  = module.naming.name
    range = local.range
  }
}

output "range" {
  value = terraform_data.vpc.output.range
}
`,
	"app/main.tf": `terraform {
  backend "local" {}
}

module "naming" {
  source = "../modules/naming"
  what   = "shop"
}

locals {
  release = "2026.10"
}

# Another release is another container.
resource "terraform_data" "container" {
  triggers_replace = local.release
  input            = "${module.naming.name}:${local.release}"
}
`,
}

const subnetsFile = `locals {
  zones = ["a", "b"]
}

resource "terraform_data" "subnet" {
  for_each = toset(local.zones)

  input = {
    name  = "${module.naming.name}-${each.key}"
    range = cidrsubnet(local.range, 8, index(local.zones, each.key))
  }
}
`

const peeringFile = `resource "terraform_data" "peering" {
  input = {
    from = local.range
    to   = "10.99.0.0/16"
  }
}
`

// edited returns the file name of the repository's first commit, with one text in it replaced.
func edited(name, old, new string) githubtest.Files {
	return githubtest.Files{name: edit(baseFiles[name], old, new)}
}

// edit returns a text with the only occurrence of old replaced by new.
func edit(text, old, new string) string {
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("demo: %q is there %d times", old, strings.Count(text, old)))
	}
	return strings.Replace(text, old, new, 1)
}

// flowLogs is a commit that changes an object of the network.
var flowLogs = edited("network/main.tf", "    range = local.range\n", "    range = local.range\n    logs  = true\n")

// newRelease is a commit that changes the project app.
var newRelease = edited("app/main.tf", `"2026.10"`, `"2026.11"`)
