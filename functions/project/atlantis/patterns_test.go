package atlantis

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/moby/patternmatcher"
)

// asked asks the library of Atlantis whether a project is planned after a change of a file.
func askedLibrary(t *testing.T, dir string, patterns []string, file string) bool {
	t.Helper()
	var all []string
	for _, p := range patterns {
		text, taken := strings.CutPrefix(strings.TrimSpace(p), "!")
		text = path.Join(dir, text)
		if taken {
			text = "!" + text
		}
		all = append(all, text)
	}
	m, err := patternmatcher.New(all)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.MatchesOrParentMatches(file)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// matched decides as package project does.
func matched(patterns []Text, file string) bool {
	in := false
	for _, p := range patterns {
		text, taken := strings.CutPrefix(p.Value, "!")
		if in == taken && doublestar.MatchUnvalidated(text, file) {
			in = !taken
		}
	}
	return in
}

var (
	patternsOf = []string{
		"*.tf", "*.tf*", "**/*.tf", "**/*.tf*", "../modules/**/*.tf", "../modules/*", "../modules/net", "../../shared/**", "*", "**", "**/*", ".", "..", "../",
		"!*.md", "!docs", "!docs/**", "!**/test/*", "x?.tf", "x[0-9].tf", "x[^0-9].tf", "net**", "{a,b}.tf", "./main.tf", " main.tf ", "/main.tf", "sub/", "**/sub/**", "a\\*b.tf", ".terraform.lock.hcl", "*.tfvars", "env/*.tfvars", "!../modules/net/README.md",
	}
	filesOf = []string{
		"main.tf", "a/main.tf", "a/main.tf.json", "a/sub/main.tf", "a/sub/deep/x1.tf", "a/x1.tf", "a/xy.tf", "a/README.md", "a/docs/index.md", "a/docs/deep/x.tf", "a/net.tf", "a/network/main.tf", "a/{a,b}.tf", "a/a.tf", "a/test/x.tf",
		"modules/net/main.tf", "modules/net/README.md", "modules/main.tf", "shared/x/y.tf", "a/a*b.tf", "a/.terraform.lock.hcl", "a/env/prod.tfvars", "a/prod.tfvars", "b/main.tf", "a/b/modules/net/main.tf", "a/b/main.tf", "a/b/x1.tf", "a/b/sub/y.tf",
	}
)

// TestPatternsAsTheLibrary compares random lists of patterns with the library that Atlantis asks, for
// each file of a small repository.
func TestPatternsAsTheLibrary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	in := 0
	for range 3000 {
		dir := []string{".", "a", "a/b"}[r.IntN(3)]
		var list []string
		var texts []Text
		for range 1 + r.IntN(4) {
			p := patternsOf[r.IntN(len(patternsOf))]
			list = append(list, p)
			texts = append(texts, Text{Value: p})
		}
		got, _ := changed(dir, texts)
		for _, file := range filesOf {
			want := askedLibrary(t, dir, list, file)
			if has := matched(got, file); has != want {
				t.Fatalf("%s in %s: %t, and Atlantis says %t for %q; here %q", file, dir, has, want, list, values1(got))
			}
			if want {
				in++
			}
		}
	}
	if in < 1000 {
		t.Errorf("only %d matches", in)
	}
}

// TestPatterns is a table of patterns that differ in their form.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: *.tf":               "a/*.tf",
		"a/b: ../../modules/**": "modules/**",
		"a: ../../x":            "",
		"a: ../modules":         "modules modules/**",
		"a: !../modules/*.md":   "!modules/*.md",
		".: .":                  "",
		"a: **.tf":              "a/**/*.tf",
		".: net**":              "net* net*/**",
		"a: x{1,2}.tf":          `a/x\{1,2\}.tf`,
		"services/x: **/*":      "services/x/**/*",
		".: *":                  "* */**",
	} {
		dir, pattern, _ := strings.Cut(text, ": ")
		got, _ := changed(dir, []Text{{Value: pattern}})
		if have := strings.Join(values1(got), " "); have != want {
			t.Errorf("%s: %s; want %s", text, have, want)
		}
	}
	if _, outside := changed("a", []Text{{Value: "../../x"}, {Value: "x"}, {Value: "!../../y"}}); len(outside) != 2 {
		t.Error(fmt.Sprint(outside), slices.Collect(slices.Values(outside)))
	}
}
