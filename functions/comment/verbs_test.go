package comment

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestVerbs holds that a verb without words is noticed, and so are words without a verb.
func TestVerbs(t *testing.T) {
	var verbs []Verb
	for _, r := range table {
		verbs = append(verbs, r.verb)
		for _, gap := range r.missing() {
			t.Error(gap)
		}
	}
	if diff := cmp.Diff(grammar.Verbs(), verbs); diff != "" {
		t.Errorf("the verbs of the grammar, and those with words: %s", diff)
	}
	if diff := cmp.Diff([]string{"stop has no participle", "stop has no help line"}, row{verb: "stop"}.missing()); diff != "" {
		t.Errorf("a command without columns: %s", diff)
	}
	for _, r := range table {
		for _, f := range r.help {
			if l := grammar.Parse(f.typed); len(l) != 1 {
				t.Errorf("the help has %q, which is no command", f.typed)
			}
		}
	}
}

// missing names the columns that a row lacks.
func (r row) missing() []string {
	var out []string
	if r.participle == "" {
		out = append(out, fmt.Sprintf("%s has no participle", r.verb))
	}
	if len(r.help) == 0 {
		out = append(out, fmt.Sprintf("%s has no help line", r.verb))
	}
	return out
}

// TestProblems holds that each kind of problem has words; a line for another program has its own.
func TestProblems(t *testing.T) {
	for _, k := range grammar.Kinds() {
		if problems[k] == nil && k != grammar.Foreign {
			t.Errorf("%q has no words", k)
		}
	}
	for k := range problems {
		if !slices.Contains(grammar.Kinds(), k) {
			t.Errorf("%q is no kind of problem", k)
		}
	}
}
