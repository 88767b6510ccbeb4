package rehearsing

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
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
