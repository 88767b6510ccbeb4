package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// pinned is an action by commit, with the version for people.
var pinned = regexp.MustCompile(`^\s*- uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// workflowProblems returns what of a workflow lets code in that nobody looked at, or gives
// more rights than a job needs.
// Source: https://docs.github.com/en/actions/reference/security/secure-use
func workflowProblems(text string) ([]string, error) {
	var out []string
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "uses:") && !strings.HasPrefix(strings.TrimSpace(line), "#") && !pinned.MatchString(line) {
			out = append(out, fmt.Sprintf("line %d: an action that is not named by commit and version: %s", i+1, strings.TrimSpace(line)))
		}
	}
	var w struct {
		On          any            `yaml:"on"`
		Permissions map[string]any `yaml:"permissions"`
		Jobs        map[string]struct {
			Permissions map[string]any `yaml:"permissions"`
			Steps       []struct {
				Uses string         `yaml:"uses"`
				Run  string         `yaml:"run"`
				With map[string]any `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return nil, err
	}
	if strings.Contains(fmt.Sprint(w.On), "pull_request_target") || strings.Contains(fmt.Sprint(w.On), "workflow_run") {
		out = append(out, "it runs for pull requests with the rights of the base branch")
	}
	if w.Permissions == nil {
		out = append(out, "it does not say what it may, and so may everything")
	}
	for name, v := range w.Permissions {
		if v != "read" {
			out = append(out, fmt.Sprintf("all jobs may %v %s", v, name))
		}
	}
	for name, j := range w.Jobs {
		writes := strings.Contains(fmt.Sprint(j.Permissions), "write")
		for _, s := range j.Steps {
			if strings.Contains(s.Run, "${{") {
				out = append(out, fmt.Sprintf("%s: a command in which GitHub puts what others chose: %s", name, s.Run))
			}
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
				out = append(out, name+": the checkout keeps the token where all code of the job can read it")
			}
			if strings.HasPrefix(s.Uses, "actions/checkout@") && writes {
				out = append(out, name+": a job that may write runs the project's code")
			}
		}
	}
	return out, nil
}

// TestWorkflows holds that workflows run only what was looked at, with no more rights than
// they need.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.y*ml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		problems, err := workflowProblems(string(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", filepath.Base(file), p)
		}
	}
}

func TestWorkflowProblems(t *testing.T) {
	data, err := os.ReadFile("../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ old, new, want string }{
		"a tag":               {"checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0", "checkout@v5", "not named by commit"},
		"a short commit":      {"checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8", "checkout@08c6903", "not named by commit"},
		"a branch":            {"download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0", "download-artifact@main", "not named by commit"},
		"no version":          {" # v4.3.0", "", "not named by commit"},
		"all may write":       {"permissions: {}", "permissions: { contents: write }", "all jobs may write contents"},
		"nothing is said":     {"permissions: {}\n", "", "may everything"},
		"the base's rights":   {"on:\n  push:", "on:\n  pull_request_target:\n  push:", "rights of the base branch"},
		"a text of others":    {"\"VERSION=${TAG#v}\"", "VERSION=${{ github.ref_name }}", "what others chose"},
		"a token left behind": {"persist-credentials: false", "persist-credentials: true", "keeps the token"},
		"code that may write": {"      contents: read\n", "      contents: write\n", "runs the project's code"},
	} {
		wrong := strings.Replace(string(data), test.old, test.new, 1)
		if wrong == string(data) {
			t.Fatalf("%s: %q is not in the workflow", name, test.old)
		}
		problems, err := workflowProblems(wrong)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(problems, "\n"); !strings.Contains(got, test.want) {
			t.Errorf("%s: it says %q, want %q", name, got, test.want)
		}
	}
}
