package project

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestConftests holds that a file with settings of conftest is told of where it has something that the block lacks.
func TestConftests(t *testing.T) {
	t.Parallel()
	const all = "policy = \"rules\"\ndata = [\"exceptions\"]\n# namespace = \"x\"\nnamespace = [\"aws\"]\nall-namespaces = true\nnamespace = \"main\"\n"
	for name, test := range map[string]struct {
		block string
		files map[string]string
		want  []Conftest
	}{
		"none":                {"", nil, nil},
		"at the root":         {"", map[string]string{"conftest.toml": all}, []Conftest{{"conftest.toml", "x", []string{"data", "namespace", "all-namespaces"}}}},
		"beside the policies": {"dir = \"ci/rules\"", map[string]string{"ci/conftest.toml": all}, []Conftest{{"ci/conftest.toml", "x", []string{"data", "namespace", "all-namespaces"}}}},
		"elsewhere":           {"", map[string]string{"ci/conftest.toml": all}, nil},
		"with data":           {"data = [\"exceptions\"]", map[string]string{"conftest.toml": all}, []Conftest{{"conftest.toml", "x", []string{"namespace", "all-namespaces"}}}},
		"with all":            {"data = [\"exceptions\"]\nnamespaces = [\"*\"]", map[string]string{"conftest.toml": all}, nil},
		"of no use":           {"", map[string]string{"conftest.toml": "output = \"json\"\nno-data = 1\n"}, nil},
		"another repository":  {"repository = \"acme/rules\"", map[string]string{"conftest.toml": all}, nil},
	} {
		files := fstest.MapFS{FileName: {Data: []byte("policy \"x\" {\n" + test.block + "\n}\n")}}
		for file, text := range test.files {
			files[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if diff := cmp.Diff(test.want, Conftests(files)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := Conftests(fstest.MapFS{FileName: {Data: []byte("policy {")}, conftestFile: {Data: []byte(all)}}); got != nil {
		t.Errorf("of broken settings: %v", got)
	}
}
