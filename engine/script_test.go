package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestScript plays every scenario of testdata/script and compares what happens with
// what is wanted. The README there describes the notation.
func TestScript(t *testing.T) {
	t.Parallel()
	for _, path := range scenarioPaths(t) {
		t.Run(scenarioName(path), func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, path)
			s := sc.stage(t)
			for i := range sc.steps {
				st := &sc.steps[i]
				got := s.play(st).String()
				switch {
				case got == st.want:
				case golden.Updating():
					sc.setWant(st.name, got)
				default:
					t.Errorf("step %s (-want +got):\n%s", st.name, cmp.Diff(st.want, got))
				}
			}
			golden.Update(t, path, string(txtar.Format(sc.archive)))
		})
	}
}

func scenarioPaths(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no scenarios", err)
	}
	return paths
}

func scenarioName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txtar") }

// A scenario is one file of testdata/script.
type scenario struct {
	archive   *txtar.Archive
	providers map[string]string // descriptions by local name
	steps     []step
}

// A step is the files, the commands and the wanted result of one number.
type step struct {
	name  string
	files map[string][]byte
	lines []string // of the file "step"
	want  string
}

// readScenario reads a scenario. Files whose names begin with no number are
// "provider" (of the name lab) and "provider.NAME".
func readScenario(t testing.TB, path string) *scenario {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	common, err := os.ReadFile("testdata/script/provider")
	if err != nil {
		t.Fatal(err)
	}
	sc := &scenario{archive: a, providers: map[string]string{"lab": string(common)}}
	for _, f := range a.Files {
		number, name, ok := strings.Cut(f.Name, "/")
		if !ok {
			local, is := strings.CutPrefix(f.Name, "provider.")
			if f.Name == "provider" {
				local, is = "lab", true
			}
			if !is {
				t.Fatalf("%s: what is the file %s?", path, f.Name)
			}
			sc.providers[local] = string(f.Data)
			continue
		}
		if _, err := strconv.Atoi(number); err != nil {
			t.Fatalf("%s: what is the file %s?", path, f.Name)
		}
		if len(sc.steps) == 0 || sc.steps[len(sc.steps)-1].name != number {
			sc.steps = append(sc.steps, step{name: number, files: map[string][]byte{}, lines: []string{"apply"}})
		}
		st := &sc.steps[len(sc.steps)-1]
		switch name {
		case "step":
			st.lines = stepLines(string(f.Data))
		case "want":
			st.want = string(f.Data)
		default:
			st.files[name] = f.Data
		}
	}
	return sc
}

// stepLines returns the lines of a file "step" without comments.
func stepLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// setWant writes down what a step gives, behind its other files.
func (sc *scenario) setWant(number, want string) {
	last := 0
	for i, f := range sc.archive.Files {
		if f.Name == number+"/want" {
			sc.archive.Files[i].Data = []byte(want)
			return
		}
		if strings.HasPrefix(f.Name, number+"/") {
			last = i
		}
	}
	f := txtar.File{Name: fmt.Sprintf("%s/want", number), Data: []byte(want)}
	sc.archive.Files = slices.Insert(sc.archive.Files, last+1, f)
}
