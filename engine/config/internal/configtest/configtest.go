// Package configtest reads test cases of configurations from txtar archives, and prints diagnostics on one
// line each.
//
// A case is a directory of the archive; its file "want" has the expected text. The directory "shared" belongs
// to all cases of an archive. The package does not load configurations itself. Start at [Run].
package configtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// Run calls the function got for each case of the archives that match pattern. It compares the returned text
// with the case's file "want"; with -update, it writes that file instead.
func Run(t *testing.T, pattern string, got func(*testing.T, map[string][]byte) string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
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
				switch text := got(t, c.files); {
				case text == c.want:
				case golden.Updating():
					setFile(a, c.name+"/want", text)
					changed = true
				default:
					t.Errorf("(-want +got):\n%s", cmp.Diff(c.want, text))
				}
			})
		}
		if changed {
			golden.Update(t, p, string(txtar.Format(a)))
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

// Lines returns one line for each diagnostic, sorted by range: `file:line: summary`, with "warning: " before
// the summary of a warning.
func Lines(ds diags.Diagnostics) string {
	ds = slices.Clone(ds)
	slices.SortStableFunc(ds, func(a, b diags.Diagnostic) int {
		x, y := lineOf(a), lineOf(b)
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
		if p := lineOf(d); p.file != "" {
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

type line struct {
	file string
	line int
}

func lineOf(d diags.Diagnostic) line {
	if d.Subject == nil {
		return line{}
	}
	return line{d.Subject.Filename, d.Subject.Start.Line}
}
