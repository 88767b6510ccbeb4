package project

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func calls(sources ...string) string {
	s := ""
	for i, x := range sources {
		s += fmt.Sprintf("module %q {\n  source = %q\n}\n", fmt.Sprint("m", i), x)
	}
	return s
}

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range files {
		out[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

// describe writes projects as "name: modules".
func describe(list []Project) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, strings.TrimSpace(p.Name+": "+strings.Join(p.Modules, " ")))
	}
	return out
}

func TestDiscover(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", map[string]string{"README.md": "", "a/b.txt": ""}, []string{}},
		{"the root", map[string]string{"main.tf": ""}, []string{".:"}},
		{"JSON", map[string]string{"a/main.tf.json": "{}"}, []string{"a:"}},
		{"a shared module", map[string]string{
			"envs/prod/main.tf": calls("../../modules/net"), "envs/stage/main.tf": calls("../../modules/net"),
			"modules/net/main.tf": calls("./sub"), "modules/net/sub/x.tf": "",
		}, []string{"envs/prod: modules/net modules/net/sub", "envs/stage: modules/net modules/net/sub"}},
		{"a module below its caller", map[string]string{"main.tf": calls("./m"), "m/x.tf": ""}, []string{".: m"}},
		{"hidden", map[string]string{".terraform/modules/x/main.tf": "", ".git/x.tf": "", "a/main.tf": ""}, []string{"a:"}},
		{"broken", map[string]string{"a/main.tf": "resource {", "b/main.tf": ""}, []string{"a:", "b:"}},
		{"a module elsewhere", map[string]string{"a/main.tf": calls("git::https://git.example/x.git")}, []string{"a:"}},
		{"a module outside", map[string]string{"a/main.tf": calls("../../../etc")}, []string{"a:"}},
		{"a module calls itself", map[string]string{"a/main.tf": calls("../b"), "b/main.tf": calls("../b")}, []string{"a: b"}},
	}
	for _, test := range tests {
		got, err := Discover(tree(test.files))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, describe(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestTooManyProjects(t *testing.T) {
	files := map[string]string{}
	for i := range MaxProjects + 1 {
		files[fmt.Sprintf("p%d/main.tf", i)] = ""
	}
	if _, err := Discover(tree(files)); err == nil || !strings.Contains(err.Error(), "201") {
		t.Errorf("error: %v", err)
	}
}

func TestTouched(t *testing.T) {
	all := []Project{
		{Name: "."},
		{Name: "app", Modules: []string{"modules/net"}},
		{Name: "app/worker"},
		{Name: "apple"},
		{Name: "db", Modules: []string{"modules/db", "modules/net"}},
	}
	for i := range all {
		all[i].Dir = all[i].Name
	}
	for _, test := range []struct{ files, want string }{
		{"", ""},
		{"app/main.tf", "app"},
		{"app/files/init.sh", "app"},
		{"app/worker/main.tf", "app/worker"},
		{"apple/main.tf", "apple"},
		{"main.tf", "."},
		{"README.md", "."},
		{"modules/db/x.tf", ". db"},
		{"modules/net/x.tf app/main.tf", ". app db"},
	} {
		var got []string
		for _, p := range Touched(all, strings.Fields(test.files)) {
			got = append(got, p.Name)
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%q touches %q, want %q", test.files, s, test.want)
		}
	}
	if got := Touched(all[1:], []string{"README.md"}); len(got) != 0 {
		t.Errorf("a file of no project touches %v", got)
	}
}
