package schema_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A recording is one case of testdata/recorded: sections by name.
type recording struct {
	name     string
	sections map[string]string
}

// recordings reads a file of cases. A case without a schema has the last one's.
func recordings(t *testing.T, file string) []recording {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "recorded", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []recording
	last := ""
	for _, part := range strings.Split("\n"+string(raw), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		r := recording{name, map[string]string{}}
		for _, s := range strings.Split("\n"+rest, "\n-- ")[1:] {
			title, text, _ := strings.Cut(s, "\n")
			r.sections[title] = strings.TrimSpace(text)
		}
		if r.sections["schema"] == "" {
			r.sections["schema"] = last
		}
		last = r.sections["schema"]
		out = append(out, r)
	}
	return out
}

func (r recording) value(t *testing.T, b *schema.Block, section string) cty.Value {
	t.Helper()
	return schematest.Value(t, b, r.sections[section])
}

// keyStep is a map key in a path. Terraform writes some of them as attributes.
var keyStep = regexp.MustCompile(`\["(\w+)"\]`)

// errorLines returns errs as the recordings have them, sorted.
func errorLines(errs []error) string {
	var lines []string
	for _, err := range errs {
		s := schema.FormatError(err)
		if strings.HasPrefix(s, "planned for") {
			s = ": " + s // behind the address of the object
		}
		s, _, _ = strings.Cut(s, ", but have ") // newer versions of cty say more
		lines = append(lines, keyStep.ReplaceAllString(s, ".$1"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func wantLines(text string) string {
	lines := strings.Split(keyStep.ReplaceAllString(text, ".$1"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestProposedNewAsRecorded(t *testing.T) {
	for _, r := range recordings(t, "proposed.txt") {
		t.Run(r.name, func(t *testing.T) {
			b := schematest.Block(t, r.sections["schema"])
			got := schema.ProposedNew(b, r.value(t, b, "prior"), r.value(t, b, "config"))
			if want := r.sections["=> proposed"]; schematest.Text(b, got) != want {
				t.Errorf("proposed\n%s\nwant\n%s", schematest.Text(b, got), want)
			}
		})
	}
}

func TestAssertPlanValidAsRecorded(t *testing.T) {
	for _, r := range recordings(t, "planned.txt") {
		t.Run(r.name, func(t *testing.T) {
			b := schematest.Block(t, r.sections["schema"])
			errs := schema.AssertPlanValid(b, r.value(t, b, "prior"), r.value(t, b, "config"), r.value(t, b, "planned"))
			if diff := cmp.Diff(wantLines(r.sections["=> invalid"]), errorLines(errs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAssertObjectCompatibleAsRecorded(t *testing.T) {
	for _, r := range recordings(t, "applied.txt") {
		t.Run(r.name, func(t *testing.T) {
			b := schematest.Block(t, r.sections["schema"])
			errs := schema.AssertObjectCompatible(b, r.value(t, b, "planned"), r.value(t, b, "new"))
			if diff := cmp.Diff(wantLines(r.sections["=> invalid"]), errorLines(errs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeBlocksAsRecorded(t *testing.T) {
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{
		"sx_unk": cty.ObjectVal(map[string]cty.Value{"u": cty.ObjectVal(map[string]cty.Value{"out": cty.DynamicVal})}),
	}}
	for _, r := range recordings(t, "blocks.txt") {
		t.Run(r.name, func(t *testing.T) {
			b := schematest.Block(t, r.sections["schema"])
			got, ds := b.Decode(parseBody(t, r.sections["body"]), ctx)
			if len(ds) > 0 {
				t.Errorf("diagnostics: %s", ds)
			}
			if want := r.sections["=> decoded"]; schematest.Text(b, got) != want {
				t.Errorf("decoded\n%s\nwant\n%s", schematest.Text(b, got), want)
			}
		})
	}
}

func parseBody(t testing.TB, text string) hcl.Body {
	t.Helper()
	f, ds := hclsyntax.ParseConfig([]byte(text+"\n"), "main.tf", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return f.Body
}
