package policies

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// archives are those of testdata, by name.
func archives(t testing.TB) map[string]*txtar.Archive {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*txtar.Archive{}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = a
	}
	return out
}

// TestOrder changes the order of the files, by other names in the same folders: a verdict does not
// depend on it. The order of a map is another each time, so each outcome is the same again, too.
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, a := range archives(t) {
		c := caseOf(t, a)
		for range 5 {
			if again := outcome(t, c); again != c.want {
				t.Errorf("%s: once %s, then %s", name, c.want, again)
			}
		}
		if strings.Contains(c.want, "mistakes: ") {
			continue
		}
		renamed := c
		renamed.files = map[string][]byte{}
		for file, src := range c.files {
			dir, base := filepath.Split(file)
			renamed.files[dir+string('a'+'z'-base[0])+base] = src
		}
		if got := outcome(t, renamed); got != c.want {
			t.Errorf("%s: %s in place of %s", name, got, c.want)
		}
	}
}

// TestConcurrent judges with one set at the same time.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	a, err := txtar.ParseFile("testdata/data.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := caseOf(t, a)
	s, err := Compile(c.files, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			v, err := s.Judge(t.Context(), []byte(c.plan))
			if err != nil || text(v) != c.want {
				t.Errorf("%v, %v", v, err)
			}
		})
	}
	all.Wait()
}

// FuzzCompile compiles any bytes as a policy and as data: there is a set or an [Error], within its
// bounds, and a judgement with a set is a verdict or an error in time.
func FuzzCompile(f *testing.F) {
	for _, a := range archives(f) {
		for _, file := range a.Files {
			f.Add(file.Data, false)
			f.Add(file.Data, true)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, v0 bool) {
		for _, name := range []string{"a.rego", "b.json", "c.yaml"} {
			files := map[string][]byte{name: src, "lib/d.rego": []byte("package x\nimport rego.v1\ndeny contains `x` if data.y")}
			s, err := Compile(files, Options{AllNamespaces: true, RegoV0: v0, Limit: 50 * time.Millisecond})
			hold(t, err)
			if (s == nil) == (err == nil) {
				t.Fatalf("%v and %v", s, err)
			}
			if err != nil {
				continue
			}
			start := time.Now()
			v, err := s.Judge(t.Context(), []byte(somePlan))
			hold(t, err)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if len(v.Failures) > maxFindings || len(v.Warnings) > maxFindings {
				t.Errorf("%d failures, %d warnings", len(v.Failures), len(v.Warnings))
			}
		}
	})
}

// hold holds the bounds of an error that is not nil.
func hold(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Problems) == 0 || len(e.Problems) > maxProblems {
		t.Fatalf("%v", err)
	}
	for _, p := range e.Problems {
		if p.Message == "" || len(p.Message) > maxMessage+len("…") {
			t.Errorf("%q", p)
		}
		if strings.Contains(p.Message, "OPA broke down") {
			t.Errorf("a panic: %s", p.Message)
		}
	}
}
