package toolresults

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReal reads outputs of real programs: see testdata/README.
func TestReal(t *testing.T) {
	t.Parallel()
	o := Options{Root: "/checkout", Dir: "live/net", Files: fstest.MapFS{"live/net/main.tf": {}, "live/net/my file.tf": {}, "live/net/policy/policy.rego": {}}}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		if e.IsDir() || e.Name() == "README" || strings.HasSuffix(e.Name(), ".txt") {
			continue
		}
		data, err := os.ReadFile("testdata/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(data, o)
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		fmt.Fprintf(&b, "===== %s\n", e.Name())
		if got.Findings != nil {
			b.WriteString(lined(got.Findings))
		}
		if got.Tests != nil {
			b.WriteString(testLines(got.Tests))
		}
		if got.Cost != nil {
			b.WriteString(costLines(got.Cost))
		}
	}
	golden.File(t, "testdata/real.txt", b.String())
}
