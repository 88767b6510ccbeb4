package threats

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A threat is a line of testdata/threats.txt: NAME: SENTENCE. An open one has no row yet.
type threat struct {
	sentence string
	open     bool
}

func threatsOf(t *testing.T) map[string]threat {
	t.Helper()
	data, err := os.ReadFile("testdata/threats.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]threat{}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, open := strings.CutPrefix(line, "open: ")
		name, sentence, ok := strings.Cut(line, ": ")
		if _, twice := out[name]; !ok || twice || !strings.HasSuffix(sentence, ".") {
			t.Errorf("threats.txt:%d: %q is not NAME: SENTENCE, or is there twice", i+1, line)
		}
		out[name] = threat{sentence, open}
	}
	return out
}

// seed is an attack by the history of one seed.
var seed = regexp.MustCompile(`^TestFound/.*[0-9]$`)

// TestThreats holds that each threat has an attack, and that each attack and each defence
// of a row is there. That the defence is needed is what the mutants show.
func TestThreats(t *testing.T) {
	t.Parallel()
	threats, rows := threatsOf(t), allRows(t)
	attacked := map[string]bool{}
	tests := map[string][]string{}
	for _, r := range rows {
		if attacked[r.threat] = true; threats[r.threat].sentence == "" {
			t.Errorf("%s: threats.txt does not have the threat %q", r.at, r.threat)
		}
		if _, err := r.weakened(readRepository); err != nil {
			t.Error(err)
		}
		if _, ok := tests[r.pkg]; !ok {
			names, err := testsIn(filepath.Join(repository, r.pkg))
			if err != nil {
				t.Errorf("%s: %v", r.at, err)
			}
			tests[r.pkg] = names
		}
		if !r.attackIsIn(tests[r.pkg]) {
			t.Errorf("%s: %s has no test %s", r.at, r.pkg, r.pattern)
		}
		if seed.MatchString(r.pattern) {
			t.Errorf("%s: %s: a seed has another history as soon as the pipeline asks for one thing more: tell its story in a test", r.at, r.pattern)
		}
	}
	for name, x := range threats {
		switch {
		case !x.open && !attacked[name]:
			t.Errorf("no row attacks by %q: %s", name, x.sentence)
		case x.open && attacked[name]:
			t.Errorf("%q has a row: take the word open off it in threats.txt", name)
		}
	}
	if len(threats) < 20 {
		t.Errorf("there are only %d threats", len(threats))
	}
}

// attackIsIn reports whether one of a package's tests is the row's attack.
func (r row) attackIsIn(tests []string) bool {
	whole, _, _ := strings.Cut(r.runs(), "/")
	pattern := regexp.MustCompile(whole)
	for _, name := range tests {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// testsIn returns the names of the tests in a directory.
func testsIn(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no tests: %v", dir, err)
	}
	var out []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && regexp.MustCompile(`^(Test|Fuzz)`).MatchString(fn.Name.Name) {
				out = append(out, fn.Name.Name)
			}
		}
	}
	return out, nil
}
