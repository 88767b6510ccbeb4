package demo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// bigHosts is the number of objects for a plan of more than a megabyte.
const bigHosts = 800

var bigPlan = Story{
	Name:  "big-plan",
	Shows: "A plan of more than a megabyte: the comment shows what fits and links to the rest.",
	scenes: []scene{
		{title: fmt.Sprintf("alice adds %d hosts", bigHosts), want: []string{fmt.Sprintf("%d to add", bigHosts+1), "The full text: <"}, verify: bigEnough,
			do: by(func(r *githubtest.Repository) {
				r.Push("alice", "hosts", "Hosts", many(bigHosts))
				r.OpenPull("alice", "Hosts", "hosts")
			})},
	},
}

// bigEnough checks that Lockstep's comment and check run are not larger than GitHub permits. It also checks
// that the link in both leads to the whole plan.
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
	url := w.URL + page.PullID{Owner: repo.Owner, Name: repo.Name, Number: 1}.TextPath(page.WholePlan, "network")
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

// many returns a project with n objects, each with a long text.
func many(n int) githubtest.Files {
	return githubtest.Files{"network/many.tf": fmt.Sprintf(`resource "terraform_data" "host" {
  count = %d
  input = {
    name  = format("host-%%04d", count.index)
    about = join(" ", [for n in range(40) : "host ${count.index} is connected to host ${n}"])
  }
}
`, n)}
}
