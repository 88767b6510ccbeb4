package program

import (
	"strings"
	"testing"
)

// A provider that only an import block's target names is installed, as its block may yet be written.
func TestInitForImports(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", "import {\n  to = time_static.x\n  id = \"2020-02-12T06:36:13Z\"\n}\n")
	d.want(0, "init", "Installed hashicorp/time")
	d.want(0, "plan -generate-config-out=generated.tf", "1 to import")
	d.want(0, "apply -auto-approve", "1 imported")
}

// What the state needs is installed without -backend, too: the state is where it was recorded to be.
func TestInitWithoutBackend(t *testing.T) {
	t.Parallel()
	const state = `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
  {"mode": "managed", "type": "time_static", "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/time\"]",
   "instances": [{"schema_version": 0, "attributes": {"id": "2020-02-12T06:36:13Z", "rfc3339": "2020-02-12T06:36:13Z"}}]}]}`
	d := newLab(t, "main.tf", "# nothing is left\n", "terraform.tfstate", state)
	d.want(0, "init -backend=false", "Installed hashicorp/time")
	d.want(0, "plan", "1 to destroy")
}

// A provider configuration that is not there is found when the configuration is validated: what init
// installs may be what it is missing for. A version of the language that is not spoken is found by both.
func TestInitBeforeValidation(t *testing.T) {
	t.Parallel()
	const missing = "Provider configuration not present"
	d := newLab(t, "main.tf", `
resource "time_static" "a" {
  provider = time.missing
}
module "m" {
  source    = "./m"
  providers = { time.x = time.missing }
}
`, "m/main.tf", `
terraform {
  required_providers {
    time = {
      source                = "hashicorp/time"
      configuration_aliases = [time.x]
    }
  }
}
`)
	d.want(0, "init", "Installed hashicorp/time", "successfully initialized")
	d.want(1, "validate", missing)
	d.want(1, "plan", missing)
	d.Write("version.tf", "terraform {\n  required_version = \">= 99.0.0\"\n}\n")
	d.want(1, "init", "Unsupported Terraform Core version")
}

// The providers of modules that only tests run are installed with those of the configuration, and the
// mocks of test files need none.
func TestInitForTests(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", "locals {}\n",
		"a.tftest.hcl", "mock_provider \"local\" {\n}\nrun \"a\" {\n  module {\n    source = \"./m\"\n  }\n}\n",
		"m/main.tf", "resource \"time_static\" \"x\" {\n  nonsense = 1\n}\n")
	d.want(0, "init", "Installed hashicorp/time", "successfully initialized")
	if lock := d.read(".terraform.lock.hcl"); strings.Contains(lock, "local") {
		t.Error(lock)
	}
	d.want(1, "validate", "Unsupported argument", "on m/main.tf line 2")
	d.want(0, "validate -no-tests", "Success")
	d.want(0, "plan", "No changes")
}
