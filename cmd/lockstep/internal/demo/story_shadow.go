package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// shadowFile makes Lockstep plan beside Atlantis.
const shadowFile = `defaults {
  mode = "shadow"
}

shadow {
  tool   = "atlantis"
  author = "acme-atlantis[bot]"
}

`

// atlantisSays returns the comment of Atlantis about a plan of the network. lines are those about the objects.
func atlantisSays(lines, summary string) string {
	return "Ran Plan for dir: `network` workspace: `default`\n\n```diff\nTerraform will perform the following actions:\n\n" + lines + "\n" + summary + "\n\nChanges to Outputs:\n  + range = (known after apply)\n```\n\n* :arrow_forward: To **apply** this plan, comment:\n  ```shell\n  atlantis apply -d network\n  ```\n"
}

var shadowMode = Story{
	Name:  "shadow",
	Shows: "Lockstep plans beside Atlantis, writes one neutral check, and compares the two plans.",
	scenes: []scene{
		{title: "carol lets Lockstep plan in the shadow of Atlantis", do: by(func(r *githubtest.Repository) {
			r.Push("carol", "main", "Shadow mode", githubtest.Files{"lockstep.hcl": shadowFile + baseFiles["lockstep.hcl"]})
		})},
		opened("alice opens a pull request: there is one check, and no comment", "alice", "more", "One more subnet", more,
			"check lockstep shadow: neutral, Shadow mode: 1 plan waits for Atlantis"),
		commented("Atlantis comments its plan, and the two agree", "acme-atlantis[bot]", 1,
			atlantisSays("  # terraform_data.vpc will be created\n+   resource \"terraform_data\" \"vpc\" {\n    }\n\n  # terraform_data.more will be created\n+   resource \"terraform_data\" \"more\" {\n    }\n", "Plan: 2 to add, 0 to change, 0 to destroy."),
			"check lockstep shadow: neutral, Shadow mode: 1 plan agrees with Atlantis"),
		{title: "alice comments for both tools: Lockstep says and does nothing", never: []string{"Applied", "Not applied", "lockstep help"}, do: by(func(r *githubtest.Repository) {
			r.Comment("alice", 1, "atlantis apply")
			r.Comment("alice", 1, "lockstep apply")
		})},
		opened("bob opens another pull request", "bob", "zone", "A zone", zone, "check lockstep shadow: neutral, Shadow mode: 1 plan waits for Atlantis"),
		commented("the plan of Atlantis replaces what Lockstep creates: the check names the difference", "acme-atlantis[bot]", 2,
			atlantisSays("  # terraform_data.vpc must be replaced\n-/+ resource \"terraform_data\" \"vpc\" {\n    }\n", "Plan: 1 to add, 0 to change, 1 to destroy."),
			"check lockstep shadow: neutral, Shadow mode: 1 plan differs from Atlantis"),
		{title: "carol reads the report", do: by(func(*githubtest.Repository) {}), verify: shadowReported},
	},
}

// shadowReported prints the report about all plans of the story.
func shadowReported(ctx context.Context, w *World) error {
	all, err := shadow.Read(ctx, w.machine.Data.Records, func(pipeline.Pull) bool { return true })
	if err != nil {
		return err
	}
	s := shadow.Summarize(all, time.Time{})
	w.narrate("%d of %d compared plans agree", s.Agree, s.Agree+s.Differ)
	for _, r := range s.Differing {
		for _, d := range r.Differences {
			w.narrate("pull request %d: %s: Lockstep %s, %s %s", r.Pull, d.Address, d.Ours, r.Tool.Title(), d.Theirs)
		}
	}
	if s.Agree != 1 || s.Differ != 1 {
		return fmt.Errorf("the report says that %d plans agree and %d differ", s.Agree, s.Differ)
	}
	if len(s.Causes) == 0 {
		return errors.New("the report has no causes")
	}
	return nil
}
