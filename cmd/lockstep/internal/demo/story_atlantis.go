package demo

import "github.com/lockstep-iac/lockstep/github/githubtest"

// atlantisFile is an atlantis.yaml for the company's projects.
const atlantisFile = `version: 3
automerge: true
projects:
- name: network
  dir: network
  apply_requirements: [approved]
  workflow: checked
- name: app
  dir: app
workflows:
  checked:
    plan:
      steps:
      - init
      - plan:
          extra_args: [-lock=false]
    apply:
      steps:
      - apply
      - run: ./tell.sh
`

// importedFile is the lockstep.hcl that `lockstep config import` makes of atlantisFile, without the comments.
const importedFile = `automerge {
}

project "network" {
  dir = "network"
}

project "app" {
  dir = "app"
}

require "apply" {
  projects  = ["network"]
  approvals = 1
}
`

var atlantisYAML = Story{
	Name:  "atlantis-yaml",
	Shows: "A repository with atlantis.yaml works as it is. One command writes its lockstep.hcl.",
	scenes: []scene{
		{title: "the repository has an atlantis.yaml, and no lockstep.hcl", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "As we have it", githubtest.Files{"lockstep.hcl": githubtest.Deleted, "atlantis.yaml": atlantisFile})
		})},
		opened("alice opens a pull request: no step is run, and whatever has no meaning here is named", "alice", "more", "One more subnet", more,
			"2 to add", "2 settings in it have no effect here", "`-lock` (line 16): A plan locks nothing", "`run` (line 20): Lockstep runs no commands of atlantis.yaml.", "**not met**: an approval of the planned commit"),
		{title: "she takes the requirement out of her atlantis.yaml, which the base branch decides about", want: []string{"This pull request changes `atlantis.yaml`"}, do: by(func(r *githubtest.Repository) {
			r.Push("alice", "more", "Without reviews", githubtest.Files{"atlantis.yaml": edit(atlantisFile, "  apply_requirements: [approved]\n", "")})
		})},
		commented("so it still holds", "alice", 1, "lockstep apply", "**Not applied** `network`", "**not met**: an approval"),
		approved("bob approves", "bob", 1),
		accepts("contents", "write"),
		commented("and it is applied, and merged, as the file has it", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added", "merge #1"),
		{title: "carol moves to lockstep.hcl: the projects are the same, and none is planned", want: []string{"check lockstep: success, No project is affected"}, never: []string{"to add", "Lockstep runs no command"},
			do: by(func(r *githubtest.Repository) {
				r.Push("carol", "move", "Move to lockstep.hcl", githubtest.Files{"lockstep.hcl": importedFile})
				r.OpenPull("carol", "Move to lockstep.hcl", "move")
			})},
	},
}
