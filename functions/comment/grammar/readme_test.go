package grammar

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestREADME holds that the table of commands in README.md has each verb, with what it takes, in the order of the help, and
// that it tells of each option.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	var have []string
	for _, m := range regexp.MustCompile("(?m)^\\| `lockstep ([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		have = append(have, m[1])
	}
	var want []string
	for _, r := range table {
		line := string(r.verb)
		for _, a := range r.arguments {
			line += " " + a.stands
		}
		if r.repeats {
			line += "..."
		}
		if r.reasoned {
			line += " " + because.flag() + " " + because.stands
		}
		if want = append(want, line); r.hash {
			want = append(want, string(r.verb)+" HASH")
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the verbs (-), and README.md's (+):\n%s", diff)
	}
	for _, o := range slices.Concat(all, []*option{because}) {
		if !regexp.MustCompile("[` ]" + o.flag() + "[`= ]").MatchString(text) {
			t.Errorf("README.md has no option %s", o.flag())
		}
	}
}
