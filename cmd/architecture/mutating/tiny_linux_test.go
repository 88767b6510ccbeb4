package mutating

import (
	"fmt"
	"slices"
	"testing"
)

// TestTiny runs all mutants of a package whose test has a hole.
func TestTiny(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package a dozen times")
	}
	t.Parallel()
	subjects, err := load([]string{"./cmd/architecture/mutating/testdata/tiny"}, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mutants := sample(subjects, 100, 1)
	if again := sample(subjects, 3, 1); len(mutants) < 8 || again[2].mutant != mutants[2].mutant {
		t.Errorf("%d mutants, and perhaps others for the same seed", len(mutants))
	}
	var got []string
	for _, c := range mutants {
		v, err := r.run(c)
		if err != nil {
			t.Fatal(err)
		}
		if v != killed {
			got = append(got, fmt.Sprintf("%s %s\n%s", v, c.at(), c.diff()))
		}
	}
	slices.Sort(got)
	want := []string{
		"survived cmd/architecture/mutating/testdata/tiny/tiny.go:6\n    - \treturn age >= 18\n    + \treturn age > 18\n",
		"survived cmd/architecture/mutating/testdata/tiny/tiny.go:6\n    - \treturn age >= 18\n    + \treturn age >= (18 + 1)\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestVerdict is a table of what go test prints.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		out      string
		ok, late bool
		want     verdict
	}{
		{"ok  \tp\t0.1s\n", true, false, survived},
		{"--- FAIL: TestX (0.00s)\nFAIL\tp\t0.1s\n", false, false, killed},
		{"fatal error: stack overflow\nFAIL\tp\t0.1s\n", false, false, killed},
		{"panic: test timed out after 1s\nFAIL\tp\t1.0s\n", false, false, timedOut},
		{"", false, true, timedOut},
		{"# p\np.go:1:1: undefined: x\nFAIL\tp [build failed]\n", false, false, unbuilt},
	} {
		if got := verdictOf(test.out, test.ok, test.late); got != test.want {
			t.Errorf("%q: %s, want %s", test.out, got, test.want)
		}
	}
}
