package requirementfacts

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hmarr/codeowners"

	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestFind plays the paragraphs of testdata/facts.txt: a title, steps of a [scene], and in lines with "=" the
// requests and the facts that Find leads to.
func TestFind(t *testing.T) {
	const file = "testdata/facts.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	paragraphs := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		t.Run(lines[0], func(t *testing.T) {
			s := newScene(t)
			var want, kept []string
			for j, line := range lines {
				if w, ok := strings.CutPrefix(line, "  = "); ok {
					want = append(want, w)
					continue
				}
				kept = append(kept, line)
				if j > 0 && !strings.HasPrefix(line, "#") {
					s.step(line)
				}
			}
			if diff := cmp.Diff(want, s.lines); diff != "" && !golden.Updating() {
				t.Errorf("(-want +got, -update writes it anew)\n%s", diff)
			}
			for _, line := range s.lines {
				kept = append(kept, "  = "+line)
			}
			paragraphs[i] = strings.Join(kept, "\n")
		})
	}
	golden.Update(t, file, strings.Join(paragraphs, "\n\n")+"\n")
}

// TestFaultsOpenNothing holds for every request of every rule, and every way in which GitHub does not answer, that the
// rule is not fulfilled then: the fact is unknown, or the command is tried again.
func TestFaultsOpenNothing(t *testing.T) {
	for _, rule := range []string{
		`by = ["acme/sre"]`, `permission = "write"`, `approvals = 1`, `approved_by = ["acme/sre"]`, `codeowners = true`, `mergeable = true`,
		`up_to_date = true`, `resolved = true`, `checks = ["ci/*"]`, `labels = ["urgent"]`, `not_labels = ["x"]`,
		"in production", "in guarded",
	} {
		asked, allowed, err := fulfilled(t, rule, "", "")
		if err != nil || !allowed || len(asked) == 0 {
			t.Errorf("%s: without a fault it is not fulfilled: %v", rule, err)
		}
		for _, request := range asked {
			for _, status := range []string{"limited", "403", "404", "410", "451"} {
				_, allowed, err := fulfilled(t, rule, "/"+strings.TrimPrefix(request, "/"), status)
				switch {
				case (err != nil) != (status == "limited"):
					t.Errorf("%s: %s is answered with %s, which leads to the error %v", rule, request, status, err)
				case allowed && !harmless(rule, request, status):
					t.Errorf("%s: it is fulfilled though %s is answered with %s", rule, request, status)
				}
			}
		}
	}
}

// harmless reports whether a rule can hold though a request fails: the first of the places of CODEOWNERS may be empty, owners
// whom GitHub leaves out are named alone, and the right of who asks is a rule of its own.
func harmless(rule, request, status string) bool {
	return strings.Contains(request, ".github/CODEOWNERS") && status == "404" || request == "codeowners/errors" ||
		strings.HasSuffix(request, "zoe/permission") && !strings.HasPrefix(rule, "permission") && !strings.HasPrefix(rule, "labels")
}

// fulfilled finds the facts for a rule where all is well but requests to a path, and decides by them.
func fulfilled(t *testing.T, rule, path, status string) (asked []string, allowed bool, err error) {
	s := newScene(t)
	steps := []string{
		"base CODEOWNERS net/ @bob", "update", "team acme/sre zoe bob", "review bob approved", "label zoe +urgent",
		"check ci/x buildkite completed success", "protect clean ci/x", "planned",
		"environment production notself reviewers=acme/sre branches=ma*", "environment guarded protected wait=1",
	}
	for _, step := range steps {
		s.step(step)
	}
	pull, err := s.client.PullRequest(t.Context(), s.number)
	if err != nil {
		t.Fatal(err)
	}
	s.requests, s.subject.Actor, s.subject.Shown = nil, "zoe", s.hub.Now().Add(-time.Hour)
	if path != "" {
		s.faults[path] = status
	}
	f := &Finder{Hub: s.client, Pull: pull, Base: s.repo.Head("main"), Now: s.hub.Now()}
	if name, ok := strings.CutPrefix(rule, "in "); ok {
		s.in = name
	} else {
		s.body = rule
	}
	all := s.required()
	facts, err := f.Find(t.Context(), requirementrules.Needed(all), s.subject)
	return s.requests, requirementrules.Decide(requirementrules.Question{Command: "apply", Requirements: all, Facts: facts}).Outcome.Allows(), err
}

// TestMaxLine holds that the library reads a file whose longest line is the longest that is allowed.
func TestMaxLine(t *testing.T) {
	t.Parallel()
	rules, err := codeowners.ParseFile(strings.NewReader("* @bob\n" + strings.Repeat("#", maxLine) + "\n* @cat\n"))
	if err != nil || len(rules) != 2 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}

// A renaming hub lists changed files as GitHub does after renames: in another order, and some twice.
type renaming struct{ Hub }

func (renaming) ChangedFiles(context.Context, int) (files []github.FileChange, all bool, err error) {
	return []github.FileChange{{Path: "net/b.tf", Was: "net/a.tf"}, {Path: "net/c.tf", Was: "net/b.tf"}}, true, nil
}

// TestOwnersOfRenamedFiles holds that each path is there once.
func TestOwnersOfRenamedFiles(t *testing.T) {
	s := newScene(t)
	s.step("base CODEOWNERS * @bob")
	pull, err := s.client.PullRequest(t.Context(), s.number)
	if err != nil {
		t.Fatal(err)
	}
	o, err := (&Finder{Hub: renaming{s.client}, Pull: pull, Base: s.repo.Head("main"), Now: s.hub.Now()}).ownership(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owned, err := o.owned(s.subject)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range owned {
		got = append(got, o.Path)
	}
	if diff := cmp.Diff([]string{"net/a.tf", "net/b.tf", "net/c.tf"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestOwn holds which required checks are Lockstep's: by names that are kept for them, and those of other deployments
// by any App.
func TestOwn(t *testing.T) {
	for name, want := range map[string]string{
		"lockstep": "ours any App/named", "lockstep/net": "ours any App/named", "lockstep (ou-a)": "any App/unnamed", "lockstep (ou-a)/net": "any App/unnamed",
		"lockstepper": "", "ci/lockstep": "", "": "", "lockstep ()": "", "lockstep (a": "", "lockstep (a)b": "",
	} {
		for deployment, app := range map[string]int64{"": 0, "ou-a": 0, "ou-a ": 7, " ": 7} {
			p := pass{Finder: &Finder{Deployment: strings.TrimSpace(deployment)}}
			is := want != "" && (app == 0 || strings.HasSuffix(want, "/named") == (strings.TrimSpace(deployment) != ""))
			if got := p.own(github.RequiredReport{Name: name, AppID: app}); got != is {
				t.Errorf("%q by the App %d, for %q: %t", name, app, deployment, got)
			}
		}
	}
}

var _ Hub = (*github.Client)(nil)
