package authoring

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// What fmt makes of a line; Terraform 1.11.4 makes the same of it where nothing else
// is said.
func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{`a="${b}"`, `a = b`},
		{`a = "${~ b ~}"`, `a = b`},
		{`a = "${b}" # c`, `a = b # c`},
		{`a = "${b}${c}"`, `a = "${b}${c}"`},
		{`a = "${b} "`, `a = "${b} "`},
		{`a = "$${b}"`, `a = "$${b}"`},
		{`a = "%{if b}c%{endif}"`, `a = "%{if b}c%{endif}"`},
		{`a = "${"${b}"}"`, `a = "${b}"`},
		{`a = "${"a"}${"b"}"`, `a = "${"a"}${"b"}"`},
		{`a = "${{ b = 1 }}"`, `a = { b = 1 }`},
		{`a = ["${b}"]`, `a = ["${b}"]`},
		{`a = f("${b}")`, `a = f("${b}")`},
		{"a = \"${\n  b\n}\"", "a = b"},
		{"a = \"${f(\n  1\n)}\"", "a = (f(\n  1\n))"},
		{"a = \"${(b == null ? 1 :\n2)}\"", "a = (b == null ? 1 :\n2)"},
		{"a = \"${((b +\n2))}\"", "a = ((b +\n2))"},
		{"a = \"${(b +\n2) + (3)}\"", "a = ((b +\n2) + (3))"}, // Terraform makes something of it that it cannot read
		{"a = \"${<<EOT\nb\nEOT\n}\"", "a = <<EOT\nb\nEOT"},
		// Terraform makes something of these that it cannot read again.
		{"a = \"${\n  # c\n  b\n}\"", "a = \"${\n  # c\n  b\n}\""},
		{"a = \"${b // c\n}\"", "a = \"${b // c\n}\""},
		{`variable v { type = "string" }`, `variable "v" { type = string }`},
		{`variable v { type = "list" }`, `variable "v" { type = list(string) }`},
		{`variable v { type = "map" }`, `variable "v" { type = map(string) }`},
		{`variable v { type = "set" }`, `variable "v" { type = "set" }`},
		{`variable v { type = list }`, `variable "v" { type = list(any) }`},
		{`variable v { type = /* c */ set }`, `variable "v" { type = /* c */ set(any) }`},
		{`variable v { type = list(map) }`, `variable "v" { type = list(map) }`},
		{`variable v { type = "${string}" }`, `variable "v" { type = "${string}" }`},
		{`output v { type = "string" }`, `output "v" { type = "string" }`},
		{`x "a" b {}`, `x "a" "b" {}`},
	} {
		if got := string(normalize([]byte(c.src+"\n"), "x.tf")); got != c.want+"\n" {
			t.Errorf("%s\nis   %s\nwant %s", c.src, got, c.want)
		}
	}
}

// What fmt writes to its standard output ends with a line feed.
func TestFmtAsFilter(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a=1": "a = 1\n", "a=1\n": "a = 1\n", "a=1\n\n": "a = 1\n\n", "": "\n"} {
		var out, stderr bytes.Buffer
		a := cli.New(t.Context(), cli.Streams{In: strings.NewReader(in), Out: &out, Err: &stderr}, nil)
		if code := Fmt.Run(a, []string{"-"}); code != 0 || out.String() != want {
			t.Errorf("%q: exit code %d, %q, want %q; %s", in, code, out.String(), want, stderr.String())
		}
	}
}

// Whatever can be read can be read after fmt.
func FuzzNormalize(f *testing.F) {
	f.Add([]byte("a = \"${b}\"\nvariable x {\n type = \"list\"\n}\n"))
	f.Add([]byte("a = \"${\n b +\n c\n}\"\n"))
	f.Add([]byte("b \"x\" y { c = <<EOT\n${d}\nEOT\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, ds := hclsyntax.ParseConfig(src, "x.tf", hcl.InitialPos); ds.HasErrors() {
			return
		}
		out := normalize(src, "x.tf")
		if _, ds := hclsyntax.ParseConfig(out, "x.tf", hcl.InitialPos); ds.HasErrors() {
			t.Fatalf("%q\nbecomes\n%q\n%s", src, out, ds)
		}
	})
}
