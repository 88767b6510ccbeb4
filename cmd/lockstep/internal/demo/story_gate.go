package demo

import (
	"context"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// required are files by which the base branch requires something of the network's applies.
func required(body string) githubtest.Files {
	return githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + "\nrequire \"apply\" {\n  projects = [\"network\"]\n" + body + "}\n"}
}

// requires is a scene in which the settings on main are changed, and a team of acme gets its members.
func requires(title string, files githubtest.Files, team string, members ...string) scene {
	return scene{title: title, do: func(_ context.Context, w *World) error {
		w.hub.SetTeam("acme", team, members...)
		w.repo.Push("carol", "main", "Require reviews", files)
		return nil
	}}
}

// approved is a scene in which somebody approves.
func approved(title, who string, number int, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) { r.Review(who, number, github.Approved, "") })}
}

const oneSubnet = "# One more.\nresource \"terraform_data\" \"more\" {\n  input = \"10.20.9.0/24\"\n}\n"

var more = githubtest.Files{"network/more.tf": oneSubnet}

var teamGate = Story{
	Name:  "team-gate",
	Shows: "The base branch requires the approval of a team; what is missing stands with the plan.",
	scenes: []scene{
		requires("the team net has to approve what is applied to the network", required("  approved_by = [\"acme/net\"]\n"), "net", "bob", "alice"),
		opened("alice opens a pull request", "alice", "more", "One more subnet", more,
			"waits** for what is missing", "**missing**: an approval of the planned commit by `acme/net`"),
		commented("she applies it all the same", "alice", 1, "lockstep apply", "**Not applied** `network`", "**missing**: an approval"),
		approved("she approves it herself, as a member of the team", "alice", 1),
		commented("and tries again", "alice", 1, "lockstep apply", "**Not applied** `network`", "`alice` wrote the change"),
		approved("bob approves", "bob", 1, "fulfilled: an approval of the planned commit by `acme/net` (there is 1, by `bob`"),
		{title: "alice pushes something else", want: []string{"`bob` approved another commit"}, do: by(func(r *githubtest.Repository) {
			r.Push("alice", "more", "Another range", githubtest.Files{"network/more.tf": edit(oneSubnet, "10.20.9.0", "10.20.8.0")})
		})},
		approved("bob approves that, too", "bob", 1),
		commented("and now it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

var codeowners = Story{
	Name:  "codeowners",
	Shows: "Each changed file is approved by an owner whom the base branch names, whatever the pull request has.",
	scenes: []scene{
		requires("the network has an owner", withFile(required("  codeowners = true\n"), "CODEOWNERS", "/network/ @acme/net\n"), "net", "bob"),
		opened("alice makes herself and carol the owners, and opens a pull request", "alice", "more", "One more subnet", withFile(more, "CODEOWNERS", "* @alice @carol\n"),
			"0 of 1 files are approved"),
		approved("carol approves", "carol", 1),
		commented("that is not enough", "alice", 1, "lockstep apply", "**Not applied** `network`", "`network/more.tf` waits for `acme/net`"),
		approved("bob approves", "bob", 1),
		commented("and it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

var override = Story{
	Name:  "override",
	Shows: "Whom the settings name lifts a requirement for one plan, with a reason that everybody sees.",
	scenes: []scene{
		requires("two have to approve; the leads can do without", required("  approvals = 2\n  override  = [\"acme/leads\"]\n"), "leads", "carol"),
		opened("alice opens a pull request at night", "alice", "more", "One more subnet", more, "**missing**: 2 approvals of the planned commit"),
		commented("she is no lead", "alice", 1, "lockstep override --reason \"nobody is there\"", "**Not overridden** `network`"),
		commented("carol is", "carol", 1, "lockstep override --reason \"the site is down\"", "**Overridden** for the plan of `network`, by `carol`: `the site is down`"),
		commented("so alice applies it", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

// withFile returns files with one more.
func withFile(files githubtest.Files, name, content string) githubtest.Files {
	return files.With(githubtest.Files{name: content})
}
