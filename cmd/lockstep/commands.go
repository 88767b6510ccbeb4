package main

import (
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/deploying"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/serving"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/surveying"
)

// commands returns the table of all commands, in the order of the help: one row for each command about pull
// requests, and the commands of [program.Engine].
func commands() cli.Table {
	var t cli.Table
	t.Add(cli.PullRequests, serving.Demo, "Runs all of Lockstep on this machine, with a simulated GitHub, a repository and pull requests with plans. It needs no account and no network, and removes its data at the end.", "lockstep demo -script")
	t.Add(cli.PullRequests, serving.Serve, "Runs the whole pipeline on this machine for a GitHub App of yours. -serves names the repositories, and a page shows runs and whole plans.", "lockstep serve -app-id 123456 -app-key lockstep.pem -webhook-secret secret.txt -serves acme/infra")
	t.Add(cli.PullRequests, deploying.Deploy, "Registers the GitHub App and creates the stack in your AWS account, or updates both. It shows all steps and asks before it changes anything; after an interruption, run it again and it continues.", "lockstep deploy -organization acme -region eu-central-1")
	t.Add(cli.PullRequests, deploying.Doctor, "Examines the GitHub App and the stack of a deployment, and changes nothing. For each problem it prints the command or setting that repairs it.", "lockstep deploy doctor")
	t.Add(cli.PullRequests, deploying.Cost, "Estimates the monthly price of a deployment on AWS: an idle month, plans and applies. It compares the price with that of an always-on server.", "lockstep cost -plans 2000 -applies 400")
	t.Add(cli.PullRequests, surveying.Projects, "Lists the projects of this repository that Lockstep plans on pull requests, with the address of each state. It reads files only, and needs no credentials.", "lockstep projects -json")
	t.Add(cli.PullRequests, surveying.ConfigCheck, "Checks lockstep.hcl or atlantis.yaml, and prints the projects and their order. Run it in the workflow of pull requests, to find mistakes before the merge.", "lockstep config check")
	t.Add(cli.PullRequests, surveying.ConfigImport, "Writes lockstep.hcl with the projects, arguments and requirements of an atlantis.yaml. Comments at the beginning of the file list the settings that Lockstep does not have.", "lockstep config import -server repos.yaml")
	t.Add(cli.PullRequests, surveying.ConfigSchema, "Prints the JSON Schema of lockstep.hcl. Editors use it to complete and check the file.", "lockstep config schema > lockstep.schema.json")
	t.Add(cli.PullRequests, serving.GateExplain, "Shows why Lockstep allowed or blocked the last command on a pull request: each rule with its facts. With -at, it decides again as of another time, to test windows and freezes.", "lockstep gate explain acme/infra#12")
	t.Add(cli.PullRequests, serving.AuditVerify, "Checks the audit records. Nobody may have changed, removed or reordered one, and each apply must have been allowed: the command decides again, from the recorded facts. For a copy of the records, it needs no network.", "lockstep audit verify -bucket lockstep-audit-1a2b3c -table lockstep-records-1a2b3c")
	t.Add(cli.PullRequests, serving.AuditLog, "Prints who asked for what, which plan was applied, who had approved it, and how the apply ended. It also prints JSON Lines, and events of the Open Cybersecurity Schema Framework.", "lockstep audit log -repo acme/infra -since 720h")
	t.Add(cli.PullRequests, serving.ShadowReport, "Shows how well Lockstep's plans agree with those of the tool that applies today, in projects with mode = \"shadow\". It lists each difference with its cause, how fast both tools were, and the cost.", "lockstep shadow report -repo acme/infra -since 336h")
	t.Add(cli.PullRequests, deploying.ToolboxAdd, "Stores a program for the step blocks of lockstep.hcl, in a deployment on AWS or in the data directory of lockstep serve. It writes the program's checksum into lockstep.hcl, so that no other file can run.", "lockstep toolbox add -bucket lockstep-toolbox-1a2b3c tflint ./tflint")
	t.Add(cli.PullRequests, cli.Group("toolbox", "Commands about the programs that steps run"), "Has the command that stores the programs of step blocks. Each program is one file, which lockstep.hcl names by its checksum.", "lockstep toolbox add tflint ./tflint")
	t.Add(cli.PullRequests, serving.PageLink, "Prints a link to a repository or a pull request on the page of a deployment on AWS. The link is valid for 15 minutes. It is for pages where people do not sign in.", "lockstep page link acme/infra#7")
	t.Add(cli.PullRequests, cli.Group("page", "Commands about the page of a deployment"), "Has the command that makes links to the page of a deployment on AWS. The page shows pull requests, plans, states and audit records.", "lockstep page link acme/infra")
	t.Add(cli.PullRequests, cli.Group("audit", "Commands about audit records"), "Has the commands that print audit records and check them. Lockstep records each decision about a state and the end of each apply.", "lockstep audit log -p network")
	t.Add(cli.PullRequests, cli.Group("shadow", "Commands about shadow mode"), "Has the command that reports about shadow mode. There Lockstep only plans, beside the tool that applies today, and compares the plans.", "lockstep shadow report")
	t.Add(cli.PullRequests, cli.Group("config", "Commands about lockstep.hcl, the settings of a repository"), "Has the commands that check, write and describe lockstep.hcl, the settings of a repository. They read files only.", "lockstep config check")
	t.Add(cli.PullRequests, cli.Group("gate", "Commands about requirements"), "Has the command that explains why Lockstep allowed or blocked a plan or an apply. The rules are the require blocks of lockstep.hcl on the base branch.", "lockstep gate explain acme/infra#12")
	t.Add(cli.PullRequests, surveying.Docs, "Prints a page or a section of the documentation. Without a topic, it lists all pages.", "lockstep docs guide/order")
	t.Add(cli.PullRequests, cli.Completion, "Prints lines for your shell's start file. With them, the shell completes the commands and options of Lockstep.", "lockstep completion bash >> ~/.bashrc")
	return slices.Concat(t, program.Engine())
}
