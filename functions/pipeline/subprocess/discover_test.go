package subprocess

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestDiscovered holds that the words about a file with settings come from the child without our secrets.
func TestDiscovered(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.Redact = func(s string, _ []string) string { return strings.ReplaceAll(s, "hunter2hunter2", "(hidden)") }
	dir := t.TempDir()
	const file = "version: 3\nprojects:\n- {dir: ., workflow: w}\n- {dir: hunter2hunter2}\nworkflows: {w: {plan: {steps: [plan: {extra_args: [-hunter2hunter2]}]}}}\n"
	for name, text := range map[string]string{"atlantis.yaml": file, "main.tf": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := e.Discover(t.Context(), dir)
	if err != nil || len(d.Projects) != 1 || d.Settings != "atlantis.yaml" || len(d.Notes) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	for what, text := range map[string]string{"note": d.Notes[0], "problem": d.Problem} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "(hidden)") {
			t.Errorf("the %s is %s", what, text)
		}
	}
}

// TestRehearsed holds that the mistakes in policies come from the child without our secrets.
func TestRehearsed(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.Redact = func(s string, _ []string) string { return strings.ReplaceAll(s, "hunter2hunter2", "(hidden)") }
	dir := t.TempDir()
	for name, text := range map[string]string{"lockstep.hcl": "policy \"a\" {\n}\n", "policy/a.rego": "package main\n\ndeny contains \"x\" if hunter2hunter2(input)\n"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := e.Rehearse(t.Context(), dir, jobs.PolicyTrial{})
	if err != nil || len(all) != 1 || len(all[0].Mistakes) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if m := all[0].Mistakes[0]; !strings.Contains(m, "a.rego:3: ") || strings.Contains(m, "hunter2") || !strings.Contains(m, "(hidden)") {
		t.Error(m)
	}
}

// TestTouchedBombs holds that patterns of a pull request are matched in a process with limits, whose end is an answer.
func TestTouchedBombs(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	was, now := t.TempDir(), t.TempDir()
	deep := filepath.Join(now, strings.Repeat("aaaaaaaaa/", 90))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(deep, fmt.Sprint("a", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := project.Project{Name: "net", Dir: "net", Workspace: project.DefaultWorkspace}
	for i := range 100 {
		p.WhenChanged = append(p.WhenChanged, "**/"+strings.Repeat("{**/*a,**/*a,**/*a,**/*a,**/a}", 4)+fmt.Sprint("x", i))
	}
	all := []project.Project{p}
	_, err := e.Touched(t.Context(), jobs.Comparison{Was: was, Now: now, Had: all, Has: all})
	var dead *jobs.DeathError
	if !errors.As(err, &dead) || !strings.Contains(dead.Markdown(), "Looking for the projects that the pull request touches") {
		t.Errorf("%v", err)
	}
	p.WhenChanged = []string{"aaaaaaaaa/**"}
	all = []project.Project{p}
	if d, err := e.Touched(t.Context(), jobs.Comparison{Was: was, Now: now, Had: all, Has: all}); err != nil || len(d.Touched) != 1 || len(d.Changed) != 200 {
		t.Errorf("%v, %v", d.Touched, err)
	}
}
