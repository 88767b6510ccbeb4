package requirementfacts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// TestContributors is a table of pull requests with their pushes. "a>b" is a push from commit a to commit b, "-" is none; before it is who
// has made it, "?" is nobody.
func TestContributors(t *testing.T) {
	t.Parallel()
	pushes := func(text string) (out []github.Push) {
		for _, word := range strings.Fields(text) {
			by, span, _ := strings.Cut(word, ":")
			before, after, _ := strings.Cut(span, ">")
			out = append(out, github.Push{By: strings.TrimPrefix(by, "?"), Before: before, After: after})
		}
		return out
	}
	for name, test := range map[string]struct {
		commits, unlinked, recorded, listed string
		want                                string // "unknown: " and a part of the reason
	}{
		"opened by the author":            {"a", "", "ann:>a", "", "ann"},
		"pushed by somebody else":         {"a b", "", "ann:>a bob:a>b", "", "ann,bob"},
		"pushed before it was opened":     {"a", "", "ann:>a", "bob:->a", "ann,bob"},
		"found without a webhook":         {"a b", "", "", "bob:a>b ann:->a", "ann,bob"},
		"nobody knows":                    {"a", "", "", "", "unknown: who pushed commit `a`"},
		"the last push is missed":         {"a b", "", "ann:>a", "", "unknown: who pushed commit `b`"},
		"a push before is missed":         {"a b c", "", "ann:>a cat:b>c", "", "unknown: who pushed commit `b`"},
		"GitHub remembers the one before": {"a b c", "", "ann:>a cat:b>c", "bob:a>b", "ann,cat,bob"},
		"all anew":                        {"c", "", "ann:>a bob:a>b cat:b>c", "", "ann,bob,cat"},
		"all anew after a missed push":    {"c", "", "ann:>a cat:b>c", "", "ann,cat"},
		"a push of nobody":                {"a", "", "?:>a", "?:->a", "unknown: who pushed commit `a`"},
		"there and back":                  {"a", "", "ann:>a bob:a>b cat:b>a", "", "ann,bob,cat"},
		"in a circle":                     {"a b", "", "ann:>a bob:a>b cat:b>a bob:a>b", "", "ann,bob,cat"},
		"others' pushes to the branch":    {"a", "", "ann:>a", "zoe:->x ann:x>a", "ann"},
		"a commit of nobody":              {"a b", "b", "ann:>a ann:a>b", "", "unknown: belongs to no GitHub account"},
	} {
		c := github.Contributors{Logins: []string{"ann"}, Commits: strings.Fields(test.commits), Unlinked: strings.Fields(test.unlinked), All: true}
		got, err := contributors(c.Commits[len(c.Commits)-1], c, pushes(test.recorded), pushes(test.listed))
		text := strings.Join(got, ",")
		if err != nil {
			text = fmt.Sprintf("unknown: %v", err)
		}
		if want, part := strings.CutPrefix(test.want, "unknown: "); text != want && (!part || err == nil || !strings.Contains(text, want)) {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
}
