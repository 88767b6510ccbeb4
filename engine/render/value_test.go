package render

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// What Terraform 1.11.4's console prints for these values.
func TestValue(t *testing.T) {
	t.Parallel()
	str := cty.StringVal
	for _, x := range []struct {
		v    cty.Value
		want string
	}{
		{cty.True, `true`},
		{cty.MustParseNumberVal("1.50"), `1.5`},
		{cty.MustParseNumberVal("100000000000000000000"), `100000000000000000000`},
		{str("a\"b\\\t\u00fc"), `"a\"b\\\tü"`},
		{str("\x1b[0m\u202e"), `"\x1b[0m\u202e"`},
		{str("a\nb"), "<<EOT\na\nb\nEOT"},
		{str("a\nEOT\n EOT_"), "<<EOT__\na\nEOT\n EOT_\nEOT__"},
		{str("a\n\x07"), "<<EOT\na\n\\u0007\nEOT"},
		{cty.NullVal(cty.String), `tostring(null)`},
		{cty.NullVal(cty.Number), `tonumber(null)`},
		{cty.NullVal(cty.Bool), `tobool(null)`},
		{cty.NullVal(cty.DynamicPseudoType), `null`},
		{cty.NullVal(cty.List(cty.String)), `tolist(null) /* of string */`},
		{cty.NullVal(cty.Set(cty.String)), `toset(null) /* of string */`},
		{cty.NullVal(cty.Map(cty.String)), `tomap(null) /* of string */`},
		{cty.NullVal(cty.EmptyObject), `null /* object */`},
		{cty.UnknownVal(cty.String), `(known after apply)`},
		{str("x").Mark(marks.Sensitive), `(sensitive value)`},
		{str("x").Mark(marks.Ephemeral), `(ephemeral value)`},
		{cty.EmptyTupleVal, `[]`},
		{cty.EmptyObjectVal, `{}`},
		{cty.ListValEmpty(cty.String), `tolist([])`},
		{cty.SetVal([]cty.Value{str("b"), str("a")}), "toset([\n  \"a\",\n  \"b\",\n])"},
		{cty.MapVal(map[string]cty.Value{"b c": str("x\ny"), "a": str("z")}), "tomap({\n  \"a\" = \"z\"\n  \"b c\" = <<-EOT\n  x\n  y\n  EOT\n})"},
		{
			cty.ObjectVal(map[string]cty.Value{"l": cty.TupleVal([]cty.Value{cty.Zero, str("x").Mark(marks.Sensitive)}), "n": cty.NullVal(cty.String)}),
			"{\n  \"l\" = [\n    0,\n    (sensitive value),\n  ]\n  \"n\" = tostring(null)\n}",
		},
	} {
		if d := cmp.Diff(x.want, (&Printer{}).Value(x.v)); d != "" {
			t.Errorf("%#v (- want, + got):\n%s", x.v, d)
		}
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	s := states.Of(map[string]states.Output{
		"b": {Value: cty.StringVal("x")},
		"a": {Value: cty.TupleVal([]cty.Value{cty.Zero})},
		"c": {Value: cty.StringVal("hunter2"), Sensitive: true},
	}, nil)
	var b strings.Builder
	(&Printer{}).Outputs(&b, s)
	if d := cmp.Diff("a = [\n  0,\n]\nb = \"x\"\nc = <sensitive>\n", b.String()); d != "" {
		t.Errorf("(- want, + got):\n%s", d)
	}
	src, err := formats.Outputs(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "a": {
    "sensitive": false,
    "type": [
      "tuple",
      [
        "number"
      ]
    ],
    "value": [
      0
    ]
  },
  "b": {
    "sensitive": false,
    "type": "string",
    "value": "x"
  },
  "c": {
    "sensitive": true,
    "type": "string",
    "value": "hunter2"
  }
}`
	if d := cmp.Diff(want, string(src)); d != "" {
		t.Errorf("JSON (- want, + got):\n%s", d)
	}
	if src, err := formats.Outputs(nil); err != nil || string(src) != "{}" {
		t.Errorf("without a state: %s, %v", src, err)
	}
}

// TestDigits shows numbers with all their digits, whichever way they are found.
func TestDigits(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0", "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "0.1", "-0.5", "12345678901234567890.123", "-0"} {
		f, _, err := big.ParseFloat(s, 10, 512, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if got := digits(f); got != s {
			t.Errorf("%s is shown as %s", s, got)
		}
	}
}
