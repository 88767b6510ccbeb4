package program

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
)

var updateDiagnostics = flag.Bool("update-diagnostics", false, "write our diagnostics where they differ from Terraform's into testdata/diagnostics")

// TestDiagnosticsAsTerraform runs the wrong configurations of testdata/diagnostics. Each begins with
// "== NAME: COMMAND". The file "terraform" has the exit code and the diagnostics that Terraform 1.11.4
// had, one a line: severity, place, summary, address, suggestion, block, values and function, but not
// the sentences, which are our own. The file "ours" is there where ours differ.
//
// The option -update-diagnostics rewrites "ours"; "terraform" is a record, and stays.
func TestDiagnosticsAsTerraform(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/diagnostics/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no configurations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			diagnosticsFile(t, file)
		})
	}
}

func diagnosticsFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	base := newLab(t, "versions.tf", "terraform {\n  required_providers {\n    lab = {\n      source = \"lockstep/lab\"\n    }\n    labv5 = {\n      source = \"lockstep/labv5\"\n    }\n  }\n}\n")
	base.want(0, "init")
	head, rest, _ := strings.Cut(string(text), "\n== ")
	out := head
	same, all := 0, 0
	for one := range strings.SplitSeq(rest, "\n== ") {
		title, body, _ := strings.Cut(one, "\n")
		a := txtar.Parse([]byte(body))
		want, n, m := wrongConfiguration(t, base, title, a)
		same, all = same+n, all+m
		if *updateDiagnostics {
			a.Files = want
		}
		out += "\n== " + title + "\n" + strings.TrimSuffix(string(txtar.Format(a)), "\n")
	}
	t.Logf("%d of %d diagnostics are the same", same, all)
	if *updateDiagnostics {
		if err := os.WriteFile(file, []byte(out+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// wrongConfiguration compares the diagnostics of one configuration. It returns its files as they
// would have to be, and how many of Terraform's diagnostics ours has, of how many.
func wrongConfiguration(t *testing.T, base *labDir, title string, a *txtar.Archive) (want []txtar.File, same, all int) {
	name, command, _ := strings.Cut(title, ": ")
	d := &labDir{Dir: programtest.NewDir(t, "versions.tf", base.read("versions.tf"), ".terraform.lock.hcl", base.read(".terraform.lock.hcl")), env: base.env}
	if err := os.Symlink(base.file(".terraform"), d.file(".terraform")); err != nil {
		t.Fatal(err)
	}
	d.set("LAB_DIR=" + d.file("lab"))
	var theirs, ours string
	for _, f := range a.Files {
		switch f.Name {
		case "terraform":
			theirs = string(f.Data)
		case "ours":
			ours = string(f.Data)
			continue
		default:
			d.Write(f.Name, string(f.Data))
		}
		want = append(want, f)
	}
	verb, rest, _ := strings.Cut(command, " ")
	r := d.run(strings.TrimSpace(verb + " -json " + rest))
	got := fmt.Sprintf("exit %d\n%s", r.Code, strings.Join(diagnosticLines(t, r.Out), ""))
	if diff := gocmp.Diff(strings.SplitAfter(cmp.Or(ours, theirs), "\n"), strings.SplitAfter(got, "\n")); diff != "" && !*updateDiagnostics {
		t.Errorf("%s: (-want +got)\n%s", name, diff)
	}
	if got != theirs {
		want = append(want, txtar.File{Name: "ours", Data: []byte(got)})
	}
	have, last := strings.Split(got, "\n"), ""
	for line := range strings.Lines(theirs) {
		if strings.HasPrefix(line, "exit ") || line == last {
			continue // ours are not repeated
		}
		last = line
		all++
		if i := slices.Index(have, strings.TrimSuffix(line, "\n")); i >= 0 {
			have, same = slices.Delete(have, i, i+1), same+1
		}
	}
	return want, same, all
}

// diagnosticLines returns the diagnostics in the output of a command with -json, one a line, sorted.
func diagnosticLines(t *testing.T, out string) []string {
	var list struct {
		Diagnostics []formats.Diagnostic `json:"diagnostics"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil { // a stream
		for line := range strings.Lines(out) {
			var m struct {
				Diagnostic *formats.Diagnostic `json:"diagnostic"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if m.Diagnostic != nil {
				list.Diagnostics = append(list.Diagnostics, *m.Diagnostic)
			}
		}
	}
	var lines []string
	for _, d := range list.Diagnostics {
		lines = append(lines, diagnosticLine(t, d)+"\n")
	}
	slices.Sort(lines)
	return lines
}

var suggestion = regexp.MustCompile(`Did you mean [^?\n]*\?`)

func diagnosticLine(t *testing.T, d formats.Diagnostic) string {
	s := d.Severity
	if r := d.Range; r != nil {
		s += fmt.Sprintf(" %s:%d,%d-", r.Filename, r.Start.Line, r.Start.Column)
		if r.Start.Line != r.End.Line {
			s += fmt.Sprintf("%d,", r.End.Line)
		}
		s += fmt.Sprint(r.End.Column)
	}
	s += " " + d.Summary
	if d.Address != "" {
		s += " @" + d.Address
	}
	if m := suggestion.FindString(d.Detail); m != "" {
		s += " | " + m
	}
	if d.Snippet == nil {
		return s
	}
	if c := d.Snippet.Context; c != nil {
		s += " | in " + *c
	}
	for _, v := range d.Snippet.Values {
		s += " | " + v.Traversal + " " + v.Statement
	}
	if f := d.Snippet.Call; f != nil {
		text, err := json.Marshal(f.Signature)
		if err != nil {
			t.Fatal(err)
		}
		s += " | " + f.CalledAs + " " + string(text)
	}
	return s
}
