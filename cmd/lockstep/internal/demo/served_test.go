package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// breaks is an object whose apply fails.
const breaks = `resource "terraform_data" "breaks" {
  lifecycle {
    postcondition {
      condition     = self.id == "x"
      error_message = "It went wrong."
    }
  }
}
`

// TestServedPages holds that the pages of `lockstep serve` tell of a pull request the same as its comment and its checks do, and
// that the list tells the same as the page.
func TestServedPages(t *testing.T) {
	t.Parallel()
	settings := func(text string) githubtest.Files { return githubtest.Files{"lockstep.hcl": text} }
	const both = "project \"network\" {\n  dir = \"network\"\n}\nproject \"app\" {\n  dir   = \"app\"\n  apply = \"merge\"\n}\n"
	push := func(branch string, files githubtest.Files) func(context.Context, *World) error {
		return by(func(r *githubtest.Repository) { r.Push("alice", branch, "More", files) })
	}
	s := Story{Name: "served", Shows: "Pages.", scenes: []scene{
		opened("a plan", "alice", "one", "One", githubtest.Files{"app/one.tf": oneObject("one")}),
		{title: "it is open", do: serves(1, "open: app applies on merge, waiting", "To apply this plan, merge the pull request.")},
		merged("it is merged", "carol", 1),
		{title: "its merge applies it", do: serves(1, "merged: app applied, good")},
		opened("another plan", "alice", "two", "Two", githubtest.Files{"network/two.tf": oneObject("two")}),
		merged("it is merged, too", "carol", 2),
		{title: "nobody has applied it", do: serves(2, "merged: network merged, not applied, waiting")},
		commented("it is planned again", "carol", 2, "lockstep retry", "**Planned**"),
		{title: "it waits", do: serves(2, "merged: network ready to apply, waiting")},
		commented("it is applied", "carol", 2, "lockstep apply", "**Applied**"),
		{title: "it is applied after the merge", do: serves(2, "merged: network applied, good")},
		{title: "an approval is required", do: push("main", settings(both+"require \"apply\" {\n  approvals = 1\n}\n"))},
		opened("plans without one", "alice", "three", "Three", githubtest.Files{"network/three.tf": oneObject("three"), "app/three.tf": oneObject("three")}),
		{title: "they are held", do: serves(3, "open: app needs approval, then applies on merge, waiting; network needs approval, waiting", "an approval of the planned commit")},
		{title: "the settings are broken", do: push("three", settings("project \"network\" {\n  dirr = \"network\"\n}\n"))},
		{title: "nothing can be applied", do: serves(3, "open: Failed: the projects could not be determined, bad; app superseded by a newer commit, quiet; network superseded by a newer commit, quiet", "on lockstep.hcl line 2", "!lockstep apply", "The text is the same as for <code>app</code>, above.")},
		{title: "it is closed", do: by(func(r *githubtest.Repository) { r.Close("alice", 3) })},
		{title: "its head is of no interest", do: serves(3, "closed: app superseded by a newer commit, quiet; network superseded by a newer commit, quiet", "!could not be determined")},
		{title: "nothing is required", do: push("main", settings(both))},
		opened("a conflict", "alice", "four", "Four", githubtest.Files{"network/four.tf": oneObject("four"), "app/four.tf": oneObject("four")}),
		{title: "the base branch has the same file", do: push("main", githubtest.Files{"network/four.tf": oneObject("other")})},
		{title: "one more push", do: push("four", githubtest.Files{"app/more.tf": oneObject("more")})},
		{title: "it cannot be merged", do: serves(4, "open: Failed: the branch conflicts with the base branch, bad; app superseded by a newer commit, quiet; network superseded by a newer commit, quiet", "rebase it. Then push")},
		opened("words alone", "alice", "five", "Five", githubtest.Files{"README.md": "Words."}),
		{title: "there is a page, which is not listed", do: serves(5, "", "changes no project", "This pull request changes no project")},
		opened("an apply that fails", "alice", "six", "Six", githubtest.Files{"network/six.tf": breaks, "app/six.tf": oneObject("six")}),
		commented("it is applied", "carol", 6, "lockstep apply -p network", "**Failed to apply** `network`"),
		{title: "the failure comes first", do: serves(6, "open: network failed to apply (2 added, 0 changed, 0 destroyed before the failure), bad; app applies on merge, waiting", "It went wrong.", "on six.tf line 4")},
		opened("a project in the way of that", "alice", "seven", "Seven", githubtest.Files{"network/seven.tf": oneObject("seven")}),
		{title: "the list tells what is in the way, too", do: serves(7, "open: network blocked by #6, which is applied and not merged, waiting", "#6 was applied to <code>network</code>")},
	}}
	var out bytes.Buffer
	if err := (&Teller{Out: &out}).Tell(t.Context(), s, Options{Dir: t.TempDir(), Version: "test"}); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// serves holds that the list has a line about a pull request, "" for none, and its page another one of the same words, with
// texts, and without those that begin with "!".
func serves(number int, line string, texts ...string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		s := w.machine.Site("https://github.com")
		all, err := s.Pulls(ctx)
		if err != nil {
			return err
		}
		listed := ""
		for _, p := range all {
			if p.Number == number {
				listed = lineOf(p)
			}
		}
		if d := cmp.Diff(line, listed); d != "" {
			return fmt.Errorf("the list: %s", d)
		}
		id := page.PullID{Owner: "acme", Name: "infrastructure", Number: number}
		p, err := s.Pull(ctx, id)
		if err != nil {
			return err
		}
		if d := cmp.Diff(line, lineOf(p)); line != "" && d != "" {
			return fmt.Errorf("the page: %s", d)
		}
		for _, v := range w.repo.Pulls() {
			if v.Number == number && (p.Head != v.Head || p.Standing != v.State) {
				return fmt.Errorf("it is %s at %s, and on GitHub %s at %s", p.Standing, p.Head, v.State, v.Head)
			}
		}
		return hasTexts(page.Handler{Site: s, Title: "runs"}, id.Path(), texts)
	}
}

// lineOf is a pull request on a page, without texts.
func lineOf(p page.Pull) string {
	var parts []string
	if p.Words != "" {
		parts = append(parts, fmt.Sprintf("%s, %s", p.Words, p.Tone))
	}
	for _, x := range p.Projects {
		parts = append(parts, fmt.Sprintf("%s %s, %s", x.Name, x.Standing, x.Tone))
	}
	return p.Standing + ": " + strings.Join(parts, "; ")
}

// hasTexts holds that a page has texts.
func hasTexts(h page.Handler, path string, texts []string) error {
	srv := httptest.NewServer(h.Server())
	defer srv.Close()
	res, err := http.Get(srv.URL + path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	for _, text := range texts {
		text, never := strings.CutPrefix(text, "!")
		if strings.Contains(string(body), text) == never {
			return fmt.Errorf("%q is on the page: %v, in\n%s", text, never, body)
		}
	}
	return nil
}
