package demo

import (
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// service is the Terraform configuration of a service. Services differ only in the value for their size.
const service = `terraform {
  backend "local" {}
}

variable "size" {
  type    = string
  default = "small"
}

module "naming" {
  source = "../../modules/naming"
  what   = "svc"
}

resource "terraform_data" "service" {
  input = "${module.naming.name}, ${var.size}"
}
`

// monorepo is a story about a repository with one service in each directory. One project block with a pattern
// in lockstep.hcl makes each of these directories a project.
var monorepo = Story{
	Name:  "monorepo",
	Shows: "One block makes every service directory a project. Only affected projects are planned.",
	scenes: []scene{
		{title: "main gets three services, and one block for all of them", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "Services", githubtest.Files{
				"lockstep.hcl":          baseFiles["lockstep.hcl"] + "\nproject \"svc-*\" {\n  dir = \"services/*\"\n}\n\nexclude = [\"services/attic\"]\n",
				"services/cart/main.tf": service, "services/login/main.tf": service, "services/attic/main.tf": service,
			})
		})},
		opened("alice changes one service", "alice", "cart", "A larger cart", githubtest.Files{"services/cart/main.tf": strings.Replace(service, `"small"`, `"large"`, 1)},
			"check lockstep/svc-cart: success, Ready to apply – 1 to add", "check lockstep: neutral"),
		commented("and applies it", "alice", 1, "lockstep apply", "**Applied** `svc-cart`: 1 added"),
		merged("and merges", "alice", 1),
		opened("bob adds a service: it is a project without a word in the settings", "bob", "mail", "Mail", githubtest.Files{"services/mail/main.tf": service},
			"check lockstep/svc-mail: success, Ready to apply – 1 to add"),
		opened("carol changes the module that all use: every project is planned, and equal changes are shown once", "carol", "stage", "A stage of its own", edited("modules/naming/main.tf", `"live"`, `"prod"`),
			"check lockstep/svc-cart: success, Ready to apply – 0 to add, 1 to change", "check lockstep/svc-login: success, Ready to apply – 1 to add", "check lockstep/network: success", "check lockstep/app: success"),
		commented("she applies the services, in one go", "carol", 3, "lockstep apply -p svc-*", "`svc-cart`: 0 added, 1 changed", "`svc-login`: 1 added"),
	},
}

// liveSettings is a lockstep.hcl with two environments, one of them for release branches.
const liveSettings = `environment "live" {
  variables = { size = "large" }
  branches  = ["main"]
}

environment "test" {
  variables = { size = "tiny" }
}

project "login" {
  dir         = "services/login"
  environment = "test"
}

project "login-live" {
  dir         = "services/login"
  workspace   = "live"
  environment = "live"
}
`

var environments = Story{
	Name:  "environments",
	Shows: "Environments give projects their variables, roles and secrets. A pull request cannot invent one.",
	scenes: []scene{
		{title: "main has one service in two environments", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "Environments", githubtest.Files{"lockstep.hcl": liveSettings, "services/login/main.tf": service})
		})},
		opened("alice opens a pull request: it is planned twice, each with the values of its environment", "alice", "owner", "An owner",
			githubtest.Files{"services/login/owner.tf": "resource \"terraform_data\" \"owner\" {\n  input = \"shop, ${var.size}\"\n}\n"},
			"check lockstep/login: success, Ready to apply – 2 to add", "check lockstep/login-live@live: success, Ready to apply – 2 to add", `"shop, tiny"`, `"shop, large"`),
		commented("she applies the one for tests", "alice", 1, "lockstep apply -p login", "**Applied** `login`: 2 added"),
		commented("and then the live one", "alice", 1, "lockstep apply -p login-live", "**Applied** `login-live`: 2 added"),
		merged("and merges", "alice", 1),
		opened("bob gives his project the roles of the live environment", "bob", "rights", "More rights",
			githubtest.Files{"lockstep.hcl": edit(liveSettings, "environment = \"test\"", "environment = \"live\"")},
			"the environment \"live\" (lockstep.hcl", "but the base branch gives it the environment \"test\"", "Merge the change of lockstep.hcl first"),
		opened("and tries an environment of his own making", "bob", "own", "An environment",
			githubtest.Files{
				"lockstep.hcl":          liveSettings + "\nenvironment \"root\" {\n  plan_role = \"arn:aws:iam::123456789012:role/admin\"\n}\n\nproject \"mine\" {\n  dir         = \"services/mine\"\n  environment = \"root\"\n}\n",
				"services/mine/main.tf": service,
			},
			"which the base branch does not have, and only the base branch grants roles and secrets"),
	},
}
