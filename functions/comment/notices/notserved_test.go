package notices

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares texts with a file of testdata, one behind the other.
func golden(t *testing.T, name string, texts ...string) {
	t.Helper()
	got, file := strings.Join(texts, "\n=====\n\n"), filepath.Join("testdata", name+".md")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew): %s", file, diff)
	}
}

// TestNotServed holds the page of a repository that is not served, for each reason.
func TestNotServed(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, why := range []Unserved{NothingServed, NotNamed, OtherRepository, OtherAccount} {
		n := NotServed{Why: why, Repo: "acme/infra", Owner: "acme", ID: 2, Was: 1}
		pages = append(pages, "# "+n.Title()+"\n\n"+n.Summary())
	}
	golden(t, "not-served", pages...)
}

// TestEnded holds the report on a process that was killed, with and without the place that was
// evaluated.
func TestEnded(t *testing.T) {
	t.Parallel()
	e := Ended{Work: "planning `network`", Why: "It took more than 512 MiB of memory, the limit for one run.", Remedy: "Make it smaller and push again."}
	at := e
	at.Place = "module.a.local.`x"
	golden(t, "ended", e.Markdown()+"\n", at.Markdown()+"\n")
}
