package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var annotations = Story{
	Name:  "annotations",
	Shows: "Lines of the pull request say which changes they cause, beside the lines themselves.",
	scenes: append(firstNetwork[:len(firstNetwork):len(firstNetwork)],
		scene{title: "bob moves the network to another range of addresses", do: by(func(r *githubtest.Repository) {
			r.Push("bob", "range", "Another range", edited("network/main.tf", `"10.20.0.0/16"`, `"10.30.0.0/16"`))
			r.OpenPull("bob", "Another range", "range")
		}), want: []string{"to change"}, verify: annotated("range")},
	),
}

// annotated returns a check of a scene. It prints the annotations on the lines of a branch, and fails if there are
// none.
func annotated(branch string) func(context.Context, *World) error {
	return func(_ context.Context, w *World) error {
		found := false
		for _, c := range w.repo.Checks(w.repo.Head(branch)) {
			for _, a := range c.Annotations {
				found = true
				w.narrate("%s, line %d, has the annotation: %s", a.Path, a.First, a.Message)
			}
		}
		if !found {
			return errors.New("no line has an annotation")
		}
		return nil
	}
}

var history = Story{
	Name:  "history",
	Shows: "The comment keeps what was planned and applied before, by whom. Outdated answers are folded.",
	scenes: []scene{
		opened("alice opens a pull request", "alice", "subnets", "Two subnets", subnets, "3 to add"),
		commented("bob wants a plan of his own", "bob", 1, "lockstep plan", "**Planned** `network`: 3 to add", "History: 1 earlier outcome"),
		commented("alice applies", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
		{title: "and pushes once more: the answer to bob is outdated", do: by(func(r *githubtest.Repository) {
			r.Push("alice", "subnets", "A zone", zone)
		}), want: []string{"1 to add", "History: 2 earlier outcomes", "minimizes", "applied – 3 added, 0 changed, 0 destroyed"}},
	},
}

// manyServices is the number of services with the same change in the story of the same name.
const manyServices = 12

var manyProjects = Story{
	Name:  "many-projects",
	Shows: "Many projects with the same change are one plan to read. What failed comes first.",
	scenes: []scene{
		{title: fmt.Sprintf("main gets %d services", manyServices), do: by(func(r *githubtest.Repository) {
			files := githubtest.Files{"lockstep.hcl": baseFiles["lockstep.hcl"] + "\nproject \"svc-*\" {\n  dir = \"services/*\"\n}\n"}
			for i := range manyServices {
				files[fmt.Sprintf("services/s%02d/main.tf", i)] = service
			}
			r.Push("carol", "main", "Services", files)
		})},
		{title: "alice changes the name of all of them, and breaks one", do: by(func(r *githubtest.Repository) {
			files := edited("modules/naming/main.tf", `"live"`, `"prod"`)
			files["services/s07/main.tf"] = service + "\noutput \"broken\" {\n  value = local.nothing\n}\n"
			r.Push("alice", "names", "Other names", files)
			r.OpenPull("alice", "Other names", "names")
		}), want: []string{"1 project failed to plan", fmt.Sprintf("All %d projects", manyServices-1), "check lockstep/svc-s07: failure"}},
	},
}

// zoneFile makes an object on which another one depends.
const zoneFile = `resource "terraform_data" "zone" {
  triggers_replace = "example.org"
  input            = "public"
}

resource "terraform_data" "record" {
  input = "www, ${terraform_data.zone.input}"
}
`

var riskGate = Story{
	Name:  "risk-gate",
	Shows: "What destroys data is a risk with a name. Settings block it, and the leads decide.",
	scenes: []scene{
		requires("zones keep data here, and their destruction needs a lead", baseFiles.With(githubtest.Files{
			"lockstep.hcl":    baseFiles["lockstep.hcl"] + "\nstateful = [\"terraform_data\"]\n\nrequire \"apply\" {\n  no_risk  = [\"stateful-destroy\", \"stateful-replace\"]\n  override = [\"acme/leads\"]\n}\n",
			"network/zone.tf": zoneFile,
		}), "leads", "carol"),
		opened("alice makes a subnet", "alice", "more", "One more subnet", more, "4 to add"),
		commented("which nobody minds", "alice", 1, "lockstep apply", "**Applied** `network`: 4 added"),
		merged("and merges", "alice", 1),
		opened("bob removes the record, which keeps data", "bob", "less", "No record", githubtest.Files{"network/zone.tf": "resource \"terraform_data\" \"zone\" {\n  triggers_replace = \"example.org\"\n  input            = \"public\"\n}\n"},
			"**Risk** `stateful-destroy`: destroys an object of the type `terraform_data`", "**not met**"),
		commented("he applies it all the same", "bob", 2, "lockstep apply", "**Not applied** `network`"),
		commented("carol has a copy", "carol", 2, "lockstep override --reason \"there is a copy\"", "**Requirements overridden** for the plan of `network` by `carol`"),
		commented("so it is applied", "bob", 2, "lockstep apply", "**Applied** `network`: 0 added, 0 changed, 1 destroyed"),
	},
}

var blastRadius = Story{
	Name:  "blast-radius",
	Shows: "A plan that replaces something shows what depends on it, as a number and as a picture.",
	scenes: []scene{
		requires("zones keep data here", baseFiles.With(githubtest.Files{
			"lockstep.hcl":    baseFiles["lockstep.hcl"] + "\nstateful = [\"terraform_data\"]\n",
			"network/zone.tf": zoneFile,
		}), "leads", "carol"),
		opened("alice makes a subnet", "alice", "more", "One more subnet", more, "4 to add"),
		commented("and applies it", "alice", 1, "lockstep apply", "**Applied** `network`: 4 added"),
		merged("and merges", "alice", 1),
		opened("bob replaces the zone", "bob", "zone", "Another zone", githubtest.Files{"network/zone.tf": edit(zoneFile, `triggers_replace = "example.org"`, `triggers_replace = "example.com"`)},
			"**Risk** `stateful-replace`", "1 other object depends on what changes.", "terraform_data.zone: replaced"),
	},
}
