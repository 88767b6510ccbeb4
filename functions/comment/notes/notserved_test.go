package notes

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// compareTexts compares texts with a file of testdata, one behind the other.
func compareTexts(t *testing.T, name string, texts ...string) {
	t.Helper()
	got, file := strings.Join(texts, "\n=====\n\n"), filepath.Join("testdata", name+".md")
	golden.File(t, file, got)
}

// TestNotServed holds the page of a repository that is not served, for each reason.
func TestNotServed(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, why := range []Unserved{NothingServed, NotNamed, OtherRepository, OtherAccount} {
		n := NotServed{Why: why, Repo: "acme/infra", Owner: "acme", ID: 2, Was: 1}
		pages = append(pages, "# "+n.Title()+"\n\n"+n.Summary())
	}
	compareTexts(t, "not-served", pages...)
}

// TestEnded holds the report on a process that was killed, with and without the place that was
// evaluated.
func TestEnded(t *testing.T) {
	t.Parallel()
	e := Ended{Work: "planning `network`", Why: "It took more than 512 MiB of memory, the limit for one run.", Remedy: "A part of the configuration is too large, or grows without end. Make that part smaller and push, or ask an operator of Lockstep to raise the limit."}
	at := e
	at.Place = "module.a.local.`x"
	compareTexts(t, "ended", e.Markdown()+"\n", at.Markdown()+"\n")
}
