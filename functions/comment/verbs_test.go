package comment

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestVerbs holds that a verb without words is noticed, and so are words without a verb.
func TestVerbs(t *testing.T) {
	var verbs []grammar.Verb
	for _, r := range verbTable {
		verbs = append(verbs, r.Verb)
		for _, gap := range r.missing() {
			t.Error(gap)
		}
	}
	if diff := cmp.Diff(grammar.Verbs(), verbs); diff != "" {
		t.Errorf("the verbs of the grammar, and those with words: %s", diff)
	}
	if diff := cmp.Diff([]string{"stop has no participle", "stop has no help line"}, verbRow{Verb: "stop"}.missing()); diff != "" {
		t.Errorf("a command without columns: %s", diff)
	}
	for _, r := range verbTable {
		for _, f := range r.Help {
			if l := grammar.Parse(f.Typed); len(l) != 1 {
				t.Errorf("the help has %q, which is no command", f.Typed)
			}
		}
	}
}

// missing names the columns that a row lacks.
func (r verbRow) missing() []string {
	var out []string
	if r.Participle == "" {
		out = append(out, fmt.Sprintf("%s has no participle", r.Verb))
	}
	if len(r.Help) == 0 {
		out = append(out, fmt.Sprintf("%s has no help line", r.Verb))
	}
	return out
}
