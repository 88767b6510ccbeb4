package executor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestDifferences plays testdata/configurations.txtar: files below earlier/CASE/ and later/CASE/,
// and their differences in want/CASE, one a line; those of resources begin with "~".
func TestDifferences(t *testing.T) {
	t.Parallel()
	a, err := txtar.ParseFile("testdata/configurations.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]map[string]map[string][]byte{"earlier": {}, "later": {}}
	want := map[string]string{}
	for _, f := range a.Files {
		side, rest, _ := strings.Cut(f.Name, "/")
		name, file, _ := strings.Cut(rest, "/")
		if side == "want" {
			want[name] = string(f.Data)
			continue
		}
		if files[side][name] == nil {
			files[side][name] = map[string][]byte{}
		}
		files[side][name][file] = f.Data
	}
	for name, text := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, d := range differences(files["earlier"][name], files["later"][name]) {
				if d.Resource != "" {
					got += "~ " + d.Resource + "\n"
				} else {
					got += d.Block + "\n"
				}
			}
			if diff := cmp.Diff(text, got); diff != "" {
				t.Error(diff)
			}
			if ds := differences(files["later"][name], files["later"][name]); len(ds) > 0 && name != "broken" {
				t.Errorf("a configuration is not in itself: %+v", ds)
			}
		})
	}
}
