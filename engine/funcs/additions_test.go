package funcs

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// The results are those of OpenTofu's documentation, or follow from it.
func TestAdditions(t *testing.T) {
	ctx := &hcl.EvalContext{Functions: Table(Scope{}), Variables: map[string]cty.Value{
		"secret":  cty.StringVal("a%20b").Mark(marks.Sensitive),
		"unknown": cty.UnknownVal(cty.String),
	}}
	for expr, want := range map[string]string{
		`base64gunzip(base64gzip("é\n"))`:                      `"é\n"`,
		`base64gunzip(base64gzip(""))`:                         `""`,
		`base64gunzip("***")`:                                  "failed to decode base64 data",
		`base64gunzip(base64encode("x"))`:                      "failed to unpack the data",
		`base64gunzip(substr(base64gzip("some text"), 0, 24))`: "failed to unpack the data",
		`base64gunzip(unknown) == null`:                        `false`,

		`urldecode("a%20b+c%2Fd")`:                 `"a b c/d"`,
		`urldecode(urlencode("mailto:é?=this&")) `: `"mailto:é?=this&"`,
		`urldecode("%zz")`:                         "failed to decode the URL",
		`urldecode("%ff")`:                         "not valid UTF-8",
		`issensitive(urldecode(secret))`:           `true`,

		`cidrcontains("192.168.2.0/20", "192.168.2.1")`:    `true`,
		`cidrcontains("192.168.2.0/20", "192.168.2.0/22")`: `true`,
		`cidrcontains("192.168.2.0/20", "192.168.2.0/20")`: `true`,
		`cidrcontains("192.168.2.0/20", "192.168.2.0/19")`: `false`,
		`cidrcontains("192.168.2.0/20", "192.126.2.1")`:    `false`,
		`cidrcontains("192.168.2.0/20", "192.126.2.0/18")`: `false`,
		`cidrcontains("fe80::/48", "fe80::1")`:             `true`,
		`cidrcontains("fe80::/48", "fe81::1")`:             `false`,
		`cidrcontains("fe80::/48", "fe80::/47")`:           `false`,
		`cidrcontains("010.0.0.0/8", "10.001.0.1")`:        `true`,
		`cidrcontains("192.168.2.0/20", "fe80::1")`:        "address family mismatch: 192.168.2.0/20 vs. fe80::1",
		`cidrcontains("fe80::/48", "192.168.2.0/20")`:      "address family mismatch: fe80::/48 vs. 192.168.2.0/20",
		`cidrcontains("not-a-cidr", "192.168.2.1")`:        "invalid CIDR address: not-a-cidr",
		`cidrcontains("192.168.2.0/20", "not-an-address")`: "invalid IP address or prefix: not-an-address",
		`cidrcontains("192.168.2.0/20", "192.168.2.1/33")`: "invalid IP address or prefix",
		`core::cidrcontains("0.0.0.0/0", "1.2.3.4")`:       `true`,
	} {
		x, ds := hclsyntax.ParseExpression([]byte(expr), "x.tf", hcl.InitialPos)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		v, ds := x.Value(ctx)
		got := ds.Error()
		if !ds.HasErrors() {
			w, ds := hclsyntax.ParseExpression([]byte(want), "want", hcl.InitialPos)
			if ds.HasErrors() {
				t.Errorf("%s = %#v, want an error with %q", expr, v, want)
				continue
			}
			if w, _ := w.Value(nil); !v.RawEquals(w) {
				t.Errorf("%s = %#v, want %#v", expr, v, w)
			}
			continue
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", expr, got, want)
		}
	}
}
