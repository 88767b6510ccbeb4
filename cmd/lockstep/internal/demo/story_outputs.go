package demo

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// inBucket returns the backend block of a project with its state in a bucket.
func inBucket(bucket, key string) string {
	return fmt.Sprintf(`terraform {
  backend "s3" {
    bucket       = %q
    key          = "%s/terraform.tfstate"
    region       = "eu-west-1"
    use_lockfile = true

    skip_credentials_validation = true # by AWS, which knows nothing of this demo
    skip_requesting_account_id  = true
  }
}

`, bucket, key)
}

// vpc is a configuration with outputs, one of them sensitive.
const vpc = `resource "terraform_data" "vpc" {
  input = "10.20.0.0/16"
}

output "range" {
  value = "10.20.0.0/16"
}

output "id" {
  value = terraform_data.vpc.id
}

output "password" {
  value     = "correct-horse"
  sensitive = true
}
`

// reads returns a configuration with a terraform_remote_state data source: it reads the outputs of the project
// vpc from the state in the bucket. more is added to the data source's arguments.
func reads(bucket, more string) string {
	return fmt.Sprintf(`data "terraform_remote_state" "vpc" {
  backend = "s3"
  config = {
    bucket = %q
    key    = "vpc/terraform.tfstate"
    region = "eu-west-1"

    skip_credentials_validation = true
    skip_requesting_account_id  = true
%s  }
}

resource "terraform_data" "shop" {
  input = "shop in ${data.terraform_remote_state.vpc.outputs.range}, ${data.terraform_remote_state.vpc.outputs.password}"
}
`, bucket, more)
}

const (
	remoteStates  = "acme-states"
	plannedStates = "acme-planned-states"
	inputStates   = "acme-input-states"
)

// remoteState is a story about states in S3 that other projects read.
var remoteState = Story{
	Name:   "remote-state",
	Shows:  "A project reads another project's outputs from S3 with its own credentials. Sensitive values stay hidden.",
	bucket: remoteStates,
	scenes: []scene{
		shopInBucket("main has a network, and a shop that is empty", remoteStates, ""),
		opened("alice opens a pull request with the network", "alice", "vpc", "A network", githubtest.Files{"vpc/vpc.tf": vpc}, "check lockstep/vpc: success, Ready to apply – 1 to add"),
		commented("and applies it: its state is an object in a bucket", "alice", 1, "lockstep apply", "**Applied** `vpc`: 1 added"),
		merged("and merges", "alice", 1),
		without(opened("bob's shop reads the network's outputs", "bob", "shop", "A shop", githubtest.Files{"shop/shop.tf": reads(remoteStates, "")}, "check lockstep/shop: success, Ready to apply – 1 to add"), "correct-horse"),
		without(commented("he applies it", "bob", 2, "lockstep apply", "**Applied** `shop`: 1 added"), "correct-horse"),
		merged("and merges", "bob", 2),
		opened("another pull request would read the state elsewhere, with what is at hand", "bob", "elsewhere", "Elsewhere",
			githubtest.Files{"shop/shop.tf": reads(remoteStates, "    endpoints = { s3 = \"https://evil.example.com\" }\n")},
			"check lockstep/shop: failure", `"endpoints" is not`),
	},
}

// plannedOutputs is a story about two projects in one pull request. One project reads the planned outputs of
// the other.
var plannedOutputs = Story{
	Name:   "planned-outputs",
	Shows:  "One pull request changes two projects. The second is planned with the outputs of the first before any apply.",
	bucket: plannedStates,
	scenes: []scene{
		shopInBucket("main has a network, and a shop that comes after it", plannedStates, `  depends_on = ["vpc"]`+"\n"),
		without(opened("alice adds both in one pull request: the state of the network does not exist yet, its plan does", "alice", "both", "A network and a shop",
			githubtest.Files{"vpc/vpc.tf": vpc, "shop/shop.tf": reads(plannedStates, "")},
			"check lockstep/vpc: success, Ready to apply – 1 to add", "check lockstep/shop: success, Ready to apply – 1 to add", "This plan uses the outputs that `vpc` will have after its apply"), "correct-horse"),
		without(commented("she applies both: the network first, and then the plan of the shop is made again, and is the same", "alice", 1, "lockstep apply",
			"`vpc`: 1 added", "`shop`: 1 added"), "correct-horse"),
		merged("and merges", "alice", 1),
	},
}

// takes is a configuration whose variables get their values from outputs of another project.
const takes = `variable "range" {
  type = string
}

variable "vpc" {
  type = string
}

variable "password" {
  sensitive = true
}

resource "terraform_data" "shop" {
  input            = [var.range, var.vpc]
  triggers_replace = var.password
}
`

// shelf is a configuration with a variable whose value is an output of the project shop.
const shelf = `resource "terraform_data" "shelf" {
  input = "shelf in ${var.range}"
}
`

// linked returns a lockstep.hcl with a project shop that has the given inputs.
func linked(inputs string) string {
	return "project \"vpc\" {\n  dir = \"vpc\"\n}\n\nproject \"shop\" {\n  dir = \"shop\"\n  inputs = {\n" + inputs + "  }\n}\n"
}

// shopInputs are the inputs of the shop, one a line.
const shopInputs = "    range    = project.vpc.outputs.range\n    vpc      = \"vpc ${project.vpc.outputs.id}\"\n    password = project.vpc.outputs.password\n"

// projectInputs is a story about outputs that are passed on without a data source.
var projectInputs = Story{
	Name:   "project-inputs",
	Shows:  "lockstep.hcl passes one project's outputs to another one's variables, before they exist.",
	bucket: inputStates,
	scenes: []scene{
		shopInBucket("main has a network, and a shop that is empty", inputStates, ""),
		without(opened("alice adds both in one pull request, and passes the network's outputs to the shop", "alice", "inputs", "A network and a shop",
			githubtest.Files{"vpc/vpc.tf": vpc, "shop/shop.tf": takes, "lockstep.hcl": linked(shopInputs)},
			"check lockstep/vpc: success, Ready to apply – 1 to add", "check lockstep/shop: success, Ready to apply – 1 to add", "This plan uses the outputs that `vpc` will have after its apply", "10.20.0.0/16", "(known after apply)"), "correct-horse"),
		commented("bob applies the shop alone, which comes after the network", "bob", 1, "lockstep apply -p shop", "**Not applied** `shop`", "`shop` depends on `vpc`, which is not applied"),
		without(commented("alice applies both: the network first, and then the plan of the shop is made again, and is the same", "alice", 1, "lockstep apply",
			"`vpc`: 1 added", "`shop`: 1 added"), "correct-horse"),
		merged("and merges", "alice", 1),
		opened("bob adds a shelf to the shop", "bob", "shelf", "A shelf", githubtest.Files{"shop/shelf.tf": shelf}, "check lockstep/shop: success, Ready to apply – 1 to add"),
		opened("alice gives the network another range", "alice", "range", "Another range", githubtest.Files{"vpc/vpc.tf": strings.ReplaceAll(vpc, "10.20.", "10.30.")}, "check lockstep/vpc: success"),
		commented("and applies it", "alice", 3, "lockstep apply", "**Applied** `vpc`"),
		without(merged("and merges: bob's plan is another one, as the shop has that range, too", "alice", 3,
			"**New plan** for `shop`", "`vpc` has been applied", "10.30.0.0/16"), "correct-horse"),
		without(opened("bob mistypes an output", "bob", "typo", "A typo", githubtest.Files{"lockstep.hcl": linked(strings.Replace(shopInputs, "outputs.range", "outputs.rnage", 1))},
			"check lockstep/shop: failure", "on lockstep.hcl line 8", `no output "rnage". It has id, password, range`), "correct-horse"),
		without(opened("and passes the password on in a variable that hides nothing", "bob", "open", "Open", githubtest.Files{"lockstep.hcl": linked(strings.Replace(shopInputs, "outputs.range", "outputs.password", 1))},
			"check lockstep/shop: failure", "on lockstep.hcl line 8", "Declare the variable with sensitive"), "correct-horse"),
	},
}

// shopInBucket returns a scene in which the base branch gets two projects: a network and a shop, the shop
// without objects. more is added to the shop's project block.
func shopInBucket(title, bucket, more string) scene {
	return scene{title: title, do: by(func(r *githubtest.Repository) {
		r.Push("carol", "main", "States in S3", githubtest.Files{
			"lockstep.hcl": "project \"vpc\" {\n  dir = \"vpc\"\n}\n\nproject \"shop\" {\n  dir = \"shop\"\n" + more + "}\n",
			"vpc/main.tf":  inBucket(bucket, "vpc"), "shop/main.tf": inBucket(bucket, "shop"),
		})
	})}
}

// without returns a scene with additional texts that must not appear.
func without(x scene, texts ...string) scene {
	x.never = append(x.never, texts...)
	return x
}
