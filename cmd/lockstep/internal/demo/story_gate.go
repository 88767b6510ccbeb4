package demo

import (
	"context"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// required returns a lockstep.hcl with a require block for applies of the network. body is the block's content.
func required(body string) githubtest.Files {
	return githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + "\nrequire \"apply\" {\n  projects = [\"network\"]\n" + body + "}\n"}
}

// requires returns a scene in which the settings on main change, and a team of acme gets its members.
func requires(title string, files githubtest.Files, team string, members ...string) scene {
	return scene{title: title, do: func(_ context.Context, w *World) error {
		w.hub.SetTeam("acme", team, members...)
		w.repo.Push("carol", "main", "Require more", files)
		return nil
	}}
}

// approved returns a scene in which somebody approves.
func approved(title, who string, number int, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) { r.Review(who, number, github.Approved, "") })}
}

const oneSubnet = "# One more.\nresource \"terraform_data\" \"more\" {\n  input = \"10.20.9.0/24\"\n}\n"

var more = githubtest.Files{"network/more.tf": oneSubnet}

var teamGate = Story{
	Name:  "team-gate",
	Shows: "The base branch requires the approval of a team. The plan shows what is missing.",
	scenes: []scene{
		requires("the team net has to approve what is applied to the network", required("  approved_by = [\"acme/net\"]\n"), "net", "bob", "alice"),
		opened("alice opens a pull request", "alice", "more", "One more subnet", more,
			"**needs approval**", "**not met**: an approval of the planned commit by `acme/net`"),
		commented("she applies it all the same", "alice", 1, "lockstep apply", "**Not applied** `network`", "**not met**: an approval"),
		approved("she approves it herself, as a member of the team", "alice", 1),
		commented("and tries again", "alice", 1, "lockstep apply", "**Not applied** `network`", "`alice` is an author of the change"),
		approved("bob approves", "bob", 1, "met: an approval of the planned commit by `acme/net` (approved by `bob`"),
		{title: "alice pushes something else", want: []string{"`bob` approved an earlier commit"}, do: by(func(r *githubtest.Repository) {
			r.Push("alice", "more", "Another range", githubtest.Files{"network/more.tf": edit(oneSubnet, "10.20.9.0", "10.20.8.0")})
		})},
		approved("bob approves that, too", "bob", 1),
		commented("and now it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

var requiredCheck = Story{
	Name:  "required-check",
	Shows: "Make the check `lockstep` required: it passes when nothing is left to do.",
	scenes: []scene{
		{title: "main wants plans to be applied before the merge", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "Apply before the merge", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + "\ncheck {\n  waiting = \"action_required\"\n}\n"})
		})},
		opened("alice corrects a document", "alice", "words", "Words", githubtest.Files{"README.md": "The infrastructure, as code and words.\n"}, "check lockstep: success, No project is affected"),
		opened("bob opens a pull request with a subnet", "bob", "more", "One more subnet", more, "check lockstep: action_required, 1 project ready to apply – 2 to add"),
		commented("he applies it", "bob", 2, "lockstep apply", "**Applied** `network`", "check lockstep: success, 1 project applied"),
		opened("carol opens one that cannot be planned", "carol", "broken", "Broken", githubtest.Files{"network/broken.tf": "resource {\n"}, "check lockstep: failure"),
	},
}

var lockSet = Story{
	Name:  "lock-set",
	Shows: "A person locks states for a pull request. Everybody sees who did and why.",
	scenes: []scene{
		opened("alice opens a pull request for the network and the application", "alice", "both", "Both", withFile(more, "app/alarm.tf", oneObject("alarm")), "`network`", "`app`"),
		opened("bob opens another one for both", "bob", "two", "Two", githubtest.Files{"network/two.tf": edit(oneSubnet, "\"more\"", "\"two\""), "app/two.tf": oneObject("two")}, "`network`", "`app`"),
		commented("bob keeps the network", "bob", 2, "lockstep lock -p network --reason \"the office moves\"", "**Locked** `network`", "Locked by #2: `bob` has locked the state", "`the office moves`"),
		commented("alice wants both: she gets neither", "alice", 1, "lockstep lock --reason \"a release\"", "**Not locked** `app`", "Nothing was locked: `network` cannot be locked"),
		commented("bob lifts his", "bob", 2, "lockstep unlock", "**Unlocked** `network`"),
		commented("and now she has both", "alice", 1, "lockstep lock --reason \"a release\"", "**Locked** `app`", "**Locked** `network`"),
		commented("bob's apply waits", "bob", 2, "lockstep apply -p network", "**Not applied** `network`", "Locked by #1: `alice` has locked the state", "`a release`"),
	},
}

var codeowners = Story{
	Name:  "codeowners",
	Shows: "Each changed file needs an approval by its code owner on the base branch.",
	scenes: []scene{
		requires("the network has an owner", withFile(required("  codeowners = true\n"), "CODEOWNERS", "/network/ @acme/net\n"), "net", "bob"),
		opened("alice makes herself and carol the owners, and opens a pull request", "alice", "more", "One more subnet", withFile(more, "CODEOWNERS", "* @alice @carol\n"),
			"0 of 1 files approved"),
		approved("carol approves", "carol", 1),
		commented("that is not enough", "alice", 1, "lockstep apply", "**Not applied** `network`", "`network/more.tf` needs the approval of `acme/net`"),
		approved("bob approves", "bob", 1),
		commented("and it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

// rangePolicy denies network ranges that belong to others.
const rangePolicy = `package main

deny contains msg if {
	some r in input.resource_changes
	is_string(r.change.after.input)
	not startswith(r.change.after.input, "10.")
	msg := sprintf("%s is not of the network 10.0.0.0/8", [r.address])
}
`

var policy = Story{
	Name:  "policy",
	Shows: "Rego policies judge each plan. The team that owns a policy can override a denial, with a reason.",
	scenes: []scene{
		requires("main has a policy for the network, which acme/security may lift", withFile(baseFiles, "policy/range.rego", rangePolicy).With(githubtest.Files{
			"lockstep.hcl": baseFiles["lockstep.hcl"] + "\npolicy \"ranges\" {\n  projects = [\"network\"]\n  override = [\"acme/security\"]\n}\n",
		}), "security", "carol"),
		opened("alice opens a pull request with a public range, and without the policy", "alice", "more", "One more subnet",
			githubtest.Files{"network/more.tf": edit(oneSubnet, "10.20.9.0", "192.0.2.0"), "policy/range.rego": githubtest.Deleted},
			"**denied** by policy `ranges`: `terraform_data.more is not of the network 10.0.0.0/8`"),
		commented("she applies it all the same", "alice", 1, "lockstep apply", "**Not applied** `network`", "`terraform_data.more is not of the network 10.0.0.0/8`"),
		commented("carol knows the range", "carol", 1, "lockstep override --reason \"it is the test range\"", "**Requirements overridden** for the plan of `network` by `carol`: `it is the test range`",
			"**denied** by policy `ranges`", "**overridden** by `carol`, `it is the test range`"),
		commented("so it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

var override = Story{
	Name:  "override",
	Shows: "People named in the settings override a requirement for one plan, with a reason.",
	scenes: []scene{
		requires("two have to approve; the leads can do without", required("  approvals = 2\n  override  = [\"acme/leads\"]\n"), "leads", "carol"),
		opened("alice opens a pull request at night", "alice", "more", "One more subnet", more, "**not met**: 2 approvals of the planned commit"),
		commented("she is no lead", "alice", 1, "lockstep override --reason \"nobody is there\"", "**Not overridden** `network`"),
		commented("carol is", "carol", 1, "lockstep override --reason \"the site is down\"", "**Requirements overridden** for the plan of `network` by `carol`: `the site is down`",
			"2 approvals of the planned commit", "**overridden** by `carol`, `the site is down`"),
		commented("so alice applies it", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

// withFile returns files with an additional one.
func withFile(files githubtest.Files, name, content string) githubtest.Files {
	return files.With(githubtest.Files{name: content})
}
