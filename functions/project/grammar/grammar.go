// Package grammar is the table of lockstep.hcl: its blocks, their arguments, and what each may be.
// The parser takes from it the names that it accepts and the remedy in its errors, and editors the
// JSON Schema ([Schema]): so neither has an argument that the other lacks.
//
// It refuses to know the meaning of a value. Start at [Block].
package grammar

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Kind is the form of an argument's value.
type Kind int

const (
	text    Kind = iota
	boolean      // true or false
	texts        // a list of texts
	dict         // texts by names
	values       // any values by names
	// files is a list of files' names, or values by names in their place.
	files
	number  // a whole one
	numbers // whole ones by names
)

// An Argument is one of a block.
type Argument struct {
	Name     string
	Kind     Kind
	Required bool
	OneOf    []string // the only values of a text, or of each in a list; nil: any
	Doc      string   // a sentence
}

// A Block is a type of block.
type Block struct {
	Type  string
	Label string // "" if it has none, and stands once in the file
	Doc   string
	Args  []Argument
	// Inner are the types of blocks in it, each with a label.
	Inner []Block
}

// usual are the arguments that a project block and the defaults block share.
var usual = []Argument{
	{Name: "workspace", Doc: "The workspace that is planned; \"default\" without this."},
	{Name: "environment", Doc: "The label of the environment block with the project's roles, secrets and variables."},
	{Name: "when_changed", Kind: texts, Doc: "Patterns of files whose change makes Lockstep plan the project; one with a ! before it takes files out again, and later ones win. Without this, the files of its directory and its modules."},
	{Name: "var_files", Kind: texts, Doc: "Files with values of variables, by paths from the repository's directory. Later ones win."},
	{Name: "variables", Kind: values, Doc: "Values of variables. They win over var_files and the environment's."},
	{Name: "backend_config", Kind: files, Doc: "The part of the backend block that is not in the configuration: files with arguments, by paths from the repository's directory, or the arguments themselves."},
	{Name: "provider_parallelism", Kind: numbers, Doc: "How many calls of a provider may run at a time in a plan or an apply, by the provider's type or source address: { aws = 4, \"registry.example.com/acme/dns\" = 1 }. Without this, as many as of all providers together: 10."},
	{Name: "apply", OneOf: []string{"comment", "merge"}, Doc: "The occasion on which a plan is applied: a comment before the merge, or the merge. The base branch decides."},
}

// conditions are those of a require block, and of its alternatives.
var conditions = []Argument{
	{Name: "by", Kind: texts, Doc: "People and teams who may give the command."},
	{Name: "permission", OneOf: []string{"write", "admin"}, Doc: "The permission on the repository of who gives the command."},
	{Name: "approvals", Kind: number, Doc: "The number of approving reviews of the head, by others than its authors."},
	{Name: "approved_by", Kind: texts, Doc: "People and teams whose approvals count."},
	{Name: "codeowners", Kind: boolean, Doc: "Whether the owners of the changed files, by CODEOWNERS, must have approved, and those of a project that is changed by something else."},
	{Name: "mergeable", Kind: boolean, Doc: "Whether GitHub must allow the merge, but for our own check."},
	{Name: "up_to_date", Kind: boolean, Doc: "Whether the head must contain the tip of the base branch."},
	{Name: "resolved", Kind: boolean, Doc: "Whether all conversations must be resolved."},
	{Name: "draft", Kind: boolean, Doc: "false: the pull request must be no draft."},
	{Name: "checks", Kind: texts, Doc: "Patterns of checks that must have passed, each \"NAME\" or \"NAME by APP\"."},
	{Name: "labels", Kind: texts, Doc: "Labels that the pull request must have."},
	{Name: "not_labels", Kind: texts, Doc: "Labels that it must not have."},
	{Name: "windows", Kind: texts, Doc: "Times in which the command may be given."},
	{Name: "freeze", Kind: texts, Doc: "Times in which it may not."},
	{Name: "max_changes", Kind: number, Doc: "The most objects that the plan may change."},
	{Name: "max_destroys", Kind: number, Doc: "The most objects that it may destroy or replace."},
	{Name: "no_destroy", Kind: texts, Doc: "Patterns of resource types that it must not destroy or replace."},
}

// endpoint are the arguments that name a function or a webhook.
var endpoint = []Argument{
	{Name: "function", Doc: "The ARN of the Lambda function."},
	{Name: "url", Doc: "The URL of the webhook, https; either this or function."},
	{Name: "secret", Doc: "The ARN of the secret in Secrets Manager with the key that requests to the webhook are signed with."},
	{Name: "timeout", Doc: "The time for an answer, from \"1s\" to \"60s\"; \"10s\" without this."},
}

// Blocks of lockstep.hcl.
var (
	Project = Block{Type: "project", Label: "name", Doc: "A root module with its own plans and its own state. A * in the name and in dir makes a project of each directory.",
		Args: slices.Concat([]Argument{{Name: "dir", Required: true, Doc: "The directory with the root module, from the repository's."}}, usual, []Argument{
			{Name: "depends_on", Kind: texts, Doc: "Names or patterns of the projects that are applied before this one, where a pull request changes both."},
			{Name: "inputs", Kind: values, Doc: "Values of variables that are made of the outputs of other projects, which are applied before this one: { vpc_id = project.network.outputs.vpc_id }. They win over var_files and the environment's variables."},
		})}
	Defaults    = Block{Type: "defaults", Doc: "Arguments for the projects that do not set them.", Args: usual}
	Environment = Block{Type: "environment", Label: "name", Doc: "Roles, secrets and variables of projects. All but variables counts as the base branch has it.", Args: []Argument{
		{Name: "plan_role", Doc: "The ARN of the role that providers have while they plan."},
		{Name: "apply_role", Doc: "The ARN of the role that providers have while they apply."},
		{Name: "external_id", Doc: "The external ID with which these roles are assumed."},
		{Name: "github", Doc: "The environment of GitHub whose protection rules are conditions of each apply, and in which it is recorded as a deployment."},
		{Name: "region", Doc: "The region that providers find in their environment."},
		{Name: "variables", Kind: values, Doc: "Values of variables, which the projects' own win over."},
		{Name: "secrets", Kind: dict, Doc: "Secrets by names of environment variables, each the ARN of a secret in Secrets Manager or of a parameter in SSM, which plan_role and apply_role may read. TF_VAR_x is the variable x, TF_TOKEN_host the token of a host that modules and providers come from; others are for providers."},
		{Name: "env", Kind: dict, Doc: "Environment variables of providers."},
		{Name: "runner", OneOf: []string{"codebuild"}, Doc: "Where projects are applied: codebuild is a build in AWS CodeBuild, of up to 36 hours, if the deployment has it; without this, the function for applies, in parts of 15 minutes."},
		{Name: "branches", Kind: texts, Doc: "Patterns of the base branches whose pull requests may use the environment; without this, all that are served."},
		{Name: "deployment", Doc: "The name of the deployment of Lockstep that serves the environment's projects, where several are on one repository; without this, the one without a name."},
	}}
	Allow = Block{Type: "allow", Doc: "Permissions of pull requests, as the base branch has them.", Args: []Argument{
		{Name: "providers", Kind: texts, Doc: "Providers that may be run beside those of the lock file: HOST/NAMESPACE/TYPE."},
		{Name: "provisioners", Kind: boolean, Doc: "Whether provisioners may run commands."},
		{Name: "external", Kind: boolean, Doc: "Whether the provider hashicorp/external may run programs."},
		{Name: "modules", Kind: texts, Doc: "Private places that modules may come from: HOST, s3://BUCKET, or github.com/OWNER/NAME."},
		{Name: "branches", Kind: texts, Doc: "Patterns of further base branches that are served."},
		{Name: "bots", Kind: texts, Doc: "Logins of Apps whose comments are commands, as those of people who may write: \"renovate[bot]\". Counts on the default branch."},
		{Name: "commands", Kind: texts, OneOf: programs, Doc: "Programs whose commands in comments are carried out as ours, where we have the same; without this, they are answered with ours."},
		{Name: "forks", Kind: boolean, Doc: "Whether a commit of a fork is planned, without credentials and from a snapshot of the state, once somebody who may write has named it."},
		{Name: "states", Kind: texts, Doc: "Patterns of addresses for states of new projects: s3://BUCKET/KEY."},
	}}
	Check = Block{Type: "check", Doc: "The check run of a pull request.", Args: []Argument{
		{Name: "waiting", OneOf: []string{"neutral", "action_required"}, Doc: "The outcome of the check while a plan waits to be applied: neutral lets the pull request be merged, action_required does not."},
	}}
	Automerge = Block{Type: "automerge", Doc: "The merge of a pull request by Lockstep, once all of its projects are applied, as the base branch has it.", Args: []Argument{
		{Name: "method", OneOf: []string{"merge", "squash", "rebase"}, Doc: "The way to merge, which GitHub must allow for the repository; \"merge\" without this."},
		{Name: "delete_branch", Kind: boolean, Doc: "Whether the pull request's branch is deleted afterwards."},
	}}
	// Require is read by package requirements, which has errors of its own.
	Require = Block{Type: "require", Label: "command", Doc: "Conditions of a command, as the base branch has them: all of them must hold, and one of the alternatives, if there are any.",
		Args: append([]Argument{
			{Name: "projects", Kind: texts, Doc: "Patterns of projects; without this, all."},
			{Name: "override", Kind: texts, Doc: "People and teams who may lift the requirement by a comment: \"alice\", \"acme/sre\"."},
		}, conditions...),
		Inner: []Block{{Type: "alternative", Label: "name", Doc: "Conditions of which one set must hold.", Args: conditions}}}
	// Policy is read by package requirements, too.
	Policy = Block{Type: "policy", Label: "name", Doc: "A directory of Rego policies, as the base branch has it, in conftest's layout: its rules deny and violation must not deny the plan, and its rules warn are shown.",
		Args: []Argument{
			{Name: "dir", Doc: "The directory with the policies, from the repository's; \"policy\" without this."},
			{Name: "data", Kind: texts, Doc: "Directories with JSON and YAML files, each of which is data of the policies from its own directory on, as with conftest's --data: \"policy/data\". Those in the directory with the policies are data from that one on."},
			{Name: "repository", Doc: "The repository with the directories, owner/name, of the same account; without this, this one."},
			{Name: "ref", Doc: "A branch of that repository, or the whole ID of a commit; \"main\" without this."},
			{Name: "namespaces", Kind: texts, Doc: "The packages whose rules count, \"*\" for all; \"main\" without this."},
			{Name: "rego", OneOf: []string{"v1", "v0"}, Doc: "The version of Rego that the policies are in; \"v1\" without this."},
			{Name: "projects", Kind: texts, Doc: "Patterns of projects; without this, all."},
			{Name: "override", Kind: texts, Doc: "People and teams who may lift the policy by a comment; without this, nobody may."},
		}}
	// Gate is read by package requirements, too.
	Gate = Block{Type: "gate", Label: "name", Doc: "A Lambda function, or a webhook, that must allow each plan, as the base branch has it: it gets the plan as JSON, without sensitive values, and answers with a verdict.",
		Args: slices.Concat(endpoint, []Argument{
			{Name: "projects", Kind: texts, Doc: "Patterns of projects; without this, all."},
			{Name: "override", Kind: texts, Doc: "People and teams who may lift the gate by a comment; without this, nobody may."},
		})}
	// Hook is read by package endpoints.
	Hook = Block{Type: "hook", Label: "name", Doc: "A step of one's own before or after plans and applies, as the base branch has it: a Lambda function, a webhook, or with lockstep serve a program. It gets the run as JSON; one before something can refuse it.",
		Args: slices.Concat([]Argument{
			{Name: "on", Kind: texts, Required: true, Doc: "The events of the hook: \"before_plan\", \"after_plan\", \"before_apply\", \"after_apply\"."},
			{Name: "program", Doc: "The name of a file in the directory of lockstep serve's option -hook-programs."},
			{Name: "projects", Kind: texts, Doc: "Patterns of projects; without this, all."},
		}, endpoint)}
	// Notify is read by package endpoints.
	Notify = Block{Type: "notify", Label: "name", Doc: "Who is told of the outcomes of plans and applies, as the base branch has it.",
		Args: slices.Concat([]Argument{
			{Name: "on", Kind: texts, Required: true, Doc: "The outcomes to tell of: \"planned\", \"unchanged\", \"plan_failed\", \"applied\", \"apply_failed\", \"apply_stopped\", \"not_applied\" (though merged)."},
			{Name: "slack", Doc: "The ARN of the secret in Secrets Manager with the URL of an incoming webhook of Slack."},
			{Name: "topic", Doc: "The ARN of a topic of Amazon SNS."},
			{Name: "program", Doc: "The name of a file in the directory of lockstep serve's option -hook-programs."},
			{Name: "projects", Kind: texts, Doc: "Patterns of projects; without this, all."},
		}, endpoint)}
	// file is lockstep.hcl itself: Args are its arguments, and [blocks] stand in it.
	file = Block{Args: []Argument{
		{Name: "exclude", Kind: texts, Doc: "Patterns of directories without projects."},
		{Name: "ignore_commands", Kind: texts, OneOf: programs, Doc: "Programs whose commands in comments are left to them: Lockstep neither carries them out nor answers them."},
		{Name: "discover", Kind: boolean, Doc: "Whether each directory with a backend is a project, also beside project blocks. Without this, only if there are no project blocks."},
		{Name: "apply_unseen", Kind: boolean, Doc: "Whether a comment may ask for a plan and its apply at once, as the base branch has it: only a plan that creates and updates in place is applied so. Without this, a plan is shown first."},
	}}
)

// programs are those whose commands in comments Lockstep knows, beside its own.
var programs = []string{"atlantis", "digger", "terraform", "tofu"}

// blocks are the types of blocks in lockstep.hcl, in the order in which errors name them.
var blocks = []Block{Project, Defaults, Environment, Allow, Check, Automerge, Require, Policy, Gate, Hook, Notify}

// Body is the form of the block's content, for package hcl.
func (b Block) Body() *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, a := range b.Args {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: a.Name, Required: a.Required})
	}
	return s
}

// Arg returns an argument of the block by its name; one that it does not have is our mistake, and
// panics.
func (b Block) Arg(name string) Argument {
	i := slices.IndexFunc(b.Args, func(a Argument) bool { return a.Name == name })
	return b.Args[i]
}

// Remedy is the sentence that ends an error about an argument that the block does not have.
func (b Block) Remedy() string {
	article := "A "
	if strings.ContainsAny(b.Type[:1], "aeio") {
		article = "An "
	}
	return article + b.Type + " block can have " + sentence(b.Args, func(a Argument) string { return a.Name }) + "."
}

// whole is the form of the file, and the sentence that ends an error about anything else in it.
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
