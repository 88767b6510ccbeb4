package atlantis

import (
	"fmt"
	"strings"
	"testing"
)

// TestBombs is a table of files that would take memory or time without end. Each is refused, with few
// errors and notices, and what decides requirements is not believed.
func TestBombs(t *testing.T) {
	t.Parallel()
	laughs := "version: 3\nworkflows:\n  a0: &a0 {plan: {steps: [init]}}\n"
	for i := 1; i < 30; i++ {
		laughs += fmt.Sprintf("  a%d: &a%d {<<: [%s]}\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	lists := "version: 3\nprojects:\n- dir: a\n  depends_on: &d0 [x]\n"
	for i := 1; i < 9; i++ {
		lists += fmt.Sprintf("- {dir: a%d, depends_on: &d%d [%s]}\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*d%d,", i-1), 99), ","))
	}
	many := "version: 3\nprojects:\n" + strings.Repeat("- {dir: a, workflow: w}\n", 3000) + "workflows: {w: {plan: {steps: [plan: {extra_args: [" + strings.Repeat("-x$Y,", 290) + "]}]}}}\n"
	shared := "version: 3\nprojects:\n- &p\n  dir: a\n  autoplan: {when_modified: [" + strings.Repeat("'*.tf',", 10_000) + "]}\n" + strings.Repeat("- *p\n", 1900)
	for name, src := range map[string]string{
		"merges of merges":       laughs,
		"lists of lists":         lists,
		"a merge of itself":      "version: 3\nprojects:\n- &x\n  <<: *x\n  dir: a\n",
		"deep flow":              "version: 3\nprojects: " + strings.Repeat("[", 100_000),
		"deep mapping":           "version: 3\nprojects: " + strings.Repeat("{a: ", 50_000),
		"deep blocks":            "version: 3\n" + indented(600),
		"many keys":              "version: 3\n" + keys(60_000),
		"many steps":             "version: 3\nworkflows: {w: {plan: {steps: [" + strings.Repeat("{init: {extra_args: [a]}},", 15_000) + "]}}}\n",
		"arguments of projects":  many,
		"patterns of projects":   shared,
		"many run steps":         "version: 3\nprojects:\n" + strings.Repeat("- {dir: a, workflow: w}\n", 1900) + "workflows: {w: {plan: {steps: [plan, " + numberedRuns(3000) + "]}}}\n",
		"a long run step":        "version: 3\nprojects: [{dir: a, workflow: w}]\nworkflows: {w: {plan: {steps: [plan, run: 'x " + strings.Repeat("y ", 100_000) + "']}}}\n",
		"too long":               "version: 3\n#" + strings.Repeat("x", maxSize),
		"many errors":            "version: 3\nprojects:\n" + strings.Repeat("- x\n", 1900),
		"many different notices": "version: 3\nworkflows: {w: {apply: {steps: [apply: {extra_args: [" + numbered(290) + "]}]}}}\nprojects: [x]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if doc, _ := (Options{Steps: true}).Parse(FileName, []byte(src)); len(doc.Steps) > maxSteps {
				t.Errorf("%d steps", len(doc.Steps))
			}
			doc, ds := Options{}.Parse(FileName, []byte(src))
			if !ds.HasErrors() || len(ds) > maxDiags || len(doc.Notices) > maxNotices+1 {
				t.Errorf("%d errors, %d notices, %d projects", len(ds), len(doc.Notices), len(doc.Projects))
			}
			for _, d := range ds {
				if len(d.Detail) > 600 {
					t.Errorf("an error of %d bytes", len(d.Detail))
				}
			}
		})
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

func numbered(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("-x%d", i))
	}
	return strings.Join(all, ",")
}

// FuzzServer reads an atlantis.yaml beside a file of the server, whatever both are.
func FuzzServer(f *testing.F) {
	f.Add("version: 3\nprojects:\n- {dir: a, apply_requirements: []}\n", "repos:\n- {id: /.*/, apply_requirements: [approved], workflow: w}\nworkflows:\n  w: {plan: {steps: [run: x]}}\n", "github.com/a/b")
	f.Add("version: 3\n", "repos:\n- {id: github.com/a/b, autodiscover: {mode: enabled, ignore_paths: [x]}, delete_source_branch_on_merge: true}\n", "")
	f.Add("version: 3\nprojects: [{dir: x, workflow: y}]\n", "repos: [{id: '/(/'}, {}, 7]\nworkflows: 3\n", "")
	f.Fuzz(func(t *testing.T, file, server, repository string) {
		for i := range 4 {
			Options{DropSteps: i%2 == 1, Steps: i > 1, Server: &Server{Name: "repos.yaml", Source: []byte(server), Repository: repository}}.Parse(FileName, []byte(file))
		}
	})
}

func numberedRuns(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("run: x %d", i))
	}
	return strings.Join(all, ",")
}
