package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeTool is a shell script in place of a tool. It fails for a configuration without a file main.tf or locals.tf.
const fakeTool = "#!/bin/sh\nls main.tf locals.tf >/dev/null 2>&1 || [ -f main.tf ] || [ -f locals.tf ] || exit 1\n[ \"$1\" != apply ] || echo '{}' >terraform.tfstate\n"

// TestTable measures a tool that does nothing, on each workload that is not huge.
func TestTable(t *testing.T) {
	t.Parallel()
	fake := filepath.Join(t.TempDir(), "fake")
	if err := os.WriteFile(fake, []byte(fakeTool), 0o755); err != nil {
		t.Fatal(err)
	}
	chosen, err := choose(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := (&bench{out: &b, runs: 1, lockstep: fake, others: []string{fake}}).run(chosen); err != nil {
		t.Fatal(err)
	}
	for _, w := range chosen {
		for _, c := range w.commands {
			if !strings.Contains(b.String(), w.name+" ") || !strings.Contains(b.String(), c.name+" ") {
				t.Errorf("there is no row for %s of %s in\n%s", c.name, w.name, &b)
			}
		}
	}
}

// TestFailure shows the output of a tool that fails.
func TestFailure(t *testing.T) {
	t.Parallel()
	fake := filepath.Join(t.TempDir(), "fake")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho no such flag; exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	chosen, err := choose([]string{"flat-1000"}, false)
	if err != nil {
		t.Fatal(err)
	}
	err = (&bench{out: &strings.Builder{}, runs: 1, lockstep: fake}).run(chosen)
	if err == nil || !strings.Contains(err.Error(), "flat-1000: lockstep init") || !strings.Contains(err.Error(), "no such flag") {
		t.Error(err)
	}
	if _, err := choose([]string{"flat-1001"}, false); err == nil || !strings.Contains(err.Error(), "flat-1000") {
		t.Error(err)
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	if m := median([]cost{{3, 1}, {1, 2}, {2, 9}}); m != (cost{2, 2}) {
		t.Error(m)
	}
}
