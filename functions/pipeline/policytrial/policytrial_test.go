package policytrial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// TestPolicies finds the mistakes in the policies of a checkout, and looks at none elsewhere.
func TestPolicies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lockstep.hcl": "policy \"sound\" {\n  dir = \"sound\"\n}\npolicy \"broken\" {\n  dir = \"broken\"\n}\npolicy \"silent\" {\n  dir = \"sound\"\n  namespaces = [\"net\"]\n}\n" +
			"policy \"data\" {\n  dir = \"sound\"\n  data = [\"lists\"]\n}\npolicy \"elsewhere\" {\n  repository = \"acme/policies\"\n}\npolicy \"all\" {\n  dir = \"sound\"\n  namespaces = [\"*\"]\n}\n",
		"sound/a.rego":       "package main\n\ndeny contains \"no\" if input.no\n",
		"broken/a.rego":      "package main\n\ndeny contains \"no\" if owner(input)\n",
		"broken/b.rego":      "package main\n\ndeny[\"no\"] {\n",
		"broken/a_test.rego": "package",
		"bad.hcl":            "policy \"x\" {\n  dir = \"..\"\n}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Policies(dir, "lockstep.hcl")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range got {
		found = append(found, p.Name+" "+p.Dir+": "+p.Mistakes[0])
	}
	want := []string{
		"broken broken: b.rego:4: unexpected eof token",
		"silent sound: the package net has no rule deny, violation or warn, so every plan would pass: begin policies with \"package net\", or name their packages as the namespaces",
		"data sound: the repository has no directory lists",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if _, err := Policies(dir, "nowhere.hcl"); err == nil {
		t.Error("settings that are not there have no error")
	}
}

// TestChanged is a table of the policies of a pull request that are tried.
func TestChanged(t *testing.T) {
	t.Parallel()
	broken := "package main\n\ndeny contains"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lockstep.hcl": "policy \"a\" {\n  dir = \"a\"\n  data = [\"lists\"]\n}\npolicy \"b\" {\n  dir = \"b\"\n}\npolicy \"elsewhere\" {\n  repository = \"acme/policies\"\n}\n",
		"a/x.rego":     broken, "b/x.rego": broken, "lists/x.json": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, b := requirements.Policy{Name: "a", Dir: "a", Data: []string{"lists"}}, requirements.Policy{Name: "b", Dir: "b"}
	moved := b
	moved.Dir = "policy"
	for name, c := range map[string]struct {
		of   jobs.PolicyTrial
		want []string
	}{
		"neither":         {jobs.PolicyTrial{Files: []string{"ab/x.rego", "net/main.tf"}, Were: []requirements.Policy{a, b}}, nil},
		"a file":          {jobs.PolicyTrial{Files: []string{"a/x.rego"}, Were: []requirements.Policy{a, b}}, []string{"a"}},
		"data":            {jobs.PolicyTrial{Files: []string{"lists/y.json"}, Were: []requirements.Policy{a, b}}, []string{"a"}},
		"a new block":     {jobs.PolicyTrial{Files: []string{"lockstep.hcl"}, Were: []requirements.Policy{a}}, []string{"b"}},
		"another block":   {jobs.PolicyTrial{Files: []string{"lockstep.hcl"}, Were: []requirements.Policy{a, moved}}, []string{"b"}},
		"nobody knows":    {jobs.PolicyTrial{Were: []requirements.Policy{a, b}}, []string{"a", "b"}},
		"the first block": {jobs.PolicyTrial{Files: []string{"lockstep.hcl"}}, []string{"a", "b"}},
	} {
		got, err := Changed(t.Context(), dir, c.of)
		var names []string
		for _, p := range got {
			names = append(names, p.Name)
		}
		if err != nil || !slices.Equal(names, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, names, err, c.want)
		}
	}
	if got, err := Changed(t.Context(), filepath.Join(dir, "a"), jobs.PolicyTrial{}); got != nil || err != nil {
		t.Errorf("without settings: %v, %v", got, err)
	}
}

// TestNothingOutside carries out an attack: links in a checkout have files elsewhere read, which mistakes would quote.
func TestNothingOutside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, text := range map[string]string{"x.rego": "package hunter2\n\ndeny[", "lockstep.hcl": "policy \"hunter2\" {\n}\n"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, links := range map[string]map[string]string{
		"the settings":  {"lockstep.hcl": filepath.Join(outside, "lockstep.hcl")},
		"a policy":      {"policy/x.rego": filepath.Join(outside, "x.rego")},
		"the directory": {"policy": outside},
	} {
		dir := t.TempDir()
		if links["lockstep.hcl"] == "" {
			if err := os.WriteFile(filepath.Join(dir, "lockstep.hcl"), []byte("policy \"a\" {\n}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for at, to := range links {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o700), os.Symlink(to, filepath.Join(dir, at))); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Changed(t.Context(), dir, jobs.PolicyTrial{})
		if text := fmt.Sprint(got, err); strings.Contains(text, "hunter2") || strings.Contains(text, "unexpected") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
