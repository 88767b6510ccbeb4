package atlantis

// instead has the sentence of each notice.
var instead = map[string]string{
	"delete_source_branch_on_merge": "An automerge block in lockstep.hcl with delete_branch = true deletes the branches of pull requests that Lockstep merges; GitHub deletes all merged ones, if the repository's settings ask for it.",
	"depends_on":                    "No project of the file has this name, so that nothing waits for it. Correct it, or remove it.",
	"parallel_plan":                 "Each project is planned and applied in a run of its own, side by side.",
	"parallel_apply":                "Each project is planned and applied in a run of its own, side by side.",
	"emoji_reaction":                "Lockstep chooses how it reacts to a comment.",
	"allowed_regexp_prefixes":       "Commands name a project by -p NAME, or several by -d DIR and -w WORKSPACE.",
	"silence_pr_comments":           "A pull request has one comment, which is rewritten; a result that somebody has to act on is a comment of its own.",
	"policies":                      policies,
	"policy_check":                  policies,
	"custom_policy_check":           policies,
	"repo_locks":                    locks,
	"repo_locking":                  locks,
	"autodiscover":                  "Where projects are listed, others are not looked for. Add the missing ones, or project blocks with a pattern in lockstep.hcl.",
	"branch":                        "The project is planned for each base branch that is served: the default branch, and those in allow { branches } of lockstep.hcl.",
	"terraform_version":             "Plans are made as Terraform 1.11 makes them.",
	"terraform_distribution":        "Plans are made as Terraform 1.11 makes them.",
	"import":                        "Imports are planned and applied like all changes: by an import block of the configuration, or by the comment lockstep import ADDR ID.",
	"state_rm":                      "Removals are planned and applied like all changes: by a removed block of the configuration, or by the comment lockstep state rm ADDR.",
	"workflow":                      "The file has no such workflow. If Atlantis' server has it, its steps and arguments are not known here: write them into this file.",
	"when_modified":                 "For a pattern of directories a change of a project's own files and its local modules plans it.",
	"outside":                       "The pattern is for files outside of the repository, which no pull request changes.",
	"run":                           "No command is run. A step of your own is a hook of lockstep.hcl, and a gate if it judges the plan: a function or a webhook. Checks belong into a workflow of GitHub, which require \"apply\" { checks } can demand; files that a command makes have to be in the repository.",
	"multienv":                      environment,
	"env":                           environment,
	"env command":                   "No command is run. Variables and secrets stand in an environment block of lockstep.hcl.",
	"TF_VAR":                        "The value is the project's variable, which wins over those in files.",
	"order":                         "Values by -var and TF_VAR_ win over those in files, whatever their order.",
	"apply":                         "What is applied is the saved plan: arguments belong to the plan.",
	"argument":                      "Plans are made without this argument.",
	"-target":                       options,
	"-replace":                      options,
	"-exclude":                      options,
	"-destroy":                      options,
	"-refresh-only":                 options,
	"-refresh":                      options,
	"-parallelism":                  "Lockstep chooses how much it does at once.",
	"-lock":                         "A plan locks nothing, and an apply always locks its state.",
	"-plugin-dir":                   "Providers come from their registry, as the lock file has them.",
	"-state":                        "The backend block decides where the state is.",
}

const (
	policies    = "Policies for conftest are policy blocks of lockstep.hcl, and their directory stays as it is. Approvals, checks, and limits of what a plan may change are require blocks."
	locks       = "A plan locks nothing. An apply locks its project's state, and the plans of others on it are checked again afterwards."
	environment = "Environment variables of providers stand in an environment block of lockstep.hcl, on the base branch."
	options     = "Plans are made without it. Who needs it asks in a comment: lockstep plan with this argument."
)
