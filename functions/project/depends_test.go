package project

import (
	"fmt"
	"strings"
	"testing"
)

// TestDependsOn has projects as "name: depends_on", one a line of lockstep.hcl.
func TestDependsOn(t *testing.T) {
	for _, c := range []struct {
		name     string
		projects []string
		edges    string   // of those that are found
		said     []string // nil: nothing
	}{
		{"names", []string{`app: "net", "db"`, `db: "net"`, `net:`}, "map[app:[db net] db:[net]]", nil},
		{"a pattern", []string{`app: "svc-*"`, `svc-a:`, `svc-b:`}, "map[app:[svc-*] svc-*:[svc-a svc-b]]", nil},
		{"a pattern leaves the project itself out", []string{`app: "*"`, `net:`}, "map[app:[net]]", nil},
		{"twice", []string{`app: "net", "n*"`, `net:`}, "map[app:[n* net] n*:[net]]", nil},
		{"a cycle through a pattern", []string{`app: "svc-*"`, `svc-a: "app"`, `svc-b:`}, "map[]", []string{"app -> svc-* -> svc-a -> app"}},
		{"an unknown name", []string{`app: "nte"`, `net:`}, "map[]", []string{"lockstep.hcl:3", "Unknown project", `depends on "nte"`, `Did you mean "net"?`}},
		{"itself", []string{`app: "app"`}, "map[]", []string{"lockstep.hcl:3", "Project depends on itself"}},
		{"a pattern for none", []string{`app: "x-*"`}, "map[]", []string{"lockstep.hcl:3", "No such projects", `"x-*"`}},
		{"an invalid pattern", []string{`app: "["`}, "map[]", []string{"lockstep.hcl:3", "Invalid pattern of projects"}},
		{"a cycle, and one beside it", []string{`a: "b"`, `b: "c"`, `c: "a"`, `d: "e"`, `e:`}, "map[d:[e]]", []string{"lockstep.hcl:1", "Projects that wait for each other", "a -> b -> c -> a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, src := map[string]string{}, ""
			for _, p := range c.projects {
				name, on, _ := strings.Cut(p, ":")
				files[name+"/main.tf"] = backend
				src += fmt.Sprintf("project %q {dir = %q, depends_on = [%s]}\n", name, name, strings.TrimSpace(on))
			}
			files[FileName] = strings.NewReplacer("{dir", "{\n dir", ", depends_on", "\n depends_on", "]}", "]\n}").Replace(src)
			all, ds := discovered(tree(files))
			if got := fmt.Sprint(map[string][]string(EdgesOf(all))); got != c.edges {
				t.Errorf("edges %s, want %s", got, c.edges)
			}
			text := said(ds)
			if len(c.said) == 0 && text != "" {
				t.Errorf("it says %s", text)
			}
			for _, want := range c.said {
				if !strings.Contains(text, want) {
					t.Errorf("it says %s, and not %s", text, want)
				}
			}
		})
	}
}
