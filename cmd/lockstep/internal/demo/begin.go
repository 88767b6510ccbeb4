package demo

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// The branches of the pull requests that are open when the demo starts, in the order of their numbers. Each
// shows a different feature.
const (
	subnetsBranch = "subnets"
	clusterBranch = "cluster"
)

// company returns the files of the company's repository, except the two projects of [baseFiles]: a database
// whose applies need an approval, a cluster, a policy, and similar services.
func (w *World) company() githubtest.Files {
	files := githubtest.Files{
		"lockstep.hcl": baseFiles["lockstep.hcl"] + `
project "database" {
  dir = "database"
}

project "cluster" {
  dir = "cluster"
}

# One project in each directory.
project "svc-*" {
  dir = "services/*"
}

require "apply" {
  projects    = ["database"]
  approved_by = ["acme/dba"]
}

policy "keep" {
  override = ["acme/security"]
}
`,
		"policy/keep.rego": `package main

import rego.v1

deny contains msg if {
  some change in input.resource_changes
  "delete" in change.change.actions
  startswith(change.name, "zone")
  msg := sprintf("%s holds names of customers: a zone is never destroyed", [change.address])
}
`,
		"database/main.tf": localBackend + oneObject("orders") + oneObject("zone_backup"),
		"cluster/main.tf":  localBackend + oneObject("control_plane"),
		"modules/service/main.tf": `variable "name" {
  type = string
}

resource "terraform_data" "service" {
  input = {
    name = var.name
    logs = "text"
  }
}
`,
	}
	for _, name := range w.services {
		files["services/"+name+"/main.tf"] = localBackend + fmt.Sprintf("module \"service\" {\n  source = \"../../modules/service\"\n  name   = %q\n}\n", name)
	}
	return files
}

const localBackend = "terraform {\n  backend \"local\" {}\n}\n\n"

// services are the names of projects that use the same module.
var services = []string{
	"accounts", "baskets", "billing", "catalog", "checkout", "coupons", "delivery", "email", "export", "fraud", "images", "invoices",
	"login", "orders", "payments", "prices", "ratings", "refunds", "reports", "returns", "search", "stock", "taxes", "wishlist",
}

// machines is a resource with so many objects that applying it in the demo takes minutes.
const machines = `resource "terraform_data" "machine" {
  count = 40
  input = "machine-${count.index}"
}
`

// Begin creates the company's history: the infrastructure is merged and applied, and pull requests are open and
// planned. Another process is applying one of them.
func (w *World) Begin(ctx context.Context) error {
	open := func(who, title, branch string, files githubtest.Files) {
		w.repo.Push(who, branch, title, files)
		w.repo.OpenPull(who, title, branch)
	}
	w.hub.SetTeam("acme", "dba", "bob", "carol")
	w.hub.SetTeam("acme", "security", "carol")
	for _, step := range []func(){
		func() {
			w.repo.Push("carol", "main", "The company", w.company())
			open("alice", "Build what is there", "first", w.wordsForAll())
		},
		func() { w.repo.Review("bob", 1, github.Approved, "") },
		func() { w.repo.Comment("alice", 1, "lockstep apply") },
		func() { w.repo.Merge("alice", 1) },
		func() {
			files := maps.Clone(flowLogs)
			files["network/subnets.tf"] = subnetsFile
			open("alice", "Two subnets, and flow logs", subnetsBranch, files)
			open("bob", "Peering with the office", "peering", githubtest.Files{"network/peering.tf": peeringFile})
			open("carol", "Release 2026.11", "release", newRelease)
			open("alice", "All services log as JSON", "logs", githubtest.Files{"modules/service/main.tf": edit(w.company()["modules/service/main.tf"], `"text"`, `"json"`)})
			open("alice", "A larger database", "orders", githubtest.Files{"database/main.tf": edit(w.company()["database/main.tf"], `= "orders"`, `= "orders, 200 GB"`)})
			open("bob", "No zone any more", "zone", githubtest.Files{"database/main.tf": localBackend + oneObject("orders")})
			open("bob", "Ranges by name", "ranges", githubtest.Files{"network/ranges.tf": "output \"office\" {\n  value = local.ranges.office\n}\n"})
			open("carol", "A cluster of 40 machines", clusterBranch, githubtest.Files{"cluster/machines.tf": machines})
		},
	} {
		step()
		if err := w.Settle(ctx); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
	}
	for _, p := range w.repo.Pulls() {
		if p.From == clusterBranch {
			w.repo.Comment("carol", p.Number, "lockstep apply")
		}
	}
	if _, err := w.hub.Deliver(ctx); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := w.start(ctx, &w.helper, changeTime, intent); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

// changeTime is how long each change takes in the apply that is in progress, so that a user can watch it, stop
// it, or kill its process. Tests set a shorter time.
var changeTime = 4 * time.Second

// wordsForAll returns files that change a README in every project, so that every project is affected.
func (w *World) wordsForAll() githubtest.Files {
	files := githubtest.Files{"README.md": "The infrastructure of acme, as code.\n"}
	for _, dir := range []string{"network", "app", "database", "cluster"} {
		files[dir+"/README.md"] = "See the code.\n"
	}
	for _, name := range w.services {
		files["services/"+name+"/README.md"] = "See the code.\n"
	}
	return files
}

// prepared are the commits that a button of the demo pushes, the next one each time it is pressed.
var prepared = []struct {
	label, message string
	files          githubtest.Files
}{
	{"Push: a third subnet", "A third subnet", githubtest.Files{"network/subnets.tf": edit(subnetsFile, `["a", "b"]`, `["a", "b", "c"]`)}},
	{"Push: a mistake", "Nicer names", githubtest.Files{"network/subnets.tf": edit(subnetsFile, "module.naming.name", "module.naming.nmae")}},
	{"Push: mend it", "Names as they were", githubtest.Files{"network/subnets.tf": subnetsFile}},
	{"Push: another name for everything", "A stage of its own", edited("modules/naming/main.tf", `"live"`, `"prod"`)},
}
