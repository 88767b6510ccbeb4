package demo

import (
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var (
	subnets = githubtest.Files{"network/subnets.tf": subnetsFile}
	peering = githubtest.Files{"network/peering.tf": peeringFile}
)

var commentApply = Story{
	Name:  "comment-apply",
	Shows: "A pull request is planned when it is opened, and applied when somebody with the permission comments `lockstep apply`.",
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

var stalePlan = Story{
	Name:  "stale-plan",
	Shows: "A plan fits the files and the state that it was made from: once they have changed it is refused, with the reason.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		opened("bob opens another one, for the same project", "bob", "peering", "Peering with the office", peering, "2 to add"),
		commented("alice applies hers", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
		commented("bob tries his, which would remove alice's subnets", "bob", 2, "lockstep apply",
			"**Not applied**", "this apply would revert it"),
		merged("alice merges", "alice", 1),
		commented("bob tries once more", "bob", 2, "lockstep apply", "The plan was made from other files", "`network/subnets.tf`"),
		commented("he asks for a new plan, of his branch merged into the present base branch", "bob", 2, "lockstep plan", "1 to add, 0 to change, 0 to destroy"),
		commented("now it can be applied", "bob", 2, "lockstep apply", "**Applied** `network`: 1 added"),
	},
}

var fork = Story{
	Name:  "fork",
	Shows: "Planning runs code, so a pull request from a fork is not planned, whoever asks.",
	scenes: []scene{
		{title: "mallory forks the repository and opens a pull request from there", do: by(func(r *githubtest.Repository) {
			f := r.Fork("mallory")
			f.Push("mallory", "coffee", "Free coffee", subnets)
			r.OpenPullFrom(f, "mallory", "Free coffee", "coffee")
		}), want: []string{"fork"}, never: []string{"to add"}},
		commented("alice, who may write, asks for a plan", "alice", 1, "lockstep plan", "fork"),
	},
}
