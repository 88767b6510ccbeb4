package demo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var mergeApply = Story{
	Name:  "merge-apply",
	Shows: "Where lockstep.hcl says so, merging applies: the plan that was read, to the files that were planned, or nothing.",
	scenes: []scene{
		opened("carol opens a pull request for the application", "carol", "release", "Release 2026.11", newRelease,
			"1 to add, 0 to change, 0 to destroy", "will be applied on merge"),
		commented("she tries to apply it by a comment", "carol", 1, "lockstep apply",
			"**Not applied** `app`", "Merge the pull request: that applies the plan."),
		merged("so she merges", "carol", 1, "**Applied** `app`: 1 added, 0 changed, 0 destroyed"),
		opened("bob opens one for the next release", "bob", "next", "Release 2026.12",
			githubtest.Files{"app/main.tf": edit(baseFiles["app/main.tf"], `"2026.10"`, `"2026.12"`)}, "1 to add, 0 to change, 1 to destroy"),
		opened("meanwhile alice changes the module that it uses", "alice", "prod", "A stage of its own",
			edited("modules/naming/main.tf", `"live"`, `"prod"`), "1 to add, 1 to change, 0 to destroy"),
		merged("and merges", "alice", 3, "**Applied** `app`"),
		merged("bob's merge is not what he has read a plan of: nothing is applied", "bob", 2,
			"Merged, but not applied", "The plan was made from other files", "`modules/naming/main.tf`"),
	},
}

var supersede = Story{
	Name:  "supersede",
	Shows: "A push overtakes the plan that is being made of what was there before: only the newest is planned.",
	scenes: []scene{
		{title: "alice opens a pull request, and pushes again while it is being planned", do: pushedMeanwhile,
			want:  []string{"check lockstep/network: cancelled", "check lockstep/network: success, 3 to add", `"10.20.1.0/24"`},
			never: []string{"10.66."}},
		commented("what is applied is what was pushed last", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
	},
}

// pushedMeanwhile lets a worker take up a plan, and somebody push before it is made.
func pushedMeanwhile(ctx context.Context, w *World) error {
	w.repo.Push("alice", "subnets", "Two subnets, with a mistake", githubtest.Files{"network/subnets.tf": strings.ReplaceAll(subnetsFile, "local.range", `"10.66.0.0/16"`)})
	w.repo.OpenPull("alice", "Two subnets", "subnets")
	if _, err := w.hub.Deliver(ctx); err != nil {
		return err
	}
	var once sync.Once
	seen := make(chan struct{})
	handle := func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToPlan && m.Attempt == 1 {
			w.narrate("a worker begins to plan what was pushed first")
			w.repo.Push("alice", "subnets", "Two subnets", subnets)
			if _, err := w.hub.Deliver(ctx); err != nil {
				return err
			}
			select { // another worker handles the push
			case <-seen:
			case <-ctx.Done():
			}
		}
		err := w.machine.Pipeline.Handle(ctx, m)
		if m.Kind == pipeline.Pushed && m.Action == "synchronize" {
			once.Do(func() { close(seen) })
		}
		return err
	}
	_, err := w.machine.Data.Queue.Drain(ctx, localstore.Worker{Handle: handle, Abandon: w.machine.Pipeline.Abandon, Limit: 2})
	return err
}

// bigHosts is how many objects make a plan of more than a megabyte.
const bigHosts = 800

var bigPlan = Story{
	Name:  "big-plan",
	Shows: "A plan of more than a megabyte: GitHub is shown as much as it takes, and where the rest is.",
	scenes: []scene{
		{title: fmt.Sprintf("alice adds %d hosts", bigHosts), want: []string{fmt.Sprintf("%d to add", bigHosts+1), "All of it: <"}, holds: bigEnough,
			do: by(func(r *githubtest.Repository) {
				r.Push("alice", "hosts", "Hosts", many(bigHosts))
				r.OpenPull("alice", "Hosts", "hosts")
			})},
	},
}

// bigEnough holds that comment and check are within GitHub's limits, and that their
// link leads to the whole plan.
func bigEnough(ctx context.Context, w *World) error {
	for _, c := range w.repo.Comments(1) {
		if len(c.Body) > github.MaxComment {
			return fmt.Errorf("a comment has %d bytes", len(c.Body))
		}
		w.narrate("the comment has %d bytes", len(c.Body))
	}
	for _, c := range w.repo.Checks(w.repo.Head("hosts")) {
		if len(c.Summary) > github.MaxCheckText || len(c.Text) > github.MaxCheckText {
			return fmt.Errorf("the check has %d and %d bytes", len(c.Summary), len(c.Text))
		}
		w.narrate("the check has %d and %d bytes", len(c.Summary), len(c.Text))
	}
	repo := w.repo.Repo()
	url := w.URL + page.PullID{Owner: repo.Owner, Name: repo.Name, Number: 1}.PlanPath("network")
	if !strings.Contains(w.repo.Comments(1)[0].Body, "<"+url+">") {
		return fmt.Errorf("the comment does not link to %s", url)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"?raw", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	last := fmt.Sprintf("terraform_data.host[%d]", bigHosts-1)
	if res.StatusCode != http.StatusOK || len(text) < 1<<20 || !strings.Contains(string(text), last) {
		return fmt.Errorf("the whole plan at %s is %s, of %d bytes", url, res.Status, len(text))
	}
	w.narrate("the page behind the link has all %d bytes", len(text))
	return nil
}
