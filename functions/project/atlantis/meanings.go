package atlantis

// carried are the names of the notices about parts that lockstep.hcl has in another form.
var carried = []string{"TF_VAR", "order"}

// instead has the sentence for each notice, by the name of the notice.
var instead = map[string]string{
	"delete_source_branch_on_merge": "An automerge block in lockstep.hcl with delete_branch = true deletes the branches of pull requests that Lockstep merges; GitHub deletes all merged ones, if the repository's settings ask for it.",
	"depends_on":                    "No project of the file has this name, so no project waits for it. Correct the name, or remove it.",
	"parallel_plan":                 "Lockstep plans and applies each project in a run of its own, at the same time.",
	"parallel_apply":                "Lockstep plans and applies each project in a run of its own, at the same time.",
	"emoji_reaction":                "Lockstep chooses how it reacts to a comment.",
	"allowed_regexp_prefixes":       "In commands, name a project with -p NAME, or several with -d DIR and -w WORKSPACE.",
	"silence_pr_comments":           "Lockstep writes one comment for each pull request, and edits it. A failed apply gets a comment of its own.",
	"policies":                      policies,
	"policy_check":                  policies,
	"custom_policy_check":           policies,
	"repo_locks":                    locks,
	"repo_locking":                  locks,
	"ignore_paths":                  "Lockstep looks for other directories only if the mode of autodiscover is enabled, so it ignores none here.",
	"branch":                        "Lockstep plans the project for pull requests into the default branch, and into those of allow { branches } in lockstep.hcl.",
	"terraform_version":             "Lockstep plans like Terraform 1.16, or like 1.11 with language = \"1.11\" in lockstep.hcl.",
	"terraform_distribution":        "Lockstep plans like Terraform 1.16, and reads what OpenTofu adds to the language.",
	"no override":                   "The server's file does not allow atlantis.yaml to set the key, so the server's value counts.",
	"team_authz":                    "GitHub's permissions and the teams in require blocks decide who may give which command.",
	"allowed_workflows":             "Lockstep runs no workflows, so it needs no list of allowed ones.",
	"repo_config_file":              "Lockstep reads lockstep.hcl or atlantis.yaml in the root of the repository.",
	"import":                        "To import an object, add an import block to the configuration, or comment `lockstep import ADDR ID`.",
	"state_rm":                      "To remove an object from the state, add a removed block to the configuration, or comment `lockstep state rm ADDR`.",
	"workflow":                      "The file has no workflow of this name. If it is in the file of Atlantis' server, copy its steps and arguments into this file.",
	"when_modified":                 "Lockstep plans a project of a pattern of directories when its own files or its local modules change.",
	"outside":                       "The pattern matches files outside of the repository, and no pull request changes these.",
	"run":                           "Lockstep runs no commands of atlantis.yaml. To notify somebody of an apply, write a notification, hook or step block in lockstep.hcl.",
	"dropped":                       "Lockstep runs no commands of atlantis.yaml, and you chose to leave out this step. If the step decided about applies, write a step block, a gate block, or a require block with checks. If it generated files, write a step block on \"generate\", or commit them.",
	"run of the shell":              "To notify somebody of an apply, write a notification or hook block in lockstep.hcl.",
	"dropped of the shell":          "You chose to leave out the step. If it decided about applies, write a gate block, or a require block with checks. If it generated files, commit them.",
	"hooks":                         "Lockstep runs no hooks of atlantis.yaml. Write a step block in lockstep.hcl, or a GitHub workflow whose check you require: require \"plan\" { checks = [\"NAME\"] }.",
	"env":                           environment,
	"env command":                   "Lockstep runs no commands of atlantis.yaml. Write variables and secrets into an environment block of lockstep.hcl.",
	"TF_VAR":                        "The value becomes a variable of the project. It wins over values in files.",
	"order":                         "Values of -var and TF_VAR_ win over values in files, in any order.",
	"apply":                         "Lockstep applies the saved plan, so arguments belong to the plan.",
	"argument":                      "Lockstep plans without this argument.",
	"-target":                       options,
	"-replace":                      options,
	"-exclude":                      options,
	"-destroy":                      options,
	"-refresh-only":                 options,
	"-refresh":                      options,
	"init":                          "Each plan starts in an empty directory with the versions of the lock file, so init needs no arguments.",
	"-lockfile":                     "Lockstep never writes the lock file. If it lacks a provider or a checksum, the plan fails.",
	"-parallelism":                  "Lockstep makes at most 10 provider calls at a time. To limit one provider, write provider_parallelism = { NAME = 1 } into the project block.",
	"-lock":                         "A plan locks nothing, and an apply always locks its state.",
	"-plugin-dir":                   "Lockstep installs providers from their registry, in the versions of the lock file.",
	"-state":                        "The backend block names the address of the state.",
}

const (
	policies    = "For conftest policies, write a policy block in lockstep.hcl; the directory stays as it is. For approvals, checks and limits of changes, write a require block."
	locks       = "A plan locks nothing. An apply locks the state of its project, and afterwards Lockstep checks the other plans of this state again."
	environment = "Write the environment variables of providers into an environment block of lockstep.hcl, on the base branch."
	options     = "Lockstep plans without it. If you need it once, comment `lockstep plan` with this argument."
)
