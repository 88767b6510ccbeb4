package main

import (
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/deploying"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/serving"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/surveying"
)

// commands is the table of all commands, in the order of the help: those about pull requests, one row each, and those of [program.Engine].
func commands() cli.Table {
	var t cli.Table
	t.Add(cli.PullRequests, serving.Demo, "Shows a small company in one process: a simulated GitHub, a repository, pull requests with plans, and all of Lockstep. It needs no account and no network, and removes its data at the end.", "lockstep demo -script")
	t.Add(cli.PullRequests, serving.Serve, "Runs the whole pipeline on this machine, for the repositories of a GitHub App that -serves names. Its page shows runs and whole plans, to whoever has the token in the file of -page-token.", "lockstep serve -addr 127.0.0.1:4141")
	t.Add(cli.PullRequests, deploying.Deploy, "Makes the GitHub App and the stack in an AWS account, or updates both. It shows each step before it takes it, and goes on where it was stopped.", "lockstep deploy -organization acme -region eu-central-1")
	t.Add(cli.PullRequests, deploying.Doctor, "Examines the App and the stack of an installation. It says what is wrong with them, and how to repair it.", "lockstep deploy doctor")
	t.Add(cli.PullRequests, deploying.Cost, "Estimates the monthly price of a deployment on AWS, from requests, durations and bytes that Lockstep's tests have recorded. It compares the price with that of always-on servers.", "lockstep cost -plans 2000 -applies 400")
	t.Add(cli.PullRequests, surveying.Projects, "Lists the projects that pull requests plan in this repository, with the address of each state. The command reads files only, and needs no credentials.", "lockstep projects -json")
	t.Add(cli.PullRequests, surveying.ConfigCheck, "Checks lockstep.hcl, or atlantis.yaml, and tells which projects it describes. Run it in a pull request's workflow, so that a mistake is found before the merge.", "lockstep config check")
	t.Add(cli.PullRequests, surveying.ConfigImport, "Writes lockstep.hcl with the projects, arguments and requirements of an atlantis.yaml. Comments at the beginning of the file name the parts that have no meaning in Lockstep.", "lockstep config import -server repos.yaml")
	t.Add(cli.PullRequests, surveying.ConfigSchema, "Prints the JSON Schema of lockstep.hcl. Editors use it to complete and check the file.", "lockstep config schema > lockstep.schema.json")
	t.Add(cli.PullRequests, serving.GateExplain, "Shows how the requirements decided on the last command about a pull request: each rule, and the facts that Lockstep read then. With -at it decides again at another time, for windows and freezes.", "lockstep gate explain acme/infra#12")
	t.Add(cli.PullRequests, cli.Group("config", "The repository's settings, lockstep.hcl"), "Checks, writes and describes lockstep.hcl, the settings of a repository. All of its commands read files only.", "lockstep config check")
	t.Add(cli.PullRequests, cli.Group("gate", "The requirements of lockstep.hcl"), "Explains decisions about plans and applies. The rules are the require blocks of the base branch's lockstep.hcl.", "lockstep gate explain acme/infra#12")
	t.Add(cli.PullRequests, surveying.Docs, "Prints a page of the documentation, or a section of it. Without a topic, the command lists all pages.", "lockstep docs guide/order")
	t.Add(cli.PullRequests, cli.Completion, "Prints the lines that make a shell complete Lockstep's commands and options. Put them into the shell's start file.", "lockstep completion bash >> ~/.bashrc")
	return slices.Concat(t, program.Engine())
}
