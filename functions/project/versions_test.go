package project

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockstep-iac/lockstep/engine/language"
)

// TestLanguage is a table of the argument: a project's own version takes the place of the default.
func TestLanguage(t *testing.T) {
	t.Parallel()
	const wrong = `Invalid version of the language: Lockstep speaks the language of Terraform `
	for body, says := range map[string]string{
		"":                       "",
		`language = "1.11"`:      "",
		`language = "1.11.4"`:    "error: lockstep.hcl:6: " + wrong,
		`language = "~> 1.11.0"`: "error: lockstep.hcl:6: " + wrong,
		`language = "1.12"`:      `and the language "1.11" on request, but not "1.12": write "1.11", or leave out this setting.`,
		`language = 1.11`:        "", // a number becomes a text
		`language = ["1.11"]`:    `error: lockstep.hcl:6: Invalid value`,
		`language = null`:        `error: lockstep.hcl:6: Invalid value`,
	} {
		s, ds := Parse(FileName, []byte("defaults {\n  language = \"1.11\"\n}\nproject \"net\" {\n  dir = \"net\"\n  "+body+"\n}\n"))
		if got := said(ds); len(ds) > 1 || says == "" && got != "" || !strings.Contains(got, says) {
			t.Errorf("%s: %s\nwant %s", body, got, says)
		}
		if says == "" && s.Projects[0].Language != language.V1_11 {
			t.Errorf("%s: %q", body, s.Projects[0].Language)
		}
	}
}

// TestOtherVersions asks about one configuration in both versions of the language.
func TestOtherVersions(t *testing.T) {
	t.Parallel()
	for required, want := range map[string][2]string{
		">= 1.5":    {"", ""},
		"~> 1.11.0": {"", ""},
		"1.11.4":    {"", ""},
		"1.11.3":    {"", `a/main.tf:2 requires 1.11.3, and not 1.11.4, which language = "1.11" stands for (old)`},
		">= 1.12":   {"", `a/main.tf:2 requires >= 1.12, and not 1.11.4, which language = "1.11" stands for (old)`},
		">= 1.99":   {"a/main.tf:2 requires >= 1.99 (new)", `a/main.tf:2 requires >= 1.99, and not 1.11.4, which language = "1.11" stands for (old)`},
	} {
		files := fstest.MapFS{"a/main.tf": {Data: []byte("terraform {\n  required_version = \"" + required + "\"\n}\n")}}
		for i, p := range []Project{{Name: "new", Dir: "a"}, {Name: "old", Dir: "a", Language: language.V1_11}} {
			if got := said(OtherVersions(files, []Project{p})); !strings.Contains(got, want[i]) || want[i] == "" && got != "" {
				t.Errorf("%s: %s: %s\nwant %s", required, p.Name, got, want[i])
			}
		}
	}
}
