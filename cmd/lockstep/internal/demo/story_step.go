package demo

import (
	"context"
	"os"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// stepped returns a scene in which main gets the tool of the stories about steps, and more settings.
func stepped(title, settings string) scene {
	return scene{title: title, do: func(_ context.Context, w *World) error {
		tools, err := w.storeChecker()
		if err != nil {
			return err
		}
		w.hub.SetTeam("acme", "leads", "carol")
		w.repo.Push("carol", "main", "Steps", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + tools + settings})
		return nil
	}}
}

const rangesStep = `
step "ranges" {
  on       = "before_plan"
  program  = ["checker", "ranges", "{dir}"]
  projects = ["network"]
  override = ["acme/leads"]
}
`

const publicSubnet = "resource \"terraform_data\" \"guests\" {\n  input = \"192.0.2.0/24\"\n}\n"

var steps = Story{
	Name:  "steps",
	Shows: "A program of yours checks each plan, without network and credentials. Its failure blocks the apply.",
	scenes: []scene{
		stepped("main names a program by its checksum, and runs it before each plan of the network", rangesStep),
		opened("alice opens a pull request", "alice", "guests", "Guests", githubtest.Files{"network/guests.tf": publicSubnet},
			"**`ranges` failed**", "192.0.2.0/24 is outside of 10.0.0.0/8", "**denied** by step `ranges`: `the program ended with exit code 2`"),
		commented("she applies it all the same", "alice", 1, "lockstep apply", "**Not applied** `network`", "**denied** by step `ranges`"),
		{title: "she takes the step out of the settings, in her pull request", want: []string{"**denied** by step `ranges`"}, do: by(func(r *githubtest.Repository) {
			r.Push("alice", "guests", "No steps", githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"]})
		})},
		{title: "she corrects the range", want: []string{"`ranges` passed", "ready to apply"}, do: by(func(r *githubtest.Repository) {
			r.Push("alice", "guests", "A private range", githubtest.Files{"network/guests.tf": edit(publicSubnet, "192.0.2.0", "10.20.8.0")})
		})},
		commented("and now it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 2 added"),
	},
}

var sarif = Story{
	Name:  "sarif",
	Shows: "New findings of a pull request come first, on their lines. Known findings are only counted.",
	scenes: []scene{
		stepped("main runs a scanner, which blocks nothing", edit(edit(rangesStep, "  override = [\"acme/leads\"]\n", ""), "{dir}\"]\n", "{dir}\"]\n  required = false\n")),
		opened("alice opens a pull request", "alice", "guests", "Guests", githubtest.Files{"network/guests.tf": publicSubnet}, "**1 finding** (1 error), and no result of the base branch to compare with"),
		commented("nothing blocks it", "alice", 1, "lockstep apply", "**Applied** `network`"),
		merged("she merges it", "alice", 1),
		opened("bob opens another one, with a range of his own", "bob", "lab", "Lab", githubtest.Files{"network/lab.tf": edit(edit(publicSubnet, "guests", "lab"), "192.0.2.0", "198.51.100.0")},
			"**1 new finding** (1 error), 1 was there before", "198.51.100.0/24 is outside of 10.0.0.0/8"),
	},
}

var toolbox = Story{
	Name:  "toolbox",
	Shows: "Only the file runs that the base branch names by its checksum.",
	scenes: []scene{
		stepped("main names a program by its checksum", rangesStep),
		{title: "somebody exchanges the file in the toolbox", do: func(_ context.Context, w *World) error {
			if err := os.Remove(w.tool); err != nil {
				return err
			}
			return os.WriteFile(w.tool, []byte("#!/bin/sh\nexit 0\n"), 0o700)
		}},
		opened("alice opens a pull request", "alice", "more", "One more subnet", more, "**`ranges` did not start**", "the toolbox's file for the tool checker has the digest sha256:"),
		commented("her apply is blocked", "alice", 1, "lockstep apply", "**Not applied** `network`", "the step has no result: comment `lockstep plan` to run it again"),
		{title: "an operator stores the right file again", do: func(_ context.Context, w *World) error {
			if err := os.Remove(w.tool); err != nil {
				return err
			}
			_, err := w.storeChecker()
			return err
		}},
		commented("alice has it run again", "alice", 1, "lockstep plan", "`ranges` passed", "ready to apply"),
	},
}

var costGate = Story{
	Name:  "cost-gate",
	Shows: "A step reports what a plan costs, and the settings limit it.",
	scenes: []scene{
		stepped("main has the costs of each plan reported, and limits their increase", `
step "costs" {
  on       = "after_plan"
  program  = ["checker", "costs", "{plan_json}"]
  projects = ["network"]
}

require "apply" {
  projects          = ["network"]
  max_cost_increase = 10
  override          = ["acme/leads"]
}
`),
		opened("alice adds one subnet", "alice", "more", "One more subnet", more, "this change costs **8.40 USD a month more** (0.00 -> 8.40)", "met: a plan that raises the costs of a month by at most 10 (this plan: `8.4 USD`)"),
		{title: "and then a second one", want: []string{"**not met**: a plan that raises the costs of a month by at most 10 (this plan raises the costs by `12.6 USD`)"}, do: by(func(r *githubtest.Repository) {
			r.Push("alice", "more", "A second one", githubtest.Files{"network/second.tf": edit(edit(oneSubnet, "\"more\"", "\"second\""), "10.20.9.0", "10.20.10.0")})
		})},
		commented("she applies it all the same", "alice", 1, "lockstep apply", "**Not applied** `network`"),
		commented("carol has the money", "carol", 1, "lockstep override --reason \"the budget is approved\"", "**Requirements overridden** for the plan of `network` by `carol`"),
		commented("so it is applied", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
	},
}
