package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// tellDemo runs scenes in a process of their own, nearly: with its own temporary
// directory, which must be empty afterwards.
func tellDemo(t *testing.T, run func(*app) int) (code int, out, errs string) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var o, e bytes.Buffer
	code = run(newApp(t.Context(), streams{strings.NewReader(""), &o, &e}, nil))
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	return code, o.String(), e.String()
}

func TestDemoTellsItsStory(t *testing.T) {
	code, out, errs := tellDemo(t, func(a *app) int { return demoCommand.run(a, []string{"--script"}) })
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d: %s\n%s", code, errs, out)
	}
	at := 0
	for _, want := range []string{
		"1. alice opens a pull request",
		"alice opens #1: Two subnets",
		"Plan for `",
		"# terraform_data.subnet[\"a\"] will be created",
		"mallory has the permission", // in code, with backticks taken as they are
		"lockstep apply",
		"Applied `network`: 3 added",
		"The plan was made from other files",
		"1 to add, 0 to change, 0 to destroy",
		"Applied `network`: 1 added",
		"refused: this delivery was received before",
		"401 Unauthorized",
		"Everything went as it should.",
	} {
		want = strings.ReplaceAll(want, "mallory has", "`mallory` has")
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("%q is not told after what comes before:\n%s", want, out)
		}
		at += i
	}
	if strings.Contains(out, "<details") || strings.Contains(out, "<!--") {
		t.Error("markup is left in the text")
	}
}

// TestDemoFails holds that a demo whose story goes otherwise says so.
func TestDemoFails(t *testing.T) {
	story := []scene{{"alice pushes what cannot be read", func(d *demo) error {
		d.repo.Push("alice", "broken", "Broken", githubtest.Files{"network/main.tf": "resource {\n"})
		d.repo.OpenPull("alice", "Broken", "broken")
		return nil
	}, []string{"1 to add"}}}
	code, _, errs := tellDemo(t, func(a *app) int { return a.demo(story) })
	if want := "lockstep: error: the demo went wrong in scene 1, alice pushes what cannot be read: nothing was said of \"1 to add\"\n"; code != 1 || errs != want {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestDemoNeedsToBeTold(t *testing.T) {
	code, _, errs := tellDemo(t, func(a *app) int { return demoCommand.run(a, nil) })
	if code != 1 || !strings.Contains(errs, "lockstep demo -script") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
