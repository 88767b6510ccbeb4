// Package grammar has the table of lockstep.hcl. The table has the blocks, the arguments of each block, and the
// form of each argument. The parser gets from the table the names that it accepts, and the remedies in its
// errors. Editors get a JSON Schema that is made from the table ([Schema]). So the parser and the schema have
// the same arguments.
//
// This package does not know the meaning of a value. Start reading at [Block].
package grammar

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/risks"
)

// A Kind is the form of an argument's value.
type Kind int

const (
	text    Kind = iota
	boolean      // true or false
	texts        // a list of texts
	dict         // texts by name
	values       // any values by name
	// files is a list of file names, or instead values by name.
	files
	number  // a whole number
	numbers // whole numbers by name
)

// An Argument is an argument of a block.
type Argument struct {
	Name     string
	Kind     Kind
	Required bool
	OneOf    []string // the allowed values of a text, or of each text in a list; nil allows any
	Default  string   // the effect of omitting the argument, in Markdown: a value, or words
	Doc      string   // a sentence
}

// A Block is a type of block.
type Block struct {
	Type  string
	Label string // the meaning of the block's label; "" for a block without a label, which may occur only once in the file
	Doc   string
	Args  []Argument
	// Inner are the types of blocks inside the block, each with a label.
	Inner []Block
}

// These are arguments of projects, environments and the defaults block.
var (
	refreshes     = Argument{Name: "refresh", OneOf: []string{"all", "affected"}, Default: "that of the environment, then of `defaults`; else `\"all\"`", Doc: "Which objects a plan reads from their providers. With `\"affected\"`, a plan reads only the objects that its changes can affect. All others count as the state has them, and the comment says how many. Looks for drift and plans with `-destroy` read all objects. The base branch decides."}
	refreshesData = Argument{Name: "refresh_data", OneOf: []string{"all", "affected"}, Default: "as for `refresh`", Doc: "Which data sources a plan reads, if `refresh` is `\"affected\"`. The base branch decides."}
)

// usual are the arguments that a project block and the defaults block share.
var usual = []Argument{
	{Name: "workspace", Default: "`\"default\"`", Doc: "The workspace that Lockstep plans."},
	{Name: "environment", Default: "none", Doc: "The label of the `environment` block with the project's roles, secrets and variables."},
	{Name: "when_changed", Kind: texts, Default: "the files of its directory, its modules and its `var_files`", Doc: "Patterns of files. A pull request that changes one of them plans the project. A pattern that begins with `!` takes files out again, and later patterns win."},
	{Name: "var_files", Kind: texts, Default: "none", Doc: "Files with values of variables, as paths from the root of the repository. Later files win."},
	{Name: "variables", Kind: values, Default: "none", Doc: "Values of variables. They win over `var_files` and over the environment's variables."},
	{Name: "backend_config", Kind: files, Default: "none", Doc: "The arguments that the backend block leaves out: files with arguments, as paths from the root of the repository, or the arguments themselves."},
	{Name: "provider_parallelism", Kind: numbers, Default: "10 for all providers together", Doc: "The number of calls of a provider that may run at a time in a plan or an apply. The names are types or source addresses of providers: `{ aws = 4, \"registry.example.com/acme/dns\" = 1 }`."},
	{Name: "language", OneOf: []string{"1.11"}, Default: "the newest that Lockstep speaks", Doc: "The version of the Terraform language that the project is planned and applied with. Write `\"1.11\"` for a project that stays with Terraform 1.11."},
	refreshes, refreshesData,
	{Name: "test", Kind: boolean, Default: "`false`", Doc: "Whether Lockstep runs the tests of the project with each plan of a pull request, as a check of their own. Tests have mocks only, and no credentials. The base branch decides."},
	{Name: "mode", OneOf: []string{"active", "shadow"}, Default: "`\"active\"`", Doc: "With `\"shadow\"`, Lockstep only plans, beside the tool that applies today, and compares the two plans. It writes one neutral check, and nothing else. The base branch decides."},
	{Name: "apply", OneOf: []string{"comment", "merge"}, Default: "`\"comment\"`", Doc: "When Lockstep applies a plan: after a comment, before the merge, or by the merge. The base branch decides."},
}

// conditions are the arguments of a require block and of its alternatives.
var conditions = []Argument{
	{Name: "by", Kind: texts, Default: "everybody who may write", Doc: "People and teams who may give the command: `\"alice\"`, `\"acme/sre\"`."},
	{Name: "permission", OneOf: []string{"write", "admin"}, Default: "`\"write\"`", Doc: "The permission on the repository that the command needs."},
	{Name: "approvals", Kind: number, Default: "0", Doc: "The number of approving reviews that the head commit needs. Reviews by its authors do not count."},
	{Name: "approved_by", Kind: texts, Default: "everybody who may write", Doc: "People and teams whose approvals count."},
	{Name: "codeowners", Kind: boolean, Default: "`false`", Doc: "Whether an owner, by CODEOWNERS, must approve each changed file. For a project that something else changes, an owner of its configuration must approve."},
	{Name: "mergeable", Kind: boolean, Default: "`false`", Doc: "Whether GitHub must allow the merge. Lockstep's own check does not count."},
	{Name: "up_to_date", Kind: boolean, Default: "`false`", Doc: "Whether the head must contain the newest commit of the base branch."},
	{Name: "resolved", Kind: boolean, Default: "`false`", Doc: "Whether all conversations must be resolved."},
	{Name: "draft", Kind: boolean, Default: "drafts are allowed", Doc: "With `false`, the pull request must not be a draft."},
	{Name: "checks", Kind: texts, Default: "none", Doc: "Patterns of checks that must have passed, each `\"NAME\"` or `\"NAME by APP\"`."},
	{Name: "labels", Kind: texts, Default: "none", Doc: "Labels that the pull request must have."},
	{Name: "not_labels", Kind: texts, Default: "none", Doc: "Labels that the pull request must not have."},
	{Name: "windows", Kind: texts, Default: "always", Doc: "Times in which the command may be given: `\"Mon-Fri 08:00-17:00 Europe/Berlin\"`."},
	{Name: "freeze", Kind: texts, Default: "none", Doc: "Times in which the command may not be given: `\"2026-12-20/2027-01-06 UTC: holidays\"`."},
	{Name: "max_changes", Kind: number, Default: "no limit", Doc: "The largest number of objects that the plan may change."},
	{Name: "max_destroys", Kind: number, Default: "no limit", Doc: "The largest number of objects that the plan may destroy or replace."},
	{Name: "max_cost_increase", Kind: number, Default: "no limit", Doc: "The largest increase of the costs of a month, in the currency of the estimate. A `step` after the plan must report the costs as JSON of infracost."},
	{Name: "no_destroy", Kind: texts, Default: "none", Doc: "Patterns of resource types whose objects the plan must not destroy or replace: `\"aws_db_*\"`."},
	{Name: "no_risk", Kind: texts, OneOf: riskNames(), Default: "none", Doc: "Risks that the plan must not have, also if they are not certain."},
}

// riskNames are the names of all risks.
func riskNames() (out []string) {
	for _, n := range risks.Names {
		out = append(out, string(n))
	}
	return out
}

// endpoint are the arguments that name a function or a webhook.
var endpoint = []Argument{
	{Name: "function", Default: "none", Doc: "The ARN of the Lambda function."},
	{Name: "url", Default: "none", Doc: "The https URL of the webhook. A block has either `url` or `function`."},
	{Name: "secret", Default: "required with `url`", Doc: "The ARN of a secret in Secrets Manager. It has the key that signs requests to the webhook."},
	{Name: "timeout", Default: "`\"10s\"`", Doc: "The time to wait for an answer, from `\"1s\"` to `\"60s\"`."},
}

// These are the blocks of lockstep.hcl.
var (
	Project = Block{Type: "project", Label: "name", Doc: "A root module with its own plans and its own state. With `*` in the name and in `dir`, each directory becomes a project.",
		Args: slices.Concat([]Argument{{Name: "dir", Required: true, Doc: "The directory with the root module, as a path from the root of the repository."}}, usual, []Argument{
			{Name: "depends_on", Kind: texts, Default: "none", Doc: "Names or patterns of projects. A pull request that changes both applies those projects first."},
			{Name: "inputs", Kind: values, Default: "none", Doc: "Values of variables, made from outputs of other projects: `{ vpc_id = project.network.outputs.vpc_id }`. Lockstep applies those projects first. The values win over `var_files` and over the environment's variables."},
		})}
	Defaults    = Block{Type: "defaults", Doc: "Arguments for the projects that do not set them.", Args: usual}
	Environment = Block{Type: "environment", Label: "name", Doc: "Roles, secrets and variables of projects. Lockstep reads them from the base branch, except for `variables`.", Args: []Argument{
		{Name: "plan_role", Default: "`PlanTargetRoleArn` of the deployment", Doc: "The ARN of the role that providers assume for plans."},
		{Name: "apply_role", Default: "`ApplyTargetRoleArn` of the deployment", Doc: "The ARN of the role that providers assume for applies."},
		{Name: "external_id", Default: "`ExternalId` of the deployment", Doc: "The external ID for both roles."},
		{Name: "github", Default: "none", Doc: "The name of a GitHub environment. Its protection rules are conditions of each apply, and GitHub records each apply as a deployment to it."},
		{Name: "region", Default: "none", Doc: "The AWS region that providers find in their environment variables."},
		{Name: "variables", Kind: values, Default: "none", Doc: "Values of variables. The project's own variables win."},
		refreshes, refreshesData,
		{Name: "secrets", Kind: dict, Default: "none", Doc: "Environment variables with secrets. Each value is the ARN of a secret in Secrets Manager or of a parameter in SSM that `plan_role` and `apply_role` may read. `TF_VAR_x` sets the variable x, and `TF_TOKEN_host` is the token for modules and providers of a host."},
		{Name: "env", Kind: dict, Default: "none", Doc: "Environment variables of providers."},
		{Name: "runner", OneOf: []string{"codebuild"}, Default: "the function for applies, in parts of 15 minutes", Doc: "The machine that applies the projects: `codebuild` is a build in AWS CodeBuild of up to 36 hours. The deployment must have it."},
		{Name: "image", Default: "AWS' image for builds", Doc: "The image of the builds, for plans and applies: `ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME@sha256:DIGEST`. It can have the programs of steps. It needs `runner = \"codebuild\"`."},
		{Name: "branches", Kind: texts, Default: "all branches that Lockstep serves", Doc: "Patterns of base branches. Only pull requests into them may use the environment."},
		{Name: "deployment", Default: "the deployment without a name", Doc: "The name of the deployment of Lockstep that serves the environment's projects. You need it if several deployments serve one repository."},
	}}
	Allow = Block{Type: "allow", Doc: "Permissions of pull requests. The base branch decides.", Args: []Argument{
		{Name: "providers", Kind: texts, Default: "none", Doc: "Providers that may run beside those of the lock file: HOST/NAMESPACE/TYPE."},
		{Name: "provisioners", Kind: boolean, Default: "`false`", Doc: "Whether provisioners may run commands."},
		{Name: "external", Kind: boolean, Default: "`false`", Doc: "Whether the provider hashicorp/external may run programs."},
		{Name: "modules", Kind: texts, Default: "none", Doc: "Private sources of modules: HOST, s3://BUCKET, or github.com/OWNER/NAME."},
		{Name: "branches", Kind: texts, Default: "only the default branch", Doc: "Patterns of further base branches whose pull requests Lockstep plans."},
		{Name: "bots", Kind: texts, Default: "none", Doc: "Logins of Apps that may comment commands, as people with write permission may: `\"renovate[bot]\"`. Only the default branch's setting counts."},
		{Name: "commands", Kind: texts, OneOf: programs, Default: "an answer with Lockstep's command", Doc: "Programs whose commands in comments Lockstep obeys, if it has the same command."},
		{Name: "forks", Kind: boolean, Default: "`false`", Doc: "Whether Lockstep plans a commit of a fork, once somebody with write permission has named the commit. Such a plan has no credentials and reads a snapshot of the state."},
		{Name: "states", Kind: texts, Default: "none", Doc: "Patterns of state addresses that new projects may use: s3://BUCKET/KEY."},
	}}
	Check = Block{Type: "check", Doc: "The check run of a pull request.", Args: []Argument{
		{Name: "waiting", OneOf: []string{"neutral", "action_required"}, Default: "`\"neutral\"`", Doc: "The result of the check while a plan waits for its apply. With `neutral` GitHub allows the merge, with `action_required` it does not."},
	}}
	Automerge = Block{Type: "automerge", Doc: "Lockstep merges a pull request once all of its projects are applied. The base branch decides.", Args: []Argument{
		{Name: "method", OneOf: []string{"merge", "squash", "rebase"}, Default: "`\"merge\"`", Doc: "The merge method, which the repository's settings on GitHub must allow."},
		{Name: "delete_branch", Kind: boolean, Default: "`false`", Doc: "Whether Lockstep deletes the pull request's branch after the merge."},
	}}
	// Drift is parsed by package project.
	Drift = Block{Type: "drift", Doc: "Lockstep looks for drift: changes that somebody made outside of Lockstep. It plans each project of the default branch with `-refresh-only`, changes nothing, and opens an issue for each project with drift. The default branch decides.", Args: []Argument{
		{Name: "schedule", Default: "`\"rate(1 day)\"`", Doc: "How often Lockstep looks at each project: `\"rate(N hours)\"` or `\"rate(N days)\"`, between 1 hour and 31 days. The projects are spread over this time."},
		{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
		{Name: "ignore", Kind: texts, Default: "nothing", Doc: "Rules for drift that does not count, such as `\"aws_autoscaling_group.web.desired_capacity\"`, `\"*.*.tags.owner\"` or `\"module.web.aws_instance.*\"`. An object is ignored if each of its changes matches a rule."},
		{Name: "run_triggers", Kind: boolean, Default: "`false`", Doc: "Whether Lockstep, after each apply, plans the projects that depend on the applied one, and opens an issue for each with changes."},
	}}
	// Shadow is parsed by package project.
	Shadow = Block{Type: "shadow", Doc: "The tool that applies the projects with `mode = \"shadow\"`. Lockstep compares its own plans with those in the comments of this tool. The base branch decides.", Args: []Argument{
		{Name: "tool", Required: true, OneOf: shadowTools, Doc: "The program that writes the comments. `dflook` is the action dflook/terraform-plan."},
		{Name: "author", Required: true, Doc: "The login that writes the comments: `\"acme-atlantis[bot]\"`. Comments of other people and Apps do not count."},
	}}
	// Require is parsed by package requirements, which has its own errors.
	Require = Block{Type: "require", Label: "command", Doc: "Conditions of a command. All conditions of the block must be met, and those of one `alternative` if the block has any. The base branch decides.",
		Args: append([]Argument{
			{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
			{Name: "override", Kind: texts, Default: "nobody", Doc: "People and teams who may override the requirement by a comment: `\"alice\"`, `\"acme/sre\"`."},
		}, conditions...),
		Inner: []Block{{Type: "alternative", Label: "name", Doc: "A set of conditions. At least one set must be met.", Args: conditions}}}
	// Policy is parsed by package requirements.
	Policy = Block{Type: "policy", Label: "name", Doc: "A directory of Rego policies in conftest's layout. A result of the rules `deny` or `violation` denies the plan, and Lockstep shows results of `warn`. The base branch decides.",
		Args: []Argument{
			{Name: "dir", Default: "`\"policy\"`", Doc: "The directory with the policies, as a path from the root of the repository."},
			{Name: "data", Kind: texts, Default: "the files among the policies", Doc: "Directories with JSON and YAML files, as for conftest's `--data`. Policies find the files in `data`."},
			{Name: "repository", Default: "this repository", Doc: "The repository with the policies, OWNER/NAME, of the same account."},
			{Name: "ref", Default: "`\"main\"`", Doc: "A branch of that repository, or a full commit ID."},
			{Name: "namespaces", Kind: texts, Default: "`[\"main\"]`", Doc: "The packages whose rules count; `\"*\"` means all."},
			{Name: "rego", OneOf: []string{"v1", "v0"}, Default: "`\"v1\"`", Doc: "The version of Rego in which the policies are written."},
			{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
			{Name: "override", Kind: texts, Default: "nobody", Doc: "People and teams who may override the policy by a comment."},
		}}
	// Gate is parsed by package requirements.
	Gate = Block{Type: "gate", Label: "name", Doc: "A Lambda function or a webhook that must allow each plan. It receives the plan as JSON, without sensitive values, and answers with a verdict. The base branch decides.",
		Args: slices.Concat(endpoint, []Argument{
			{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
			{Name: "override", Kind: texts, Default: "nobody", Doc: "People and teams who may override the gate by a comment."},
		})}
	// Step is parsed by package requirements.
	Step = Block{Type: "step", Label: "name", Doc: "A program that Lockstep runs in the checkout of each plan or apply: a linter, a scanner, a generator. No shell sees its arguments. It sees nothing of other runs, and has no network and no credentials unless the block says so. The base branch decides.",
		Args: []Argument{
			{Name: "on", Required: true, OneOf: []string{"generate", "before_plan", "after_plan", "before_apply", "after_apply"}, Doc: "When the program runs. On `generate` it runs after each checkout and may write files into it, on which the plan then depends."},
			{Name: "program", Kind: texts, Required: true, Doc: "The name of a tool of `tools`, and its arguments. Lockstep replaces `{dir}`, `{checkout}`, `{files}`, `{workspace}`, `{head_sha}` and `{base_sha}` in arguments, and after the plan `{plan_json}`."},
			{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
			{Name: "env", Kind: dict, Default: "none", Doc: "Environment variables of the program."},
			{Name: "files", Kind: texts, Default: "none", Doc: "Files and directories that the program gets from the base branch, in the directory `{files}`: for example its configuration, which a pull request then cannot change."},
			{Name: "network", Kind: boolean, Default: "`false`", Doc: "Whether the program may use the network."},
			{Name: "role", OneOf: []string{"none", "plan"}, Default: "`\"none\"`", Doc: "With `\"plan\"`, the program gets the credentials that providers have for plans."},
			{Name: "timeout", Default: "`\"60s\"`", Doc: "The time limit of the program, from `\"1s\"` to `\"600s\"`."},
			{Name: "required", Kind: boolean, Default: "`true`", Doc: "Whether a failure blocks the apply. Before the apply, a failure refuses it; after the apply, it is only shown."},
			{Name: "override", Kind: texts, Default: "nobody", Doc: "People and teams who may override a failure before or after the plan by a comment."},
		}}
	// Terragrunt is parsed by package requirements, because it names a tool.
	Terragrunt = Block{Type: "terragrunt", Doc: "Directories with a `terragrunt.hcl` are projects. Lockstep runs the tool `terragrunt` of `tools` to find and to prepare them. The base branch decides.", Args: []Argument{
		{Name: "env", Kind: dict, Default: "none", Doc: "Environment variables of Terragrunt, for `get_env` and for its own settings: `{ TG_FEATURE = \"s3_version=v1\" }`."},
		{Name: "network", Kind: boolean, Default: "`false`", Doc: "Whether Terragrunt, and programs that it runs, may use the network. Lockstep fetches the modules of units itself."},
		{Name: "timeout", Default: "`\"60s\"`", Doc: "The time limit of each run of Terragrunt, from `\"1s\"` to `\"600s\"`."},
	}}
	// Hook is parsed by package endpoints.
	Hook = Block{Type: "hook", Label: "name", Doc: "A step of your own before or after plans and applies: a Lambda function, a webhook, or with `lockstep serve` a program. It receives the run as JSON, and a step before the run can refuse it. The base branch decides.",
		Args: slices.Concat([]Argument{
			{Name: "on", Kind: texts, Required: true, Doc: "The events of the hook: `\"before_plan\"`, `\"after_plan\"`, `\"before_apply\"`, `\"after_apply\"`."},
			{Name: "program", Default: "none", Doc: "The name of a program in the directory of `lockstep serve -hook-programs`."},
			{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
		}, endpoint)}
	// Notify is parsed by package endpoints.
	Notify = Block{Type: "notify", Label: "name", Doc: "A receiver of the outcomes of plans and applies. The base branch decides.",
		Args: slices.Concat([]Argument{
			{Name: "on", Kind: texts, Required: true, Doc: "The outcomes to send: `\"planned\"`, `\"unchanged\"`, `\"plan_failed\"`, `\"applied\"`, `\"apply_failed\"`, `\"apply_stopped\"`, `\"not_applied\"` for a merge without an apply, `\"drift\"` and `\"drift_over\"` for drift, and `\"out_of_date\"` for a project with changes since another one was applied."},
			{Name: "slack", Default: "none", Doc: "The ARN of a secret in Secrets Manager. It has the URL of an incoming webhook of Slack."},
			{Name: "topic", Default: "none", Doc: "The ARN of a topic of Amazon SNS."},
			{Name: "program", Default: "none", Doc: "The name of a program in the directory of `lockstep serve -hook-programs`."},
			{Name: "projects", Kind: texts, Default: "all projects", Doc: "Patterns of projects."},
		}, endpoint)}
	// file is lockstep.hcl itself. Args are its arguments, and it contains [blocks].
	file = Block{Args: []Argument{
		{Name: "exclude", Kind: texts, Default: "none", Doc: "Patterns of directories in which Lockstep looks for no projects."},
		{Name: "ignore_commands", Kind: texts, OneOf: programs, Default: "none", Doc: "Programs whose commands in comments Lockstep leaves to them, without an answer."},
		{Name: "discover", Kind: boolean, Default: "`true` without project blocks, otherwise `false`", Doc: "Whether each directory with a backend is a project, also beside `project` blocks."},
		{Name: "stateful", Kind: texts, Default: "the types that Lockstep knows", Doc: "Patterns of further resource types whose objects keep data: `\"acme_ledger\"`. To destroy or replace such an object is a risk. The base branch decides."},
		{Name: "tools", Kind: dict, Default: "none", Doc: "The tools of `step` blocks and of the `terragrunt` block: the SHA-256 checksum of each program's file, `{ tflint = \"sha256:...\" }`. `lockstep toolbox add` stores a program and writes its checksum here. The base branch decides."},
		{Name: "apply_unseen", Kind: boolean, Default: "`false`", Doc: "Whether one comment may ask for a plan and its apply. Lockstep then applies only a plan that creates objects or updates them in place. The base branch decides."},
	}}
)

// shadowTools are the tools that can apply the projects in shadow mode. programs are other programs
// whose commands in comments Lockstep knows.
var shadowTools = []string{"atlantis", "digger", "terrateam", "dflook", "tfcmt"}

var programs = []string{"atlantis", "digger", "terraform", "tofu"}

// blocks are the types of blocks in lockstep.hcl, in the order in which errors name them.
var blocks = []Block{Project, Defaults, Environment, Allow, Check, Automerge, Drift, Shadow, Require, Policy, Gate, Step, Terragrunt, Hook, Notify}

// Body returns the form of the block's content, for package hcl.
func (b Block) Body() *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, a := range b.Args {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: a.Name, Required: a.Required})
	}
	return s
}

// Arg returns an argument of the block by its name. It panics if the block has no such argument, because that
// is a mistake in Lockstep.
func (b Block) Arg(name string) Argument {
	i := slices.IndexFunc(b.Args, func(a Argument) bool { return a.Name == name })
	return b.Args[i]
}

// Remedy returns the sentence that ends an error about an argument that the block does not have.
func (b Block) Remedy() string {
	article := "A "
	if strings.ContainsAny(b.Type[:1], "aeio") {
		article = "An "
	}
	return article + b.Type + " block can have " + sentence(b.Args, func(a Argument) string { return a.Name }) + "."
}

// whole returns the form of the file. It also returns the sentence that ends an error about anything else in
// the file.
func whole(name string) (*hcl.BodySchema, string) {
	s := file.Body()
	for _, b := range blocks {
		h := hcl.BlockHeaderSchema{Type: b.Type}
		if b.Label != "" {
			h.LabelNames = []string{b.Label}
		}
		s.Blocks = append(s.Blocks, h)
	}
	return s, name + " has the arguments " + sentence(file.Args, func(a Argument) string { return a.Name }) +
		", and blocks of the types " + sentence(blocks, func(b Block) string { return b.Type }) + " only."
}

func sentence[T any](list []T, name func(T) string) string {
	var names []string
	for _, x := range list {
		names = append(names, name(x))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
