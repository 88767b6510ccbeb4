package shadow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// A recording is a file in testdata/comments: comments of another tool, and Lockstep's plan of the same project. The texts of
// the plans come from Terraform 1.11.4, and the shapes of the comments from the templates of the tools.
type recording struct {
	tool, author, verdict, head string
	projects                    []shadow.Subject // the first one is compared
	comments                    []shadow.Comment
	ours                        shadow.Plan
	archive                     *txtar.Archive
}

func readRecording(t *testing.T, path string) (r recording) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r.archive, r.head = txtar.Parse(data), strings.Repeat("5", 40)
	for line := range strings.Lines(string(r.archive.Comment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "tool":
			r.tool = value
		case "author":
			r.author = value
		case "verdict":
			r.verdict = value
		case "projects":
			for p := range strings.SplitSeq(value, ", ") {
				f := strings.Fields(p)
				r.projects = append(r.projects, shadow.Subject{Project: f[0], Dir: f[1], Workspace: f[2]})
			}
		}
	}
	for _, f := range r.archive.Files {
		body := string(f.Data)
		switch {
		case strings.HasPrefix(f.Name, "comment "):
			author := r.author
			if _, other, is := strings.Cut(f.Name, " by "); is {
				author = other
			}
			n := int64(len(r.comments) + 1)
			r.comments = append(r.comments, shadow.Comment{ID: n, Author: author, Body: strings.TrimSuffix(body, "\n"), At: time.Unix(n, 0)})
		case f.Name == "ours.json" && strings.Contains(body, `"failed"`):
			r.ours = shadow.Plan{Failed: true}
		case f.Name == "ours.json":
			if r.ours, err = shadow.FromJSON(f.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// compare compares Lockstep's plan of the first project with the comments.
func (r recording) compare() (shadow.Agreement, *shadow.Claim) {
	source := shadow.Source{Tool: shadow.Tool(r.tool), Author: r.author}
	claim, _ := shadow.Find(source.Claims(r.comments, time.Time{}), r.projects[0], r.projects, r.head)
	if claim == nil {
		return shadow.Agreement{Verdict: shadow.Unknown, Why: "there is no comment about the project"}, nil
	}
	return shadow.Compare(r.ours, *claim), claim
}

// show returns an agreement as text.
func show(a shadow.Agreement) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.Verdict, a.Why)
	for _, d := range a.Differences {
		fmt.Fprintf(&b, "%s: %s: Lockstep %s, theirs %s\n", d.Cause, d.Address, d.Ours, d.Theirs)
	}
	if a.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", a.More)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// TestRecordedComments compares each recorded plan with Lockstep's, and holds the verdict and each difference.
func TestRecordedComments(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	tools := map[string]int{}
	for _, path := range paths {
		r := readRecording(t, path)
		tools[r.tool]++
		a, _ := r.compare()
		if string(a.Verdict) != r.verdict {
			t.Errorf("%s: %s, want %s", path, show(a), r.verdict)
		}
		files := r.archive.Files[:0:0]
		for _, f := range r.archive.Files {
			if f.Name != "want" {
				files = append(files, f)
			}
		}
		r.archive.Files = append(files, txtar.File{Name: "want", Data: []byte(show(a))})
		golden.File(t, path, string(txtar.Format(r.archive)))
	}
	for _, tool := range []string{"atlantis", "digger", "terrateam", "dflook", "tfcmt"} {
		if tools[tool] < 12 {
			t.Errorf("%d recordings of %s, want 12", tools[tool], tool)
		}
	}
}
