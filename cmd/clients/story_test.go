package clients

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
)

// both plays a story with each tool, at the same time, and compares their records.
func both(t *testing.T, story func(t *testing.T, l tool) *record) {
	t.Helper()
	all := tools(t)
	records := make([]*record, len(all))
	if !t.Run("with", func(t *testing.T) {
		for i, l := range all {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				records[i] = story(t, l)
			})
		}
	}) {
		return
	}
	if len(all) == 1 {
		t.Log("there is no terraform 1.11 on the PATH to compare with")
		return
	}
	mine, theirs := records[0], records[1]
	if d := cmp.Diff(theirs.names, mine.names); d != "" {
		t.Fatalf("other steps than with %s:\n%s", stock, d)
	}
	for _, name := range theirs.names {
		if d := diff.Diff(stock, []byte(theirs.texts[name]), ours, []byte(mine.texts[name])); d != nil {
			t.Errorf("%s\n%s", name, d)
		}
	}
}

// A cast is what the scripts of a client need besides the tool.
type cast struct {
	dir  string   // of the scripts
	path []string // directories with programs
	env  []string // besides the usual
}

// scripts plays all scripts with both tools, each as a test with a name of its own.
// Commands besides those of testscript:
//
//	run [-any] [-code=N] PROGRAM ARGS...   runs it, checks the exit code (0), and keeps what it printed;
//	                                       with -any the order of lines is not kept, as things happen
//	                                       at the same time
//	keep FILE...                           keeps files that are left behind
//	edit FILE OLD NEW                      replaces text, which has to be there
func scripts(t *testing.T, c cast) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", c.dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, l tool) *record { return c.play(t, l, file) })
		})
	}
}

// play plays a script with a tool.
func (c cast) play(t *testing.T, l tool, file string) *record {
	r := &record{}
	testscript.RunT(sequential{t}, testscript.Params{
		Files: []string{file},
		Setup: func(e *testscript.Env) error {
			e.Vars = slices.Concat(e.Vars, environ(t, l, filepath.Join(e.WorkDir, ".home"), c.path...), c.env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": r.runs, "keep": r.keeps, "edit": edit,
		},
	})
	return r
}

// sequential is a T whose subtests do not run at the same time as others: the caller's do.
type sequential struct{ *testing.T }

func (s sequential) Parallel() {}
func (s sequential) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(sequential{t}) })
}
func (s sequential) Verbose() bool { return testing.Verbose() }

// A step is a `run` in a script.
type step struct {
	anyOrder bool
	code     int
	args     []string
}

func parse(ts *testscript.TestScript, neg bool, args []string) (s step) {
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		code, coded := strings.CutPrefix(args[0], "-code=")
		switch {
		case args[0] == "-any":
			s.anyOrder = true
		case coded:
			n, err := strconv.Atoi(code)
			ts.Check(err)
			s.code = n
		default:
			ts.Fatalf("no such option: %s", args[0])
		}
	}
	if s.args = args; neg || len(args) == 0 {
		ts.Fatalf("usage: run [-any] [-code=N] PROGRAM ARGS...")
	}
	return s
}

func (r *record) runs(ts *testscript.TestScript, neg bool, args []string) {
	s := parse(ts, neg, args)
	code := 0
	if err := ts.Exec(s.args[0], s.args[1:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("%s: %v", s.args[0], err)
		}
		code = failed.ExitCode()
	}
	name := fmt.Sprintf("%d: %s", len(r.names)+1, strings.ReplaceAll(strings.Join(s.args, " "), ts.Getenv("WORK"), "$WORK"))
	for _, stream := range []string{"stdout", "stderr"} {
		text := quiet(ts.ReadFile(stream), ts.Getenv("WORK"))
		if stream == "stderr" {
			text = facts(text)
		}
		if s.anyOrder {
			text = lines(text)
		}
		r.keep(name+": "+stream, text, ts.Getenv("WORK"))
	}
	if code != s.code {
		ts.Fatalf("exit code %d, want %d", code, s.code)
	}
}

func (r *record) keeps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: keep FILE...")
	}
	for _, file := range args {
		r.keep(fmt.Sprintf("%d: %s", len(r.names)+1, file), ts.ReadFile(file), ts.Getenv("WORK"))
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	file := ts.MkAbs(args[0])
	text, err := os.ReadFile(file)
	ts.Check(err)
	if !bytes.Contains(text, []byte(args[1])) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(file, bytes.ReplaceAll(text, []byte(args[1]), []byte(args[2])), 0o600))
}
