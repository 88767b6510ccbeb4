package project

import (
	"fmt"
	"strings"
	"testing"
)

// linked is a checkout with projects as "NAME: ARGUMENTS", each in a directory of its name, one on every third line.
func linked(projects ...string) map[string]string {
	files := map[string]string{}
	for _, p := range projects {
		name, arguments, _ := strings.Cut(p, ":")
		files[FileName] += fmt.Sprintf("project %q {\n  dir = %q%s\n}\n", name, name, strings.ReplaceAll(arguments, ";", "\n "))
		files[strings.ReplaceAll(name, "*", "a")+"/main.tf"] = backend
	}
	return files
}

// TestInputsOfProjects holds which projects an input makes a project depend on, and which errors have their line and a remedy.
func TestInputsOfProjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		projects []string
		edges    string
		said     []string // nil: nothing
	}{
		{"an output", []string{"app:; inputs = { id = project.net.outputs.id }", "net:"}, "map[app:[net]]", nil},
		{"beside depends_on", []string{`app:; depends_on = ["db", "net"]; inputs = { id = project.net.outputs.id }`, "net:", "db:"}, "map[app:[db net]]", nil},
		{"in a pattern", []string{"svc-*:; inputs = { id = project.net.outputs.id }", "net:"}, "map[svc-a:[net]]", nil},
		{"through another", []string{"app:; inputs = { id = project.net.outputs.id }", "net:; inputs = { zone = project.dns.outputs.zone }", "dns:"}, "map[app:[net] net:[dns]]", nil},
		{"an unknown project", []string{"app:; inputs = { id = project.nte.outputs.id }", "net:"}, "map[]", []string{"lockstep.hcl:3", "Unknown project", `uses the outputs of "nte"`, `Did you mean "net"?`, "If you removed or renamed the project"}},
		{"no pattern", []string{`app:; inputs = { id = project["svc-*"].outputs.id }`, "svc-a:"}, "map[]", []string{"lockstep.hcl:3", "Unknown project"}},
		{"itself", []string{"app:; inputs = { id = project.app.outputs.id }"}, "map[]", []string{"lockstep.hcl:3", "Project with its own outputs"}},
		{"a cycle", []string{"app:; inputs = { id = project.net.outputs.id }", "net:; inputs = { id = project.dns.outputs.id }", `dns:; depends_on = ["app"]`}, "map[]", []string{"app -> net -> dns -> app", "Remove one of them from depends_on, or from inputs, of another"}},
		{"a cycle that a pattern is in", []string{"svc-*:; inputs = { id = project.net.outputs.id }", `net:; depends_on = ["svc-*"]`}, "map[]", []string{"Projects that wait for each other"}},
		{"two values", []string{"app:; variables = { id = 1, x = 2 }; inputs = { id = project.net.outputs.id }", "net:"}, "map[]", []string{"lockstep.hcl:4", "Variable with two values", `sets the variable "id"`}},
		{"a variable as a name", []string{"app:; inputs = { id = project[var.x].outputs.id }", "net:"}, "map[]", []string{"lockstep.hcl:3", "Write the name of the project"}},
		{"not in defaults", []string{"app:"}, "map[]", []string{"lockstep.hcl:5", "A defaults block can have workspace"}},
	} {
		files := linked(c.projects...)
		if strings.Contains(c.name, "defaults") {
			files[FileName] += "defaults {\n  inputs = { id = project.net.outputs.id }\n}\n"
		}
		for name := range files {
			if dir, ok := strings.CutSuffix(name, "*/main.tf"); ok {
				files[dir+"a/main.tf"] = backend
			}
		}
		all, ds := discovered(tree(files))
		if got := fmt.Sprint(map[string][]string(EdgesOf(all))); got != c.edges {
			t.Errorf("%s: edges %s, want %s", c.name, got, c.edges)
		}
		text := said(ds)
		if len(c.said) == 0 && text != "" {
			t.Errorf("%s: it says %s", c.name, text)
		}
		for _, want := range c.said {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it says %s, and not %s", c.name, text, want)
			}
		}
	}
}

// TestInputsTouch holds that a change of an input is one of its project, wherever the input stands, and of its plan.
func TestInputsTouch(t *testing.T) {
	t.Parallel()
	was := linked("app:; inputs = { id = project.net.outputs.id }", "net:")
	for name, c := range map[string]struct {
		now     string
		touched string
	}{
		"another output": {"app:; inputs = { id = project.net.outputs.x }", "[app]"},
		"elsewhere":      {"app:;;; inputs = {; id = project.net.outputs.id; }", "[]"},
		"none":           {"app:", "[app]"},
	} {
		files := linked(c.now, "net:")
		_, ds := discovered(tree(files))
		if got := "[" + touchedBy(t, was, files) + "]"; got != c.touched || ds.HasErrors() {
			t.Errorf("%s: %s %v", name, got, ds)
		}
		before, _ := Find(tree(was), "app", DefaultWorkspace)
		now, _ := Find(tree(files), "app", DefaultWorkspace)
		a, _ := Inputs(tree(files), before)
		b, err := Inputs(tree(files), now)
		if same := a.Hash() == b.Hash(); err != nil || same != (c.touched == "[]") {
			t.Errorf("%s: the plan's inputs are the same: %v, %v", name, same, err)
		}
	}
}
