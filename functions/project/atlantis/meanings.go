package atlantis

// carried are the names of the notices about what lockstep.hcl has, too, in another form.
var carried = []string{"TF_VAR", "order"}

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
	"ignore_paths":                  "Other directories are not looked for where projects are listed, unless the mode of autodiscover is enabled. So nothing is ignored.",
	"branch":                        "The project is planned for each base branch that is served: the default branch, and those in allow { branches } of lockstep.hcl.",
	"terraform_version":             "Plans are made as Terraform 1.11 makes them.",
	"terraform_distribution":        "Plans are made as Terraform 1.11 makes them.",
	"no override":                   "The server's file does not allow atlantis.yaml to set the key, so that the server's own value counts.",
	"team_authz":                    "Who may comment which command is decided by GitHub's permissions, and by the teams in require blocks.",
	"allowed_workflows":             "Lockstep runs no workflow, so that none has to be forbidden.",
	"repo_config_file":              "Lockstep reads lockstep.hcl, and atlantis.yaml in the repository's directory.",
	"import":                        "Imports are planned and applied like all changes: by an import block of the configuration, or by the comment lockstep import ADDR ID.",
	"state_rm":                      "Removals are planned and applied like all changes: by a removed block of the configuration, or by the comment lockstep state rm ADDR.",
	"workflow":                      "The file has no such workflow. If Atlantis' server has it, its steps and arguments are not known here: write them into this file.",
	"when_modified":                 "For a pattern of directories a change of a project's own files and its local modules plans it.",
	"outside":                       "The pattern is for files outside of the repository, which no pull request changes.",
	"run":                           "Lockstep runs no command. A step that tells somebody of an apply is a hook block of lockstep.hcl: a function or a webhook.",
	"dropped":                       "Lockstep runs no command, and you have asked for lockstep.hcl without this step. If it decided whether something is applied, write a gate block, or a require block with checks. If it made files, commit them.",
	"hooks":                         "Lockstep runs no command. Write a workflow of GitHub for it, and demand its check by require \"plan\" { checks = [\"NAME\"] }.",
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
	"init":                          "A plan starts from an empty directory with the versions of the lock file, so that init has nothing else to do.",
	"-lockfile":                     "The lock file is never written: a plan fails if it lacks a provider or a checksum.",
	"-parallelism":                  "Lockstep makes 10 provider calls at a time. To limit those of one provider, write provider_parallelism = { NAME = 1 } into its project block.",
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
