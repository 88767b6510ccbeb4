package project

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPatternBombs holds that patterns of a pull request end with the context, or at a limit: the product of patterns, files and
// projects is bounded.
func TestPatternBombs(t *testing.T) {
	t.Parallel()
	const bomb = "**/**/**/**/{**/*a,**/*a,**/*a,**/*a,**/a}{**/*a,**/*a,**/*a,**/*a,**/a}{**/*a,**/*a,**/*a,**/*a,**/a}x"
	was, now := map[string]string{}, map[string]string{}
	for i := range 300 {
		now[strings.Repeat("aaaaaaaaa/", 12)+fmt.Sprint("a", i)] = ""
	}
	p := Project{Name: "net", Dir: "net", Workspace: DefaultWorkspace}
	for i := range 100 {
		p.WhenChanged = append(p.WhenChanged, bomb+fmt.Sprint(i))
	}
	none := func(Project) []FilesRead { return nil }
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Touched(ctx, tree(was), tree(now), []Project{p}, []Project{p}, none)
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
		t.Errorf("after %s: %v", took, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Touched(ended, tree(was), tree(now), []Project{{Name: "a"}}, []Project{{Name: "a"}}, none); !errors.Is(err, context.Canceled) {
		t.Errorf("between projects: %v", err)
	}

	var all []Project
	for i := range 100 {
		q := Project{Name: fmt.Sprint("p", i), Dir: "net", Workspace: DefaultWorkspace}
		for k := range 100 {
			q.WhenChanged = append(q.WhenChanged, fmt.Sprintf("x%d-%d", i, k))
		}
		all = append(all, q)
	}
	var limit *LimitError
	if _, err = Touched(t.Context(), tree(was), tree(now), all, all, none); !errors.As(err, &limit) || !strings.Contains(err.Error(), "when_changed") {
		t.Errorf("too many: %v", err)
	}
	for i := range all {
		all[i].WhenChanged = all[0].WhenChanged // as from defaults
	}
	if _, err = Touched(t.Context(), tree(was), tree(now), all, all, none); err != nil {
		t.Errorf("the same patterns: %v", err)
	}
}

// TestDependsOnBombs holds that patterns in depends_on are bounded as others are.
func TestDependsOnBombs(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{strings.Repeat("{a,a,a}", 18) + "x", strings.Repeat("a", 201)} {
		src := fmt.Sprintf("project %q {\n  dir = \"a\"\n}\nproject \"b\" {\n  dir = \"b\"\n  depends_on = [%q]\n}\n", strings.Repeat("a", 18), pattern)
		start := time.Now()
		_, ds := Discover(tree(map[string]string{FileName: src, "a/main.tf": "", "b/main.tf": ""}))
		if took := time.Since(start); took > 5*time.Second || !strings.Contains(said(ds), "lockstep.hcl:6: Invalid pattern of projects: A pattern has at most 200 bytes, and 4 braces") {
			t.Errorf("after %s: %s", took, said(ds))
		}
	}
	many := strings.Repeat("\"a\", ", 101)
	if _, ds := Parse(FileName, []byte("project \"b\" {\n  dir = \"b\"\n  depends_on = ["+many+"]\n}\n")); !ds.HasErrors() {
		t.Error("any number of them")
	}
}

// TestReadsBombs holds that the static reading of a configuration ends: names that double at each step, values that multiply, and
// modules that are called often.
func TestReadsBombs(t *testing.T) {
	t.Parallel()
	doubled, lists, empty := "locals {\n", "locals {\n", "locals {\n"
	for i := range 60 {
		doubled += fmt.Sprintf("a%d = \"${local.a%d}${local.a%d}\"\n", i, i+1, i+1)
		lists += fmt.Sprintf("a%d = [\"${local.a%d}/x\", \"${local.a%d}/${local.b%d}\", \"../%d\"]\nb%d = [local.a%d, foo(local.a%d, local.b%d)]\n", i, i+1, i+1, i+1, i, i, i, i+1, i+1)
		empty += fmt.Sprintf("a%d = foo([local.a%d, local.a%d, [local.a%d]])\n", i, i+1, i+1, i+1)
	}
	const use = "}\ndata \"x\" \"y\" {\n  a = [file(local.a0), local.a0, foo(local.a0)]\n}\n"
	nested := strings.Repeat("foo([", 300) + "\"../x\"" + strings.Repeat("])", 300)
	wide := strings.Repeat("\"../../${local.a0}/${local.a0}/${local.a0}\", ", 3000)
	many := ""
	for i := range 300 {
		many += fmt.Sprintf("module \"m%d\" {\n  source = \"../m\"\n  a = [\"../x\"]\n}\n", i)
	}
	for name, files := range map[string]map[string]string{
		"doubled": {"a/main.tf": doubled + "a60 = \"\"\n" + use},
		"lists":   {"a/main.tf": lists + "a60 = [\"a\", \"b\"]\nb60 = [\"a\"]\n" + use},
		"calls":   {"a/main.tf": empty + "a60 = [\"a\", \"b\"]\n" + use},
		"nested":  {"a/main.tf": "data \"x\" \"y\" {\n  a = " + nested + "\n}\n"},
		"wide":    {"a/main.tf": lists + "a60 = \"\"\nb60 = \"\"\n}\ndata \"x\" \"y\" {\n  a = [" + wide + "]\n}\n"},
		"many":    {"a/main.tf": many, "m/main.tf": "variable \"a\" {}\ndata \"x\" \"y\" {\n  a = [" + strings.Repeat("var.a, foo(var.a), ", 1000) + "]\n}\n"},
		"JSON":    {"a/main.tf.json": "{\"data\": {\"x\": {\"y\": {\"a\": " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}}}}"},
		"no JSON": {"a/main.tf.json": strings.Repeat("[", 1_000_000)},
	} {
		start := time.Now()
		Discover(tree(with(files, FileName+"="+declare("a"))))
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: after %s", name, took)
		}
	}
}
