package testruns

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// A stage is a module with tests and a provider "lab".
type stage struct {
	lab     *providertest.Provider
	input   Input
	log     strings.Builder
	reached events.TestCoverage
}

// newStage loads files. The file "provider" describes the provider, "options" has a -var option in each line.
func newStage(t testing.TB, files map[string][]byte) *stage {
	t.Helper()
	s := &stage{lab: providertest.New(t, string(files["provider"]))}
	var sources []inputs.Source
	for _, line := range strings.Fields(string(files["options"])) {
		x, ds := inputs.Option(line)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		sources = append(sources, x)
	}
	suite, ds := testfiles.Load(loading.Input{Tree: source.Files(files)}, testfiles.DefaultDirectory)
	ds = append(testfiles.WithoutMissing(ds), suite.Validate()...)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		addrs.DefaultProvider("lab"): s.lab.Start,
		addrs.BuiltinTerraform:       func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
	})
	t.Cleanup(func() { pool.Close() })
	s.input = Input{
		Config: suite.Config, Files: suite.Files, Base: engine.Run{Providers: pool, WorkingDir: ".", Parallelism: 1}, RunParallelism: 1, Renew: pool.Renew,
		SourcesOf: func(*testfiles.File) []inputs.Source { return sources },
		Listener:  s.hear,
	}
	for _, d := range ds {
		fmt.Fprintf(&s.log, "! %s: %s\n", d.Severity, d)
	}
	return s
}

// hear writes an event down.
func (s *stage) hear(e events.Test) {
	switch e.Kind {
	case events.TestFileDone:
		fmt.Fprintf(&s.log, "%s: %s\n", e.File.Name, e.Status)
	case events.TestRunDone:
		fmt.Fprintf(&s.log, "  %s: %s\n", e.Run.Name, e.Status)
	case events.TestRunTearingDown:
		fmt.Fprintf(&s.log, "  destroy %s\n", e.Run.Name)
	case events.TestLeft:
		fmt.Fprintf(&s.log, "  left by %s: %v\n", e.Run.Name, e.Objects)
	}
	for _, d := range e.Diagnostics {
		fmt.Fprintf(&s.log, "    ! %s: %s\n", d.Severity, strings.ReplaceAll(d.String(), "\n", " "))
	}
}

// run runs the tests and returns what happened.
func (s *stage) run(ctx context.Context) string {
	_, s.reached = Run(ctx, s.input)
	for _, c := range s.lab.Calls() {
		if !strings.HasPrefix(c, "plan ") {
			fmt.Fprintf(&s.log, "> %s\n", c)
		}
	}
	for _, o := range s.lab.Objects() {
		fmt.Fprintf(&s.log, "exists: %s\n", o)
	}
	return s.log.String()
}

// TestCases runs each case of testdata/*.txtar: a directory with a module, its tests and its provider. The file "want" of the case has
// what must happen; -update writes it.
func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		cases := map[string]map[string][]byte{}
		shared := map[string][]byte{}
		for _, f := range a.Files {
			dir, name, _ := strings.Cut(f.Name, "/")
			if name == "" {
				shared[dir] = f.Data
				continue
			}
			if cases[dir] == nil {
				cases[dir] = map[string][]byte{}
			}
			cases[dir][name] = f.Data
		}
		for dir, files := range cases {
			for name, data := range shared {
				if files[name] == nil {
					files[name] = data
				}
			}
			t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar")+"/"+dir, func(t *testing.T) {
				got := newStage(t, files).run(t.Context())
				if golden.Updating() {
					for i := range a.Files {
						if a.Files[i].Name == dir+"/want" {
							a.Files[i].Data = []byte(got)
						}
					}
					return
				}
				if diff := cmp.Diff(string(files["want"]), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
		if golden.Updating() {
			golden.Update(t, p, string(txtar.Format(a)))
		}
	}
}

const plain = `
resource lab_thing
  id    string computed keep
  name  string required
  color string optional
`

func text(pairs ...string) map[string][]byte {
	out := map[string][]byte{"provider": []byte(plain)}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []byte(pairs[i+1])
	}
	return out
}

// Runs that are parallel and share no state are under way at the same time; those with one state are not.
func TestParallelRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t, text("main.tf", "variable \"name\" {}\nresource \"lab_thing\" \"a\" {\n  name = var.name\n}\n", "a.tftest.hcl", `
test {
  parallel = true
}
run "a" {
  state_key = "a"
  variables {
    name = "a"
  }
}
run "b" {
  state_key = "b"
  variables {
    name = "b"
  }
}
`))
	s.input.RunParallelism = 2
	both := make(chan string, 2)
	met := make(chan struct{})
	s.lab.Hook = func(_ context.Context, call string) {
		if strings.HasPrefix(call, "create ") {
			if both <- call; len(both) == 2 {
				close(met)
			}
			select {
			case <-met:
			case <-time.After(time.Minute):
				t.Error("the runs wait for each other")
			}
		}
	}
	if got := s.run(t.Context()); !strings.Contains(got, "a.tftest.hcl: pass") {
		t.Error(got)
	}
}

// An interrupt skips the runs that have not begun, and everything is destroyed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newStage(t, text("main.tf", "resource \"lab_thing\" \"a\" {\n  name = \"a\"\n}\nresource \"lab_thing\" \"b\" {\n  name  = \"b\"\n  color = lab_thing.a.id\n}\n", "a.tftest.hcl", "run \"one\" {\n}\nrun \"two\" {\n}\n"))
	s.lab.Hook = func(_ context.Context, call string) {
		if call == "create lab_thing.a" {
			cancel()
		}
	}
	got := s.run(ctx)
	for _, want := range []string{"one: error", "Test interrupted", "two: skip", "destroy one", "> delete lab_thing.a"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "exists:") || strings.Contains(got, "create lab_thing.b") {
		t.Error(got)
	}
}

// A thousand runs use the processes of two configurations.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("provider \"lab\" {}\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "run \"r%d\" {\n  command = plan\n  variables {\n    name = \"n%d\"\n  }\n  assert {\n    condition     = lab_thing.a.name == \"n%d\"\n    error_message = \"no\"\n  }\n}\n", i, i, i)
	}
	s := newStage(t, text("main.tf", "variable \"name\" {}\nresource \"lab_thing\" \"a\" {\n  name = var.name\n}\n", "a.tftest.hcl", b.String()))
	got := s.run(t.Context())
	if n := strings.Count(got, ": pass"); n != 1001 {
		t.Errorf("%d passed", n)
	}
	if n := strings.Count(got, "> configure"); n != 1 {
		t.Errorf("the provider was configured %d times", n)
	}
}

// A run's made-up strings have 8 lower-case letters or digits. They differ between attributes, and are the same in the plan
// and in the apply.
func TestMadeUpStrings(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^[a-z0-9]{8}$`)
	seen := map[string]bool{}
	for i := range 1000 {
		s := random(fmt.Sprint("seed", i))
		if !shape.MatchString(s) || seen[s] || s != random(fmt.Sprint("seed", i)) {
			t.Errorf("%q", s)
		}
		seen[s] = true
	}
}

// Parallel runs wait for those that they refer to, and for those with their state; others divide the file.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, text("main.tf", "variable \"x\" {\n  default = 1\n}\noutput \"o\" {\n  value = 1\n}\n", "a.tftest.hcl", `
run "a" {
  parallel = true
  state_key = "1"
}
run "b" {
  parallel = true
  state_key = "2"
}
run "c" {
  parallel = true
  state_key = "3"
  variables {
    x = run.a.o
  }
}
run "d" {
  parallel = true
  state_key = "2"
}
run "e" {
}
run "f" {
  parallel = true
  state_key = "4"
}
`))
	f := &file{File: s.input.Files[0], suite: &suite{in: s.input}}
	for i, r := range f.File.Runs {
		f.runs = append(f.runs, &run{file: f, Run: r, index: i})
	}
	want := [][]int32{nil, nil, {0}, {1}, {0, 1, 2, 3}, {4}}
	if got := f.order().After; !slices.EqualFunc(got, want, slices.Equal[[]int32]) {
		t.Error(got)
	}
}

// The coverage names what no run has reached.
func TestCoverage(t *testing.T) {
	t.Parallel()
	s := newStage(t, text("main.tf", `
variable "n" {
  default = 0
  validation {
    condition     = var.n >= 0
    error_message = "no"
  }
}
resource "lab_thing" "a" {
  name = "a"
}
resource "lab_thing" "never" {
  count = var.n
  name  = "never"
  lifecycle {
    precondition {
      condition     = count.index >= 0
      error_message = "no"
    }
  }
}
module "m" {
  source = "./m"
  count  = 0
}
output "seen" {
  value = lab_thing.a.name
}
output "unseen" {
  value = 1
}
`, "m/main.tf", "resource \"lab_thing\" \"in\" {\n  name = \"in\"\n}\n", "a.tftest.hcl", `
run "a" {
  command = plan
  assert {
    condition     = output.seen == "a"
    error_message = "no"
  }
}
`))
	s.run(t.Context())
	want := events.TestCoverage{
		Resources: events.TestCovered{All: 3, Missing: []string{"lab_thing.never", "module.m.lab_thing.in"}},
		Outputs:   events.TestCovered{All: 2, Missing: []string{"output.unseen"}},
		Checks:    events.TestCovered{All: 2, Missing: []string{"lab_thing.never"}},
	}
	if diff := cmp.Diff(want, s.reached); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
