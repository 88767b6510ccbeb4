package threats

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestMutants runs the attacks against weakened defences, and once as the code is. Among all tests they run as the code is anyway. Which ones:
//
//	LOCKSTEP_MUTANTS        all, or a regular expression of rows' names; default: the quick ones
//	LOCKSTEP_MUTANTS_SHARD  I/N: of these, the I-th of N parts
func TestMutants(t *testing.T) {
	pattern := os.Getenv("LOCKSTEP_MUTANTS")
	rows, err := chosen(allRows(t), pattern, os.Getenv("LOCKSTEP_MUTANTS_SHARD"))
	if err != nil {
		t.Fatal(err)
	}
	lab := newLab(t, pattern == "")
	var died, survived, late []string
	for _, r := range rows {
		begun := time.Now()
		v, note := lab.prove(r)
		took := time.Since(begun).Round(100 * time.Millisecond)
		switch {
		case !v.died():
			survived = append(survived, r.name())
			t.Errorf("%s: %s %s with the mutant: %s\n%s", r.name(), r.pkg, r.pattern, v, note)
		case v == timedOut:
			late = append(late, r.name())
			fallthrough
		default:
			died = append(died, r.name())
		}
		fmt.Printf("%-9s %6s  %s\n", v, took, r.name())
	}
	fmt.Printf("%d mutants, %d died, %d survived\n", len(rows), len(died), len(survived))
	for _, name := range survived {
		fmt.Println("survived:", name)
	}
	for _, name := range late {
		fmt.Println("died by its time:", name)
	}
	if len(rows) == 0 {
		t.Error("there is no such mutant")
	}
}

// chosen returns the rows that a pattern and a shard choose.
func chosen(rows []row, pattern, shard string) ([]row, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("LOCKSTEP_MUTANTS: %w", err)
	}
	i, n := 1, 1
	if shard != "" {
		if _, err := fmt.Sscanf(shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
			return nil, fmt.Errorf("LOCKSTEP_MUTANTS_SHARD is %q, and is to be I/N such as 1/4", shard)
		}
	}
	var out []row
	for _, r := range rows {
		if pattern == "" && r.quick || pattern != "" && (pattern == "all" || match.MatchString(r.name())) {
			out = append(out, r)
		}
	}
	var part []row
	for k, r := range out {
		if k%n == i-1 {
			part = append(part, r)
		}
	}
	return part, nil
}

// TestChosen is a table of patterns and shards.
func TestChosen(t *testing.T) {
	t.Parallel()
	var rows []row
	for i, threat := range []string{"a", "b", "c", "d"} {
		rows = append(rows, row{at: "x", threat: threat, edits: []edit{{file: "f"}}, quick: i == 1})
	}
	for _, test := range []struct{ pattern, shard, want string }{
		{"", "", "b"}, {"all", "", "abcd"}, {"[cd] f", "", "cd"}, {"all", "1/2", "ac"}, {"all", "2/2", "bd"}, {"all", "4/3", "error"}, {"(", "", "error"}, {"z", "", ""},
	} {
		got := ""
		part, err := chosen(rows, test.pattern, test.shard)
		for _, r := range part {
			got += r.threat
		}
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("%q %q: %q", test.pattern, test.shard, got)
		}
	}
}
