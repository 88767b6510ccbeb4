package project

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestReaders is a table of what a project "app" has, and whether it reads the state of the project "net".
func TestReaders(t *testing.T) {
	t.Parallel()
	backend := func(key string) string {
		return "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = \"" + key + "\"\n  }\n}\n"
	}
	remote := func(config string) string {
		return "data \"terraform_remote_state\" \"net\" {\n  backend = \"s3\"\n" + config + "}\n"
	}
	const exact = "  config = {\n    bucket = \"states\"\n    key = \"net/x\"\n    region = var.region\n  }\n"
	for name, c := range map[string]struct {
		app      string
		settings string // arguments of the project app
		want     string
	}{
		"nothing":                {"", "", ""},
		"the state":              {remote(exact), "", "app"},
		"another key":            {remote(strings.Replace(exact, "net/x", "net/y", 1)), "", ""},
		"another bucket":         {remote(strings.Replace(exact, "states", "other", 1)), "", ""},
		"another backend":        {strings.Replace(remote(exact), "\"s3\"", "\"gcs\"", 1), "", ""},
		"another workspace":      {remote(exact + "  workspace = \"blue\"\n"), "", ""},
		"the default workspace":  {remote(exact + "  workspace = \"default\"\n"), "", "app"},
		"no workspace":           {remote(exact + "  workspace = null\n"), "", "app"},
		"in locals":              {"locals {\n  name = \"net\"\n  all = {\n    bucket = \"states\"\n    key = \"${local.name}/x\"\n  }\n}\n" + remote("  config = local.all\n"), "", "app"},
		"for each":               {remote("  for_each = toset([\"db\", \"net\"])\n  config = {\n    bucket = \"states\"\n    key = \"${each.key}/x\"\n  }\n"), "", "app"},
		"in a module":            {"module \"m\" {\n  source = \"../m\"\n  key = \"net/x\"\n}\n", "", "app"},
		"not known":              {remote("  config = {\n    bucket = \"states\"\n    key = var.key\n  }\n"), "", ""},
		"a resource":             {strings.Replace(remote(exact), "data", "resource", 1), "", ""},
		"an input":               {"", "  inputs = {\n    id = project.net.outputs.id\n  }\n", "app"},
		"an input and the state": {remote(exact), "  inputs = {\n    id = project.net.outputs.id\n  }\n", "app"},
		"an order only":          {"", "  depends_on = [\"net\"]\n", ""},
	} {
		files := map[string]string{
			"net/main.tf": backend("net/x") + "output \"id\" {\n  value = 1\n}\n", "app/main.tf": backend("app/x") + "variable \"id\" {\n  default = 1\n}\n" + c.app,
			"m/m.tf": "variable \"key\" {}\n" + remote("  config = {\n    bucket = \"states\"\n    key = var.key\n  }\n"),
			FileName: "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n" + c.settings + "}\n",
		}
		found, ds := Discover(tree(files))
		if len(found.Projects) != 2 {
			t.Fatalf("%s: %v", name, ds)
		}
		for _, p := range found.Projects {
			want := c.want
			if p.Name == "app" {
				want = ""
			}
			if got := strings.Join(Readers(found.Projects, p), " "); got != want {
				t.Errorf("%s: %s is read by %q, want %q; %s", name, p.Name, got, want, fmt.Sprint(found.Projects[1].States))
			}
		}
	}
}

// TestReadersInJSON holds that a data source in JSON is found, too.
func TestReadersInJSON(t *testing.T) {
	t.Parallel()
	found, ds := Discover(tree(map[string]string{
		"net/main.tf":      "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"net/x\"\n  }\n}\n",
		"app/main.tf.json": `{"terraform": {"backend": {"s3": {"bucket": "states", "key": "app"}}}, "data": {"terraform_remote_state": {"net": {"backend": "s3", "config": {"bucket": "states", "key": "net/x"}}}}}`,
	}))
	if len(found.Projects) != 2 || strings.Join(Readers(found.Projects, found.Projects[1]), " ") != "app" {
		t.Errorf("%+v %v", found.Projects, ds)
	}
}

// TestManyStates holds that data sources that could read millions of states are left out, soon.
func TestManyStates(t *testing.T) {
	t.Parallel()
	texts := func(name string) string {
		var all []string
		for i := range 30 {
			all = append(all, fmt.Sprintf("\"%s%d\"", name, i))
		}
		return "[" + strings.Join(all, ", ") + "][var.i]"
	}
	var b strings.Builder
	b.WriteString("variable \"i\" {}\nterraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\n")
	for i := range 5 {
		fmt.Fprintf(&b, "data \"terraform_remote_state\" \"s%d\" {\n  backend = \"s3\"\n  workspace = %s\n  config = {\n    bucket = %s\n    key = %s\n    workspace_key_prefix = %s\n  }\n}\n", i, texts("w"), texts("bucket"), texts("k"), texts("p"))
	}
	begun := time.Now()
	found, ds := Discover(tree(map[string]string{"net/main.tf": b.String()}))
	if took := time.Since(begun); len(found.Projects) != 1 || found.Projects[0].States != nil || took > 10*time.Second {
		t.Errorf("%d projects, %v, after %v", len(found.Projects), ds, took)
	}
}
