package demo

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/page/pagetest"
	"github.com/lockstep-iac/lockstep/github"
)

// still is a site with one pull request, on which nothing happens.
type still struct{ pull page.Pull }

func (s still) Pulls(context.Context) ([]page.Pull, error)           { return []page.Pull{s.pull}, nil }
func (s still) Pull(context.Context, page.PullID) (page.Pull, error) { return s.pull, nil }
func (s still) Text(context.Context, page.PullID, page.TextKind, string) (string, error) {
	return "", page.ErrNotFound
}
func (s still) Changed(ctx context.Context, since uint64) uint64 {
	if since == 0 {
		return 1
	}
	<-ctx.Done()
	return since
}

// pullOfMany is the page of a pull request with n projects that have the same change, and some other ones.
func pullOfMany(n int, others ...comment.ProjectStatus) page.Pull {
	s := comment.Status{Head: strings.Repeat("ab", 20), Projects: others}
	for i := range n {
		name := fmt.Sprintf("svc-%03d", i)
		plan := fmt.Sprintf("**Plan:** 0 to add, 1 to change, 0 to destroy.\n\n<details open><summary>Changes</summary>\n\n```diff\n# module.service.terraform_data.service will be updated in-place\n!   resource \"terraform_data\" \"service\" {\n        id     = \"88d75d76-%04d\"\n!       input  = {\n!           logs = \"text\" -> \"json\"\n            name = %q\n        }\n    }\n```\n\n</details>\n", i, name)
		s.Projects = append(s.Projects, comment.ProjectStatus{Name: name, Standing: comment.Ready, PlanSummary: comment.PlanSummary{Counts: counting.Counts{Change: 1}, Hash: fmt.Sprintf("%064d", i)}, Texts: comment.Texts{Body: plan, Check: "lockstep/" + name}})
	}
	out := page.Pull{PullID: page.PullID{Owner: "acme", Name: "infra", Number: 5}, Title: "All services log as JSON", Author: "alice", Standing: "open", From: "logs", Into: "main", Head: s.Head}
	for _, p := range s.Projects {
		x := page.Project{Name: p.Name, Dir: p.Name, Workspace: "default", Standing: p.State(), Tone: page.Waiting, Summary: "1 to change"}
		c := page.Check{Name: "lockstep/" + p.Name, Status: "completed", Conclusion: "success", Title: "Ready to apply – 0 to add, 1 to change, 0 to destroy"}
		if p.Standing == comment.PlanFailed {
			x.Tone, x.Summary, c.Conclusion, c.Title = page.Bad, "", "failure", "Failed to plan"
		}
		out.Projects, out.Checks = append(out.Projects, x), append(out.Checks, c)
	}
	out.Entries = []page.Entry{{ID: "comment-1", Who: "lockstep[bot]", Bot: true, Body: s.Markdown(github.MaxComment)}}
	return out
}

// Many projects with one change are about as high as one. What failed or was denied is on the first screen, whatever
// else there is.
func TestManyProjectsAreShort(t *testing.T) {
	failed := comment.ProjectStatus{Name: "network", Standing: comment.PlanFailed, Texts: comment.Texts{Body: "```\nError: Unsupported argument\n\n  on main.tf line 3\n```\n", Check: "lockstep/network"}}
	ctx := pagetest.Browser(t)
	heights := map[string]int{}
	for name, pull := range map[string]page.Pull{"1": pullOfMany(1), "26": pullOfMany(26), "500": pullOfMany(500), "1-failed": pullOfMany(0, failed), "26-failed": pullOfMany(25, failed), "500-failed": pullOfMany(499, failed)} {
		server := httptest.NewServer(page.Handler{Site: still{pull}, Title: "test"}.Server())
		t.Cleanup(server.Close)
		for _, width := range []int64{390, 1280} {
			schemes := []string{"light", "dark", "print"}
			if *screenshots == "" {
				schemes = schemes[:1] // the others have other colours only
			}
			for _, scheme := range schemes {
				media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
				if scheme == "print" {
					media = emulation.SetEmulatedMediaParams{Media: "print"}
				}
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
					t.Fatal(err)
				}
				look(t, ctx, server.URL+pull.Path(), fmt.Sprintf("many-%s-%d-%s.png", name, width, scheme), width, scheme)
				err := chromedp.Do(ctx, chromedp.Navigate(server.URL+pull.Path()), chromedp.WaitReady("main"))
				if err != nil {
					t.Fatal(err)
				}
				const all, trouble = `document.documentElement.scrollHeight`, `(() => { const e = [...document.querySelectorAll("article h3, article td")].find(e => e.textContent.includes("failed to plan")); return e ? Math.round(e.getBoundingClientRect().bottom) : 0; })()`
				height, err := chromedp.Run(ctx, chromedp.Evaluate[int](all))
				if err != nil {
					t.Fatal(err)
				}
				at, err := chromedp.Run(ctx, chromedp.Evaluate[int](trouble))
				if bad := strings.HasSuffix(name, "failed"); err != nil || bad && (at == 0 || at > 900) {
					t.Errorf("%s, %d px, %s: the failure is at %d px (%v)", name, width, scheme, at, err)
				}
				heights[fmt.Sprintf("%s at %d px, %s", name, width, scheme)] = height
			}
		}
	}
	t.Log(heights)
	if h := heights["26 at 1280 px, light"]; h > 1600 {
		t.Errorf("26 projects with one change are %d px high", h)
	}
}
