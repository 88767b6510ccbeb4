package parsing

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/tools/txtar"
)

// filler is a block longer than a piece.
var filler = "locals {\n  a = \"" + strings.Repeat("x", pieceSize) + "\"\n}\n"

// pieces are texts between which and after which a file may be cut, and whether it is
// parsed in pieces all the same.
var pieces = map[string]struct {
	text   string
	parsed bool
}{
	"blocks":                     {filler + filler + "resource \"a\" \"b\" {\n  c = 1\n}\n", true},
	"no line break at the end":   {filler + filler + "locals {\n}", true},
	"comments between":           {filler + "# }\n/*\n}\n*/\n" + filler, true},
	"Windows' line breaks":       {strings.ReplaceAll(filler+filler+filler, "\n", "\r\n"), true},
	"a byte order mark":          {"\xef\xbb\xbf" + filler + filler, true},
	"grapheme clusters":          {filler + "locals {\n  é = \"e\u0301\U0001F468\u200D\U0001F469\" # é\n}\n" + filler, true},
	"a brace in a here document": {"locals {\n  a = <<-X\n" + strings.Repeat("{\n}\n", pieceSize) + "X\n}\n" + filler, true},
	"a brace in a comment":       {"/*" + filler + "*/\n" + filler, true},
	"a brace in a template":      {"locals {\n  a = \"${" + strings.Repeat("[\n{\n}\n],", pieceSize) + "}\"\n}\n", false},
	"a brace in parentheses":     {"locals {\n  a = [" + strings.Repeat("{\n}\n,", pieceSize) + "]\n}\n" + filler, true},
	"only comments":              {strings.Repeat("# a\n", pieceSize), true},
	"an argument":                {filler + "a = 1\n" + filler, false},
	"an argument twice":          {"a = 1\n" + filler + "a = 1\n" + filler, false},
	"an unclosed block":          {filler + "locals {\n" + filler, false},
	"a closing brace too many":   {filler + "}\n" + filler, false},
	"a byte order mark inside":   {filler + "\xef\xbb\xbf" + filler + filler, false},
	"a semicolon":                {filler + "locals {\n  a = 1;\n}\n" + filler, false},
	"a large block":              {filler + "locals {\n" + strings.Repeat("# a\n", maxPiece) + "}\n", false},
	"deep":                       {filler + strings.Repeat("a {\n", MaxDepth+1) + strings.Repeat("}\n", MaxDepth+1) + filler, false},
	"a little":                   {"locals {\n}\n", false},
	"nothing":                    {"", false},
}

func TestPieces(t *testing.T) {
	for name, test := range pieces {
		t.Run(name, func(t *testing.T) {
			if got := inPieces([]byte(test.text), "main.tf") != nil; got != test.parsed {
				t.Errorf("parsed in pieces: %t, want %t", got, test.parsed)
			}
			compareWhole(t, test.text)
		})
	}
}

// FuzzPieces parses a text of whatever shape in pieces and as a whole.
func FuzzPieces(f *testing.F) {
	for _, test := range pieces {
		f.Add(test.text)
	}
	paths, err := filepath.Glob("../testdata/script/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		var all strings.Builder
		for _, x := range txtar.Parse(data).Files {
			if strings.HasSuffix(x.Name, ".tf") {
				all.Write(x.Data)
			}
		}
		f.Add(all.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		compareWhole(t, text)
		compareWhole(t, filler+text+filler)
	})
}

// compareWhole compares a text parsed in pieces, if it can be, with it parsed as a whole.
func compareWhole(t *testing.T, text string) {
	t.Helper()
	if depthOf([]byte(text), "main.tf", hcl.InitialPos, fileText, MaxDepth) != nil {
		return // for good reason it is not parsed as a whole
	}
	want, wantDiags := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	got, gotDiags := unguarded([]byte(text), "main.tf")
	if !reflect.DeepEqual(gotDiags, wantDiags) {
		t.Errorf("diagnostics:\n%v\nwant:\n%v", gotDiags, wantDiags)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("not the file of the whole:\n%s", text)
	}
	for offset := 0; offset < len(text); offset += 1 + len(text)/1000 {
		if got, want := hcled.ContextString(got, offset), hcled.ContextString(want, offset); got != want {
			t.Fatalf("the block around offset %d is %q, want %q", offset, got, want)
		}
	}
}
