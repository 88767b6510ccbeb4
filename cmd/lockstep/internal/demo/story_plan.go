package demo

import (
	"context"
	"regexp"
	"slices"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var (
	subnets = githubtest.Files{"network/subnets.tf": subnetsFile}
	peering = githubtest.Files{"network/peering.tf": peeringFile}
	zone    = githubtest.Files{"network/zone.tf": "resource \"terraform_data\" \"zone\" {\n  input = \"example.org\"\n}\n"}
)

var commentApply = Story{
	Name:  "comment-apply",
	Shows: "Opening a pull request plans it. Commenting `lockstep apply` applies it.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets,
			"3 to add, 0 to change, 0 to destroy", `"10.20.1.0/24"`),
		commented("mallory, who may only read, tries to apply", "mallory", 1, "lockstep apply",
			"has the permission `read`"),
		commented("alice mistypes", "alice", 1, "lockstep aply", "Did you mean `lockstep apply`?"),
		commented("alice applies", "alice", 1, "Looks right to me.\n\nlockstep apply",
			"**Applied** `network`: 3 added, 0 changed, 0 destroyed"),
		merged("and merges", "alice", 1),
	},
}

var buttons = Story{
	Name:  "buttons",
	Shows: "Buttons on a check plan again, apply the plan shown, and stop an apply.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		pressed("mallory, who may only read, presses a button", "mallory", "subnets", "lockstep/network", "Apply", "has the permission `read`"),
		pressed("alice wants a new plan", "alice", "subnets", "lockstep/network", "Plan again", "**Planned** `network`"),
		pressed("and applies it", "alice", "subnets", "lockstep/network", "Apply", "**Applied** `network`: 3 added, 0 changed, 0 destroyed"),
		merged("and merges", "alice", 1),
		opened("bob opens one with a name", "bob", "names", "A name", names, "3 to add"),
		{title: "he applies it, and alice presses stop when the zone is made", do: func(ctx context.Context, w *World) error {
			return stopped(ctx, w, press("bob", "names", "lockstep/network", "Apply"), press("alice", "names", "lockstep/network", "Cancel"))
		}, want: []string{"**Cancelled** the apply of `network`, as `alice` requested: 1 of 3 changes done. The state contains these changes."}},
	},
}

// firstNetwork are the scenes in which the network is created on the base branch.
var firstNetwork = []scene{
	opened("alice opens a pull request with a subnet", "alice", "subnets", "Two subnets", subnets, "3 to add"),
	commented("and applies it", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
	merged("and merges", "alice", 1),
}

var twoPlansAtOnce = Story{
	Name:  "two-plans-at-once",
	Shows: "Plans take no lock: pull requests for one state are planned side by side.",
	scenes: []scene{
		{title: "alice and bob open pull requests for the same project at once", do: by(func(r *githubtest.Repository) {
			r.Push("alice", "subnets", "Two subnets", subnets)
			r.Push("bob", "peering", "Peering with the office", peering)
			r.OpenPull("alice", "Two subnets", "subnets")
			r.OpenPull("bob", "Peering with the office", "peering")
		}), want: []string{"3 to add, 0 to change, 0 to destroy", "2 to add, 0 to change, 0 to destroy"}, never: []string{"locked", "failed"}},
	},
}

var semanticEqual = Story{
	Name:  "semantic-equal",
	Shows: "After another pull request is applied, waiting plans are made again. Equal plans stay approved.",
	scenes: append(firstNetwork[:len(firstNetwork):len(firstNetwork)],
		opened("bob opens one, for the same project", "bob", "peering", "Peering with the office", peering, "1 to add"),
		opened("alice another", "alice", "zone", "A zone", zone, "1 to add"),
		commented("alice applies hers", "alice", 3, "lockstep apply", "**Applied** `network`: 1 added"),
		merged("and merges: bob's plan is checked", "alice", 3, "Planned again. Causes:", "The changes are the same. Approvals of this plan stay valid"),
		commented("bob applies the plan that he has seen", "bob", 2, "lockstep apply", "**Applied** `network`: 1 added",
			"Planned again", "The changes are the same.", "`network/zone.tf`", "the state was written"),
	),
}

var semanticDifferent = Story{
	Name:  "semantic-different",
	Shows: "A plan that has become a different one is shown with the difference, and needs a new apply.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		opened("bob opens another one, for the same project", "bob", "peering", "Peering with the office", peering, "2 to add"),
		commented("alice applies hers", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
		commented("bob tries his, which would remove alice's subnets", "bob", 2, "lockstep apply",
			"**Not applied**", "this apply could undo its changes"),
		merged("alice merges: bob's plan is another one, as the network itself is there by now", "alice", 1,
			"**New plan** for `network`", "Differences from the approved plan", "- action: create", "1 to add, 0 to change, 0 to destroy"),
		commented("bob has not seen that, and tries once more", "bob", 2, "lockstep apply", "**Not applied**", "Nobody has confirmed the new plan"),
		named("he has seen the new plan, and names it", "bob", 2, "**Applied** `network`: 1 added"),
	},
}

var planOptions = Story{
	Name:  "plan-options",
	Shows: "`lockstep plan` takes Terraform's options. The plan shows them, and so does its approval.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		commented("she plans a part of it first", "alice", 1, "lockstep plan -target=terraform_data.vpc",
			"1 to add, 0 to change, 0 to destroy", "Planned with `-target=terraform_data.vpc`. **This plan is partial**"),
		commented("and applies that", "alice", 1, "lockstep apply", "**Applied** `network`: 1 added"),
		commented("then the rest, with an object made anew", "alice", 1, "lockstep plan -replace=terraform_data.vpc", "1 to destroy", "Planned with `-replace=terraform_data.vpc`."),
		commented("mallory would have it with a command of a shell", "mallory", 1, "lockstep plan -var 'x=1' -target=$(id)", "is not a valid address for `-target`"),
		commented("bob has other habits", "bob", 1, "terraform apply -auto-approve", "is a command of another program", "`lockstep apply`"),
		commented("alice applies", "alice", 1, "lockstep apply", "**Applied** `network`"),
		commented("the end of it all is planned, too", "alice", 1, "lockstep plan -destroy", "0 to add, 0 to change, 3 to destroy, with -destroy"),
	},
}

var fork = Story{
	Name:  "fork",
	Shows: "Pull requests from forks are not planned: planning runs code.",
	scenes: []scene{
		{title: "mallory forks the repository and opens a pull request from there", do: by(func(r *githubtest.Repository) {
			f := r.Fork("mallory")
			f.Push("mallory", "coffee", "Free coffee", subnets)
			r.OpenPullFrom(f, "mallory", "Free coffee", "coffee")
		}), want: []string{"fork"}, never: []string{"to add"}},
		commented("alice, who may write, asks for a plan", "alice", 1, "lockstep plan", "fork"),
	},
}

var forkPlan = Story{
	Name:  "fork-plan",
	Shows: "A maintainer has a commit of a fork planned, without credentials.",
	scenes: append(firstNetwork[:len(firstNetwork):len(firstNetwork)],
		scene{title: "the base branch has commits of forks planned", do: by(func(r *githubtest.Repository) {
			r.Push("alice", "main", "Plan commits of forks", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + "\nallow {\n  forks = true\n}\n"})
		})},
		scene{title: "mallory opens a pull request from a fork", do: by(func(r *githubtest.Repository) {
			f := r.Fork("mallory")
			f.Push("mallory", "coffee", "Free coffee", zone)
			r.OpenPullFrom(f, "mallory", "Free coffee", "coffee")
		}), want: []string{"Somebody with write access has to read the commit first", "lockstep plan "}, never: []string{"to add"}},
		scene{title: "alice reads it, and names the commit", do: by(func(r *githubtest.Repository) {
			r.Comment("alice", 2, wholePlan.FindString(r.Comments(2)[0].Body))
		}), want: []string{"previewed without credentials", "1 to add", "from a snapshot of the state"}},
		commented("it cannot be applied from there", "alice", 2, "lockstep apply", "**Not applied**", "Merge it. Then comment `lockstep plan`"),
		merged("she merges it", "alice", 2, "not applied"),
		commented("what was merged is planned with credentials", "alice", 2, "lockstep plan", "1 to add"),
		commented("and applied", "alice", 2, "lockstep apply", "**Applied** `network`: 1 added"),
	),
}

// wholePlan matches a plan command that names a commit.
var wholePlan = regexp.MustCompile("lockstep plan [0-9a-f]{40}")

// removedNetwork removes the network from the repository.
var removedNetwork = githubtest.Files{
	"lockstep.hcl":    edit(baseFiles["lockstep.hcl"], "project \"network\" {\n  dir = \"network\"\n}\n", ""),
	"network/main.tf": githubtest.Deleted,
	"network/more.tf": githubtest.Deleted,
}

var removedProject = Story{
	Name:  "removed-project",
	Shows: "Removing a project shows what will be destroyed. That needs an apply of its own.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "more", "One more subnet", more, "ready to apply"),
		commented("it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
		merged("and merged", "alice", 1),
		opened("bob removes the network from the repository", "bob", "remove", "No network any more", removedNetwork,
			"**This pull request removes the project** `network`", "0 to add, 0 to change, 2 to destroy, with -destroy", "ready to destroy with `lockstep apply -p network`"),
		commented("what waits is applied, but that is not", "bob", 2, "lockstep apply", "**Not applied** `network`", "Such a plan needs a command of its own"),
		commented("it is, by its name", "bob", 2, "lockstep apply -p network", "**Applied** `network`: 0 added, 0 changed, 2 destroyed"),
		merged("and nothing is left to be merged but its end", "bob", 2),
	},
}

var importByComment = Story{
	Name:  "import-by-comment",
	Shows: "A comment imports an existing object: planned, shown, then applied.",
	scenes: []scene{
		opened("alice opens a pull request for a zone that somebody has made by hand", "alice", "zone", "The zone",
			githubtest.Files{"network/zone.tf": oneObject("zone")}, "2 to add, 0 to change, 0 to destroy"),
		commented("without an address that is one", "alice", 1, "lockstep import terraform_data Z0123", "is not a valid address"),
		commented("the zone is there already, so she imports it", "alice", 1, "lockstep import terraform_data.zone Z0123 -p network", "**Planned** `network`: 1 to import, 1 to add"),
		commented("and applies that", "alice", 1, "lockstep apply", "**Applied** `network`: 1 imported, 1 added"),
	},
}

var stateMove = Story{
	Name:  "state-mv",
	Shows: "A comment moves objects in the state or removes them: planned, shown, then applied.",
	scenes: append(slices.Clone(firstNetwork),
		opened("bob gives a resource another name", "bob", "rename", "Another name", githubtest.Files{"network/subnets.tf": edit(subnetsFile, "\"subnet\"", "\"zone\"")}, "2 to add, 0 to change, 2 to destroy"),
		commented("that would replace it, so he moves it", "bob", 2, "lockstep state mv terraform_data.subnet terraform_data.zone -p network", "**Planned** `network`: no changes"),
		commented("and applies that", "bob", 2, "lockstep apply", "**Applied** `network`"),
		commented("and nothing is left to do", "bob", 2, "lockstep plan", "**Planned** `network`: no changes"),
	),
}
