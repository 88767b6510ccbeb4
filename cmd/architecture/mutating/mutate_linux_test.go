package mutating

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	in    = flag.String("packages", "", "the packages to change, as patterns of go list separated by spaces")
	only  = flag.String("file", "", "the name of the only `file` to change")
	tests = flag.String("tests", ".", "the tests that must notice a change, as a regular expression")
	count = flag.Int("mutants", 30, "how many mutants to run")
	seed  = flag.Uint64("seed", 1, "chooses the mutants")
)

// A tally counts the ends of a package's mutants.
type tally struct{ killed, timedOut, survived int }

func (t *tally) add(v verdict) {
	switch v {
	case killed:
		t.killed++
	case timedOut:
		t.timedOut++
	case survived:
		t.survived++
	}
}

func (t tally) String() string {
	died, all := t.killed+t.timedOut, t.killed+t.timedOut+t.survived
	return fmt.Sprintf("%4d of %4d killed (%.0f %%), %d of these by their time", died, all, 100*float64(died)/float64(max(all, 1)), t.timedOut)
}

// TestMutate runs a sample of the mutants of -packages, and prints the survivors.
func TestMutate(t *testing.T) {
	if *in == "" {
		t.Skip("no -packages: see make mutate")
	}
	subjects, err := load(strings.Fields(*in), *only)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mutants := sample(subjects, *count, *seed)
	slices.SortStableFunc(mutants, func(a, b chosen) int { return cmp.Compare(a.at(), b.at()) })
	figures := map[string]*tally{}
	for i, c := range mutants {
		begun := time.Now()
		v, err := r.run(c)
		if err != nil {
			t.Fatal(err)
		}
		if figures[c.PkgPath] == nil {
			figures[c.PkgPath] = new(tally)
		}
		figures[c.PkgPath].add(v)
		fmt.Fprintf(os.Stdout, "%d/%d %-8s %5.1fs %-9s %s\n", i+1, len(mutants), v, time.Since(begun).Seconds(), c.kind, c.at())
		if v == survived || v == unbuilt {
			fmt.Print(c.diff())
		}
	}
	var total tally
	for _, s := range subjects {
		if f := figures[s.PkgPath]; f != nil {
			fmt.Printf("%-70s %s\n", s.PkgPath, f)
			total.killed, total.timedOut, total.survived = total.killed+f.killed, total.timedOut+f.timedOut, total.survived+f.survived
		}
	}
	fmt.Printf("%-70s %s\n", "all", total)
}
