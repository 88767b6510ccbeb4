package funcs

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
)

// readable writes a value as a reader would: strings as they are, collections in
// brackets.
func readable(v cty.Value) string {
	switch {
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	case v.Type() == cty.String:
		return v.AsString()
	case v.Type() == cty.Bool:
		return fmt.Sprint(v.True())
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case v.Type() == TypeType:
		return FormatType(*v.EncapsulatedValue().(*cty.Type))
	}
	var parts []string
	for _, e := range v.Elements() {
		parts = append(parts, readable(e))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func TestWorld(t *testing.T) {
	t.Parallel()
	applying := Scope{
		BaseDir:       "/work/project",
		Home:          "/home/me",
		Now:           func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600)) },
		PlanTimestamp: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", -3600)),
		Rand:          bytes.NewReader([]byte("0123456789abcdef")),
	}
	planning := applying
	planning.PureOnly = true
	validating := planning
	validating.PlanTimestamp = time.Time{}
	console := applying
	console.ConsoleMode = true

	tests := []struct {
		scope      Scope
		expr, want string
	}{
		{applying, `timestamp()`, "2026-03-04T04:06:07Z"},
		{applying, `plantimestamp()`, "2026-01-02T04:04:05Z"},
		{applying, `uuid()`, "30313233-3435-4637-b839-616263646566"},
		{applying, `length(bcrypt("x", 4))`, "60"},
		{applying, `bcrypt("x", 32)`, "error: error occured generating password crypto/bcrypt: cost 32 is outside allowed inclusive range 4..31."},
		{applying, `type(1)`, `error: There is no function named "type".`},
		{applying, `pathexpand("~/x")`, "/home/me/x"},
		{applying, `pathexpand("~")`, "/home/me"},
		{applying, `abspath("x/../y")`, "/work/project/y"},
		{applying, `abspath("")`, "/work/project"},
		{applying, `abspath("~/x")`, "/work/project/~/x"},
		{planning, `timestamp()`, "unknown"},
		{planning, `timestamp() == null`, "false"},
		{planning, `uuid()`, "unknown"},
		{planning, `bcrypt("x", 4)`, "unknown"},
		{planning, `core::uuid()`, "unknown"},
		{planning, `plantimestamp()`, "2026-01-02T04:04:05Z"},
		{validating, `plantimestamp()`, "unknown"},
		{validating, `plantimestamp() == null`, "false"},
		{console, `type(1)`, "number"},
		{console, `core::type(null)`, "dynamic"},
		{console, `type(type(1))`, "type"},
		{console, `type(sensitive(toset(["a"])))`, "set(string)"},
		{console, `type({"q r" = tolist([1]), b = {c = []}, d = {}})`, "object({\n    b: object({\n        c: tuple([]),\n    }),\n    d: object({}),\n    q r: list(number),\n})"},
		{console, `type(tomap({a = [1, "x"]}))`, "map(\n    tuple([\n        number,\n        string,\n    ]),\n)"},
		{console, `plantimestamp()`, `error: There is no function named "plantimestamp".`},

		// Beyond Terraform 1.11.4, which refuses or garbles these.
		{applying, `cidrsubnets("0.0.0.0/0", 1, 1)`, "[0.0.0.0/1 128.0.0.0/1]"},
		{applying, `cidrsubnets("0.0.0.0/8", 8, 4)`, "[0.0.0.0/16 0.16.0.0/12]"},
		{applying, `cidrsubnets("0.0.0.0/0", 1, 1, 1)`, "error: not enough remaining address space for a subnet with a prefix of 1 bits after 128.0.0.0/1."},
		{applying, `cidrsubnet("10.0.0.0/8", 8, -1)`, "error: subnet number must not be negative."},
		{applying, `cidrsubnet("10.0.0.0/8", -9, 0)`, "error: cannot shorten a prefix of 8 bits by 9."},
		{applying, `templatestring(x, {x = null})`, "error: <templatestring argument>:1,1-5: Template result is null; The result of the template is null, which is not a valid result for a template."},
		{applying, `element([1, 2, 3], -1)`, "3"},
	}
	for _, test := range tests {
		ctx := &hcl.EvalContext{Functions: Table(test.scope), Variables: map[string]cty.Value{"x": cty.StringVal("${x}")}}
		if diff := cmp.Diff(test.want, result(test.expr, ctx, "/nowhere")); diff != "" {
			t.Errorf("%s\n%s", test.expr, diff)
		}
	}
}

func TestRSADecrypt(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 rsadecrypt is defined by this padding
	cipher, err := rsa.EncryptPKCS1v15(rand.Reader, &key.PublicKey, []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte) cty.Value {
		return cty.StringVal(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	ctx := &hcl.EvalContext{Functions: Table(Scope{}), Variables: map[string]cty.Value{
		"cipher": cty.StringVal(base64.StdEncoding.EncodeToString(cipher)),
		"key":    encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)),
		"pkcs8":  encode("PRIVATE KEY", pkcs8),
		"broken": encode("RSA PRIVATE KEY", []byte("hush")),
	}}
	for expr, want := range map[string]string{
		`rsadecrypt(cipher, key)`:                                    "hello",
		`rsadecrypt(cipher, pkcs8)`:                                  "hello",
		`rsadecrypt(sensitive(cipher), key)`:                         "sensitive hello",
		`rsadecrypt(cipher, sensitive(key))`:                         "sensitive hello",
		`rsadecrypt("AAAA", key)`:                                    "error: failed to decrypt: crypto/rsa: decryption error.",
		`strcontains(try(rsadecrypt(cipher, broken), "no"), "hush")`: "false",
	} {
		if got := result(expr, ctx, "/nowhere"); got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
	}
}

// A search set with an element that is not known could match anything.
func TestMatchKeysPromisesNothing(t *testing.T) {
	t.Parallel()
	got, err := matchKeysFunc.Call([]cty.Value{
		cty.ListVal([]cty.Value{cty.StringVal("a")}),
		cty.ListVal([]cty.Value{cty.StringVal("x")}),
		cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}),
	})
	if want := cty.UnknownVal(cty.List(cty.String)).RefineNotNull(); err != nil || !got.RawEquals(want) {
		t.Errorf("got %#v, %v, want %#v", got, err, want)
	}
}

func TestEphemeralAsNull(t *testing.T) {
	t.Parallel()
	once := func(v cty.Value) cty.Value { return v.Mark(marks.Ephemeral) }
	secret := func(v cty.Value) cty.Value { return v.Mark(marks.Sensitive) }
	tests := []struct{ in, want cty.Value }{
		{cty.StringVal("a"), cty.StringVal("a")},
		{once(cty.StringVal("a")), cty.NullVal(cty.String)},
		{once(cty.UnknownVal(cty.String)), cty.NullVal(cty.String)},
		{secret(once(cty.StringVal("a"))), secret(cty.NullVal(cty.String))},
		{once(cty.DynamicVal), cty.NullVal(cty.DynamicPseudoType)},
		{
			cty.ObjectVal(map[string]cty.Value{"a": once(cty.StringVal("x")), "b": secret(cty.StringVal("y"))}),
			cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String), "b": secret(cty.StringVal("y"))}),
		},
		{
			once(cty.ListVal([]cty.Value{once(cty.StringVal("x")), cty.StringVal("y")})),
			cty.NullVal(cty.List(cty.String)),
		},
	}
	for _, test := range tests {
		got, err := ephemeralAsNullFunc.Call([]cty.Value{test.in})
		if err != nil || !got.RawEquals(test.want) {
			t.Errorf("%#v: got %#v, %v, want %#v", test.in, got, err, test.want)
		}
	}
}
