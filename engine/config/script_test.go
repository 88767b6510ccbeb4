package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

var update = flag.Bool("update", false, "write the diagnostics that are found into testdata/*.txtar")

// TestDiagnostics loads every case of testdata/*.txtar. A case is a directory of the
// archive; its file "want" lists the diagnostics, one a line: `file:line: summary`,
// with "warning: " before the summary of a warning, sorted by place. The directory
// "shared" belongs to all cases of an archive.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no test data", err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		changed := false
		for _, c := range cases(a) {
			t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar")+"/"+c.name, func(t *testing.T) {
				_, ds := Load(Input{Tree: source.Files(c.files)})
				got := wanted(ds)
				if got == c.want {
					return
				}
				if *update {
					setFile(a, c.name+"/want", got)
					changed = true
					return
				}
				t.Errorf("diagnostics (-want +got):\n%s\n%s", cmp.Diff(c.want, got), ds.Error())
			})
		}
		if changed {
			if err := os.WriteFile(p, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type testCase struct {
	name  string
	files map[string][]byte
	want  string
}

func cases(a *txtar.Archive) []*testCase {
	var out []*testCase
	byName := map[string]*testCase{}
	shared := map[string][]byte{}
	for _, f := range a.Files {
		name, rest, _ := strings.Cut(f.Name, "/")
		if name == "shared" {
			shared["../"+f.Name] = f.Data
			continue
		}
		c := byName[name]
		if c == nil {
			c = &testCase{name: name, files: map[string][]byte{}}
			byName[name] = c
			out = append(out, c)
		}
		if rest == "want" {
			c.want = string(f.Data)
			continue
		}
		c.files[rest] = f.Data
	}
	for _, c := range out {
		for n, b := range shared {
			c.files[n] = b
		}
	}
	return out
}

// wanted prints diagnostics as the files "want" have them.
func wanted(ds diags.Diagnostics) string {
	ds = slices.Clone(ds)
	slices.SortStableFunc(ds, func(a, b diags.Diagnostic) int {
		x, y := place(a), place(b)
		if x.file != y.file {
			return strings.Compare(x.file, y.file)
		}
		if x.line != y.line {
			return x.line - y.line
		}
		return strings.Compare(a.Summary, b.Summary)
	})
	var b strings.Builder
	for _, d := range ds {
		if p := place(d); p.file != "" {
			fmt.Fprintf(&b, "%s:%d: ", p.file, p.line)
		} else {
			b.WriteString("-: ")
		}
		if d.Severity == diags.Warning {
			b.WriteString("warning: ")
		}
		b.WriteString(d.Summary + "\n")
	}
	return b.String()
}

type linePlace struct {
	file string
	line int
}

func place(d diags.Diagnostic) linePlace {
	if d.Subject == nil {
		return linePlace{}
	}
	return linePlace{d.Subject.Filename, d.Subject.Start.Line}
}

func setFile(a *txtar.Archive, name, data string) {
	dir := filepath.Dir(name)
	last := 0
	for i, f := range a.Files {
		if f.Name == name {
			a.Files[i].Data = []byte(data)
			return
		}
		if strings.HasPrefix(f.Name, dir+"/") {
			last = i
		}
	}
	a.Files = slices.Insert(a.Files, last+1, txtar.File{Name: name, Data: []byte(data)})
}
