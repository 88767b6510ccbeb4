package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

// TestWhy is the story of a person who asks which lines of a branch cause a change, of a saved plan and of a stream of messages.
func TestWhy(t *testing.T) {
	t.Parallel()
	const module = "variable \"size\" {\n  type = number\n}\n\nlocals {\n  name = \"web-${var.size}\"\n}\n\nresource \"terraform_data\" \"web\" {\n  input = local.name\n}\n\nresource \"terraform_data\" \"old\" {\n  input = \"old\"\n}\n"
	d := programtest.NewDir(t, "main.tf", module, "terraform.tfvars", "size = 1\n", ".gitignore", ".terraform*\ntfplan\n*.tfstate*\n")
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		c.Dir, c.Env = d.Path, d.Environ()
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "The first")
	d.Must("init")
	d.Must("apply", "-auto-approve")
	git("checkout", "-q", "-b", "larger")
	d.Write("terraform.tfvars", "# larger\nsize = 2\n")
	d.Must("plan", "-out=tfplan")
	if out := d.Must("why", "-since=main", "terraform_data.web.input").Out; !strings.Contains(out, "terraform.tfvars:") || !strings.Contains(out, "var.size") || strings.Contains(out, "> main.tf") {
		t.Errorf("why:\n%s", out)
	}
	r := d.Run("plan", "-json", "-since=main")
	type change struct {
		Resource struct{ Addr string }
		Causes   []struct {
			Object, Attribute string
			Steps             []struct{ Name string }
			Place             struct {
				File string
				Last int `json:"last_line"`
			}
		}
	}
	found := 0
	for line := range strings.Lines(r.Out) {
		var m struct {
			Type   string
			Change change
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if m.Type != "planned_change" {
			continue
		}
		found++
		c := m.Change.Causes
		if m.Change.Resource.Addr != "terraform_data.web" || len(c) != 1 || c[0].Object != "terraform_data.web" || c[0].Attribute != "input" || c[0].Place.File != "terraform.tfvars" || c[0].Place.Last != 2 {
			t.Errorf("%s", line)
		}
	}
	if found != 1 || r.Code != 0 {
		t.Errorf("%d changes, exit code %d:\n%s%s", found, r.Code, r.Out, r.Stderr)
	}
	for says, args := range map[string][]string{
		"The option -since needs -json":    {"plan", "-since=main"},
		"The changed lines cannot be read": {"plan", "-json", "-since=nothing"},
		"The plan does not change this":    {"why", "terraform_data.old"},
		"terraform_data.web":               {"why", "terraform_data.wbe"},
		"does not change this attribute":   {"why", "terraform_data.web.triggers_replace"},
		"Address is missing":               {"why"},
	} {
		if r := d.Run(args...); r.Code != 1 || !strings.Contains(strings.Join(strings.Fields(r.Out+r.Stderr), " "), says) {
			t.Errorf("lockstep %s: exit code %d\n%s%s", strings.Join(args, " "), r.Code, r.Out, r.Stderr)
		}
	}
}
