package project

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRequired holds that no name, directory or block in a pull request evades a requirement of the base
// branch: each row is a project of a pull request, and the requirements that hold for its apply.
func TestRequired(t *testing.T) {
	const src = `
project "prod-net" {
  dir = "net/prod"
}
project "dev-net" {
  dir = "net/dev"
}
project "svc-*" {
  dir = "services/*"
}
require "apply" {
  projects  = ["prod-*"]
  approvals = 2
}
require "apply" {
  projects  = ["svc-pay", "net/**"]
  approvals = 3
}
require "apply" {
  approvals = 1
}
require "plan" {
  draft = false
}
`
	s, ds := Parse(FileName, []byte(src))
	if ds.HasErrors() || s.Unreadable {
		t.Fatal(ds)
	}
	base := []Project{{Name: "old", Dir: "found/prod", Workspace: "default"}}
	for given, want := range map[string]string{
		"prod-net net/prod":         "2 3 1",
		"dev-net net/dev":           "3 1",
		"renamed net/prod":          "2 3 1", // the base branch has the name of its directory
		"dev-net net/prod":          "2 3 1",
		"prod-net elsewhere":        "2 3 1", // the base branch has the directory of its name
		"svc-shop services/shop":    "1",
		"svc-pay services/pay":      "3 1",
		"other services/pay":        "3 1",
		"svc-pay elsewhere":         "3 1",
		"svc-shop services/pay":     "3 1",
		"new new":                   "2 3 1", // nobody knows yet what it is
		"old found/prod":            "1",
		"found found/prod":          "1",
		"net/prod net/prod":         "2 3 1",
		"dev-net net/dev blue":      "3 1",
		"prod-net net/prod default": "2 3 1",
		"x net/prod blue":           "2 3 1", // another workspace is another project, and new
	} {
		words := append(strings.Fields(given), "default")
		var got []string
		for _, r := range s.Required("apply", Project{Name: words[0], Dir: words[1], Workspace: words[2]}, base) {
			got = append(got, string(rune('0'+r.Approvals)))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
	if n := len(s.Required("plan", Project{Name: "new", Dir: "new"}, nil)); n != 1 {
		t.Errorf("%d requirements of a plan", n)
	}
	if !s.RequiresSome("apply") || s.RequiresSome("plan") {
		t.Error("whether the projects of the base branch matter")
	}
	var none *Settings
	if none.Required("apply", Project{}, nil) != nil || none.RequiresSome("apply") {
		t.Error("a repository without settings requires nothing")
	}
}

// TestUnreadable holds that settings in which a requirement may be hidden by an error are known as such.
func TestUnreadable(t *testing.T) {
	for src, want := range map[string]bool{
		"":                                              false,
		"require \"apply\" {\n}\n":                      true,
		"require \"apply\" {\n approvals=1\n}":          false,
		"project \"p\" {\n}\n":                          false, // has no dir: an error of the project
		"require \"apply\" {\n approval=1\n}":           true,
		"require \"apply\" {\n":                         true,
		"requires \"apply\" {\n}\n":                     true,
		"require {\n}\n":                                true,
		"x = 1\n":                                       true,
		"stateful = [\"acme_*\"]\n":                     false,
		"stateful = [\"acme_*\", \"a.b\"]\n":            true,
		"stateful = \"acme_*\"\n":                       true,
		"allow {\n  x = (\n}\nrequire \"apply\" {\n}\n": true,
		strings.Repeat("#", maxSize+1):                  true,
	} {
		if s, _ := Parse(FileName, []byte(src)); s.Unreadable != want {
			t.Errorf("%.40q: %v", src, s.Unreadable)
		}
	}
}
