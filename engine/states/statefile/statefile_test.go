package statefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// stock returns the state files in testdata/stock, all written by Terraform 1.11.4, with the version that we write, and the member that
// each object has since Terraform 1.12.
func stock(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/stock/*.tfstate")
	if err != nil || len(names) < 4 {
		t.Fatalf("stock state files: %v, %v", names, err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		src := bytes.Replace(testFile(t, name), []byte(`"1.11.4"`), []byte(strconv.Quote(states.LanguageVersion)), 1)
		out[filepath.Base(name)] = beforeIdentities.ReplaceAll(src, []byte("$0,\n          \"identity_schema_version\": 0"))
	}
	return out
}

// beforeIdentities matches the member of an object behind which identities have their place.
var beforeIdentities = regexp.MustCompile(`(?ms)^ {10}"sensitive_attributes": \[(\]|$.*?^ {10}\])`)

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, src []byte) *states.State {
	t.Helper()
	s, err := Read(src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t testing.TB, s *states.State) []byte {
	t.Helper()
	b, err := Write(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func object(t testing.TB, s *states.State, addr string, deposed addrs.DeposedKey) *states.Object {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(addr)
	if err != nil {
		t.Fatal(err)
	}
	o := s.Object(addrs.ResourceInstanceObject{Instance: a, Deposed: deposed})
	if o == nil {
		t.Fatalf("the state does not have %s %s", addr, deposed)
	}
	return o
}

// file returns a state file with the given members besides the usual ones.
func file(members string) []byte {
	return []byte(`{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {}, ` + members + `}`)
}

// resource returns a state file with one resource that has the given instances.
func resource(instances string) []byte {
	return file(`"resources": [{"mode": "managed", "type": "t", "name": "n",
		"provider": "provider[\"registry.terraform.io/hashicorp/t\"]", "instances": [` + instances + `]}]`)
}

func TestStockFilesComeBackByteForByte(t *testing.T) {
	for name, src := range stock(t) {
		if diff := cmp.Diff(string(src), string(write(t, read(t, src)))); diff != "" {
			t.Errorf("%s is written otherwise than it was read (-stock +ours):\n%s", name, diff)
		}
	}
}

// The states in testdata/newer have all that Terraform 1.16.0-rc2 and OpenTofu 1.12.6 write: identities, write-only arguments, stores,
// tainted and deposed objects, results of checks, skip_destroy, and instances of providers with for_each. Terraform's comes back byte
// for byte. OpenTofu's has other places for some members, and no version of an identity schema where it is 0.
func TestNewerFilesComeBack(t *testing.T) {
	for name, missing := range map[string][]string{
		"terraform-1.16.tfstate": {`"skip_destroy"`},
		"opentofu-1.12.tfstate":  {`"store"`},
	} {
		src := testFile(t, "testdata/newer/"+name)
		for _, part := range []string{`"identity"`, `"secret_wo"`, `"store"`, `"skip_destroy"`, `"deposed"`, `"tainted"`, `"check_results"`, `"dependencies"`} {
			if bytes.Contains(src, []byte(part)) == slices.Contains(missing, part) {
				t.Errorf("%s: has %s: %t", name, part, slices.Contains(missing, part))
			}
		}
		version := regexp.MustCompile(`(?m)^  "terraform_version": .*$`)
		got := write(t, read(t, src))
		src, got = version.ReplaceAll(src, nil), version.ReplaceAll(got, nil)
		if strings.HasPrefix(name, "opentofu") {
			src, got = sorted(t, src), sorted(t, got)
		}
		if diff := cmp.Diff(string(src), string(got)); diff != "" {
			t.Errorf("%s is written otherwise than it was read (-stock +ours):\n%s", name, diff)
		}
	}
}

// sorted returns a state file with the members of each object by name, and without versions of identity schemas that are 0.
func sorted(t *testing.T, src []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^ *"identity_schema_version": 0,?\n`).ReplaceAll(out, nil)
}

// What Terraform made of testdata/pushed-in.json by `terraform state push` is in
// stock/pushed.tfstate: sorting, escaping, numbers, flat attributes, empty members.
func TestStrayLayoutIsWrittenAsTerraformWritesIt(t *testing.T) {
	s := read(t, testFile(t, "testdata/pushed-in.json"))
	if s.TerraformVersion != "1.14.0" {
		t.Errorf("written by %q", s.TerraformVersion)
	}
	got := write(t, s.With(s.Lineage, s.Serial+1))
	if diff := cmp.Diff(string(stock(t)["pushed.tfstate"]), string(got)); diff != "" {
		t.Errorf("-stock +ours:\n%s", diff)
	}
}

func TestReadKnowsWhatTheFileSays(t *testing.T) {
	src := stock(t)["everything.tfstate"]
	s := read(t, src)
	if s.Serial == 0 || len(s.Lineage) != 36 || s.TerraformVersion != states.LanguageVersion {
		t.Errorf("serial %d, lineage %q, version %q", s.Serial, s.Lineage, s.TerraformVersion)
	}
	if o, _ := s.Output("z"); !o.Sensitive || o.Value.AsString() != "s3cr<e>t&\u2028" {
		t.Errorf("output z = %#v", o)
	}
	if o, _ := s.Output("obj"); !o.Value.GetAttr("a").RawEquals(cty.SetVal([]cty.Value{cty.StringVal("x"), cty.StringVal("y")})) {
		t.Errorf("output obj = %#v", o)
	}

	shape := object(t, s, "lab_shape.s", "")
	if string(shape.Private) != `{"lab_id":"InMtMSI="}` {
		t.Errorf("private: %q", shape.Private)
	}
	var got []string
	for _, p := range shape.Sensitive {
		got = append(got, states.PathKey(p))
	}
	slices.Sort(got)
	want := []string{`.disk[0].part[0].mount`, `.filter`, `.items[1]`, `.labels`, `.limits["x.y"]`, `.ports[1].port`, `.zones["y"].key`, `.zones["z"].key`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sensitive paths (-want +got):\n%s", diff)
	}
	if bytes.ContainsAny(shape.AttrsJSON, " \n") {
		t.Errorf("attributes have their layout: %s", shape.AttrsJSON)
	}

	thing := object(t, s, "lab_thing.t", "")
	if !thing.CreateBeforeDestroy || thing.Status != states.Ready {
		t.Errorf("lab_thing.t: %+v", thing)
	}
	if p := s.Resource(addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "t"}}).Provider; p.String() != `provider["registry.terraform.io/lockstep/lab"].west` {
		t.Errorf("provider %s", p)
	}
	deps := fmt.Sprint(object(t, s, `module.m["x<"].lab_thing.x`, "").Dependencies.All())
	if deps != "[module.m.terraform_data.in terraform_data.one]" {
		t.Errorf("dependencies %s", deps)
	}
	object(t, s, `terraform_data.each["Ä\"q"]`, "")
	object(t, s, `terraform_data.each["$${x}"]`, "")
	object(t, s, `module.a[10].terraform_data.t`, "")
	object(t, s, `data.lab_list.l`, "")

	kinds := map[string]string{}
	for _, c := range s.Checks {
		kinds[c.Kind] = c.Status
		if c.Kind == "check" && !slices.Equal(c.Objects[0].Failures, []string{"name <is> not zz"}) {
			t.Errorf("failures: %q", c.Objects[0].Failures)
		}
	}
	if diff := cmp.Diff(map[string]string{"check": "fail", "var": "pass", "resource": "pass", "output_value": "pass"}, kinds); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

func TestReadDeposedAndTainted(t *testing.T) {
	s := read(t, stock(t)["deposed.tfstate"])
	if o := object(t, s, "terraform_data.base[1]", ""); o.Status != states.Tainted {
		t.Error("terraform_data.base[1] is not tainted")
	}
	a, _ := addrs.ParseAbsResourceInstance(`lab_thing.flaky["a b"]`)
	in := s.Instance(a)
	if len(in.Deposed) != 1 || in.Current == nil || in.Current.Status != states.Tainted {
		t.Errorf("lab_thing.flaky: %+v", in)
	}
}

func TestNoBytesAreNoState(t *testing.T) {
	s, err := Read(nil)
	if err != nil || !s.IsEmpty() || s.Lineage != "" || s.Serial != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	want := stock(t)["empty.tfstate"]
	if got := write(t, s.With("81ddd618-0b8a-ca48-d4e5-05524a1c39ce", 23)); string(got) != string(want) {
		t.Errorf("an empty state is written as\n%s\nand Terraform writes\n%s", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	dup := `{"schema_version": 0, "index_key": 1}, {"index_key": 1, "schema_version": 0}`
	for src, want := range map[string]string{
		" \n":                             "line 2, column 1: the text ends where an object is expected",
		"<html>":                          "line 1, column 1: an object is expected, not '<'",
		"[]":                              "an object is expected",
		`{"a": 1}`:                        "this is not a state file: it has no version",
		`{"version": "4"}`:                "a version number is expected",
		`{"version": 4} x`:                "the end of the text is expected, not 'x'",
		`{"version": 4, }`:                "a name in quotes is expected",
		`{"version": 4, "lineage": 3}`:    "a string is expected, not '3'",
		`{"version": 4, "serial": -1}`:    "a serial number is expected",
		`{"version": 4, "serial": 1.5}`:   "a serial number is expected",
		`{"version": 4, "resources": {}}`: "a list is expected, not '{'",
		`{"version": 5, "terraform_version": "2.1.0", "resources": 7}`:     "format version 5 (it was written by version 2.1.0), but 4 is the newest",
		`{"version": 3, "modules": []}`:                                    "format version 3, which is too old to be read: run `terraform apply -refresh-only`",
		`{"serial": 1, "encrypted_data": "x", "encryption_version": "v0"}`: "add the encryption block",

		string(file(`"resources": [{"mode": "ephemeral", "type": "t", "name": "n", "instances": []}]`)):                    `t.n has the unknown mode "ephemeral"`,
		string(file(`"resources": [{"mode": "managed", "type": "", "name": "n", "instances": []}]`)):                       `".n" is no name for a resource`,
		string(file(`"resources": [{"module": "net", "mode": "managed", "type": "t", "name": "n"}]`)):                      `invalid module address "net"`,
		string(file(`"resources": [{"mode": "managed", "type": "t", "name": "n", "provider": "aws", "instances": []}]`)):   `t.n: invalid provider configuration address "aws"`,
		string(file(`"resources": [{"mode": "managed", "type": "t", "name": "n", "instances": [{"schema_version": 0}]}]`)): `t.n has no provider`,
		string(file(`"outputs": {"o": {"value": "secret", "type": "number"}}`)):                                            `output "o" has a value that is not of its type`,
		string(file(`"outputs": {"o": {"value": [], "type": ["tuple", ["number"]]}}`)):                                     `output "o" has a value that is not of its type`,
		string(file(`"outputs": {"o": {"value": 1e999999999, "type": "number"}}`)):                                         `output "o" has a value that is not of its type`,
		string(file(`"outputs": {"o": {"value": "secret", "type": "thing"}}`)):                                             `output "o" has an invalid type`,

		string(resource(dup)): "t.n[1] is in it twice",
		string(resource(`{"deposed": "00000001"}, {"deposed": "00000001"}`)):               "t.n (deposed object 00000001) is in it twice",
		string(resource(`{"deposed": "1"}`)):                                               "must have eight digits",
		string(resource(`{"status": "sick"}`)):                                             `the unknown status "sick"`,
		string(resource(`{"index_key": 1.5}`)):                                             "an instance key: a string or a whole number is expected",
		string(resource(`{"index_key": {}}`)):                                              "an instance key: a string or a whole number is expected",
		string(resource(`{"private": "*secret*"}`)):                                        "private data is not valid base64",
		string(resource(`{"dependencies": ["module.x"]}`)):                                 "invalid dependency: ",
		string(resource(`{"dependencies": "t.x"}`)):                                        "a list is expected",
		string(resource(`{"sensitive_attributes": [[{"type": "splat"}]]}`)):                "a path of sensitive attributes has an invalid step",
		string(resource(`{"sensitive_attributes": [[{"type": "get_attr", "value": 1}]]}`)): "a path of sensitive attributes has an invalid step",
		string(resource(`{"attributes": {"a": 01}}`)):                                      "a comma or } is expected, not '1'",
		string(resource(`{"attributes": {"a": "` + "\n" + `"}}`)):                          "control character",
		string(resource(`{"attributes": {"a": ` + strings.Repeat("[", 10001) + `}}`)):      "nest deeper",
	} {
		s, err := Read([]byte(src))
		switch {
		case err == nil:
			t.Errorf("%.200s\nis read as %+v", src, s)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%.200s\ngives %q, want %q", src, err, want)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("%.200s\ntells a value: %q", src, err)
		}
	}
}

func TestATruncatedFileSaysSo(t *testing.T) {
	src := bytes.TrimSpace(stock(t)["deposed.tfstate"])
	for n := 1; n < len(src); n++ {
		if _, err := Read(src[:n]); err == nil || !strings.HasPrefix(err.Error(), "the state file is cut off (line ") {
			t.Fatalf("cut off after %d bytes, %q: %v", n, src[max(0, n-20):n], err)
		}
	}
}

func TestUnknownMembersAreKept(t *testing.T) {
	src := []byte(`{"version": 4, "serial": 1, "lineage": "x", "later": {"a": [1, 2]}, "resources": [
		{"mode": "managed", "type": "t", "name": "n", "each": "list", "provider": "provider[\"example.com/a/t\"]", "hue": "<",
		 "instances": [{"schema_version": 0, "attributes": {}, "skip_destroy": true, "identity": {"id": 1.0}, "identity_schema_version": 2, "private": "AA=="}]}]}`)
	s := read(t, src)
	got := string(write(t, s))
	want := `{
  "version": 4,
  "terraform_version": "` + states.LanguageVersion + `",
  "serial": 1,
  "lineage": "x",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "t",
      "name": "n",
      "provider": "provider[\"example.com/a/t\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {},
          "sensitive_attributes": [],
          "identity_schema_version": 2,
          "identity": {
            "id": 1.0
          },
          "private": "AA==",
          "skip_destroy": true
        }
      ],
      "hue": "\u003c"
    }
  ],
  "check_results": null,
  "later": {
    "a": [
      1,
      2
    ]
  }
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	e := s.Edit()
	e.SetOutput("o", states.Output{Value: cty.True})
	o := *object(t, s, "t.n", "")
	o.Status = states.Tainted
	a, _ := addrs.ParseAbsResourceInstance("t.n")
	e.SetObject(addrs.ResourceInstanceObject{Instance: a}, s.Resource(a.AbsResource()).Provider, &o)
	edited := string(write(t, e.State()))
	for _, kept := range []string{`"later"`, `"hue"`, `"skip_destroy"`, `"status": "tainted"`} {
		if !strings.Contains(edited, kept) {
			t.Errorf("%s is gone after an edit", kept)
		}
	}
}

// OpenTofu 1.9 and later writes the provider of each instance where a provider
// configuration has for_each, and none for the resource.
func TestProviderOfTheSingleInstance(t *testing.T) {
	src := file(`"resources": [{"mode": "managed", "type": "t", "name": "n", "instances": [
		{"index_key": "eu", "provider": "provider[\"example.com/a/t\"].by_region[\"eu\"]", "schema_version": 0},
		{"index_key": "us", "provider": "provider[\"example.com/a/t\"].by_region[\"us\"]", "schema_version": 0}]},
		{"mode": "managed", "type": "t", "name": "husk", "instances": []}]`)
	s := read(t, src)
	us, _ := addrs.ParseAbsResourceInstance(`t.n["us"]`)
	res := s.Resource(us.AbsResource())
	if got := res.Provider.String(); got != `provider["example.com/a/t"].by_region` {
		t.Errorf("the resource's provider is %s", got)
	}
	if got := s.Instance(us).Provider; got != `provider["example.com/a/t"].by_region["us"]` {
		t.Errorf("the instance's provider is %s", got)
	}
	first := write(t, s)
	if !bytes.Contains(first, []byte(`"provider": "provider[\"example.com/a/t\"].by_region[\"us\"]",`)) || bytes.Contains(first, []byte(`by_region",`)) {
		t.Errorf("written as\n%s", first)
	}

	// Taken over by a provider configuration of its own, one instance is recorded
	// in the usual way, and the resource has a provider again.
	e := s.Edit()
	p := addrs.AbsProviderConfig{Provider: res.Provider.Provider, Alias: "us"}
	e.SetObject(addrs.ResourceInstanceObject{Instance: us}, p, &states.Object{Status: states.Ready, AttrsJSON: json.RawMessage(`{}`)})
	second := write(t, e.State())
	if bytes.Contains(second, []byte(`by_region[\"us\"]`)) || !bytes.Contains(second, []byte(`"provider": "provider[\"example.com/a/t\"].us",`)) {
		t.Errorf("written as\n%s", second)
	}
}

func TestObjectsMadeHereAreWrittenInFull(t *testing.T) {
	s := read(t, resource(`{"schema_version": 1, "attributes": {"id": "a"}, "dependencies": ["data.x.y", "module.m[\"k\"].t.z"]}`))
	n, _ := addrs.ParseAbsResourceInstance("t.n")
	old := object(t, s, "t.n", "")
	chain := states.DirectDependencies([]states.Dependency{{Resource: n.Config(), Further: old.Dependencies}})
	o := &states.Object{
		Status:              states.Tainted,
		SchemaVersion:       2,
		AttrsJSON:           json.RawMessage(`{"id":"<b>","list":[],"map":{"k":[1,{}]}}`),
		Sensitive:           []cty.Path{cty.GetAttrPath("map").IndexString("k").IndexInt(0)},
		Identity:            states.Identity{Version: 3, JSON: json.RawMessage(`{"name":"a","zone":null}`)},
		Private:             []byte("private"),
		Dependencies:        chain,
		CreateBeforeDestroy: true,
	}
	e := s.Edit()
	for i := range 2 {
		a, _ := addrs.ParseAbsResourceInstance(fmt.Sprintf("module.m.t.made[%d]", i))
		e.SetObject(addrs.ResourceInstanceObject{Instance: a}, s.Resource(n.AbsResource()).Provider, o)
	}
	got := string(write(t, e.State()))
	_, got, _ = strings.Cut(got, `"index_key": 1,`)
	want := `
          "status": "tainted",
          "schema_version": 2,
          "attributes": {
            "id": "\u003cb\u003e",
            "list": [],
            "map": {
              "k": [
                1,
                {}
              ]
            }
          },
          "sensitive_attributes": [
            [
              {
                "type": "get_attr",
                "value": "map"
              },
              {
                "type": "index",
                "value": {
                  "value": "k",
                  "type": "string"
                }
              },
              {
                "type": "index",
                "value": {
                  "value": 0,
                  "type": "number"
                }
              }
            ]
          ],
          "identity_schema_version": 3,
          "identity": {
            "name": "a",
            "zone": null
          },
          "private": "cHJpdmF0ZQ==",
          "dependencies": [
            "data.x.y",
            "module.m.t.z",
            "t.n"
          ],
          "create_before_destroy": true
        }
      ]
    }
  ],
  "check_results": null
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWriteNamesWhatItCannotWrite(t *testing.T) {
	a, _ := addrs.ParseAbsResourceInstance("module.m.t.n[0]")
	e := states.Empty().Edit()
	e.SetObject(addrs.ResourceInstanceObject{Instance: a}, addrs.AbsProviderConfig{}, &states.Object{AttrsJSON: json.RawMessage(`{"a":`)})
	if _, err := Write(e.State()); err == nil || !strings.Contains(err.Error(), "write state: module.m.t.n[0]: attributes: ") {
		t.Errorf("half an object: %v", err)
	}
	e = states.Empty().Edit()
	e.SetOutput("o", states.Output{Value: cty.UnknownVal(cty.String)})
	if _, err := Write(e.State()); err == nil || !strings.Contains(err.Error(), `output "o"`) {
		t.Errorf("an unknown output: %v", err)
	}
}

func TestIndexTellsWhereResourcesStand(t *testing.T) {
	s := read(t, stock(t)["everything.tfstate"])
	src, index, err := WriteIndexed(s)
	if err != nil || !bytes.Equal(src, write(t, s)) {
		t.Fatalf("written otherwise with an index: %v", err)
	}
	n := 0
	for a := range s.Resources() {
		n++
		at, ok := index[a]
		var r struct{ Module, Type, Name string }
		if !ok || json.Unmarshal(src[at.Start:at.End], &r) != nil || r.Module != a.Module.String() || r.Type != a.Resource.Type || r.Name != a.Resource.Name {
			t.Errorf("at the place of %s stands %.100s", a, src[at.Start:at.End])
		}
	}
	if n != len(index) {
		t.Errorf("%d resources, %d places", n, len(index))
	}
}

// TestHeadHasAllThatIsRenumbered holds the boundary by which a writer finds out that nothing but the
// serial would change.
func TestHeadHasAllThatIsRenumbered(t *testing.T) {
	t.Parallel()
	s := flat(3)
	one, two := s.With("a", 9), s.With("another \"lineage\"", 10)
	restOfOne, ok1 := bytes.CutPrefix(write(t, one), Head(one))
	restOfTwo, ok2 := bytes.CutPrefix(write(t, two), Head(two))
	if !ok1 || !ok2 || !bytes.Equal(restOfOne, restOfTwo) {
		t.Errorf("%t, %t: the rests are\n%s\nand\n%s", ok1, ok2, restOfOne, restOfTwo)
	}
}

// TestSizesAreGuessed writes states into buffers that never have to grow: each copy of a large state
// is as large as the state.
func TestSizesAreGuessed(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*states.State{"flat": flat(500), "chain": chain(300), "empty": states.Empty()} {
		e := newEncoder(s)
		room := cap(e.dst)
		if err := e.state(s); err != nil {
			t.Fatal(err)
		}
		if cap(e.dst) != room || room > 4*len(e.dst)+4096 {
			t.Errorf("%s: %d bytes were written, and room was for %d", name, len(e.dst), room)
		}
	}
}

// TestLanguage writes a state in both versions of the language. Terraform 1.11 knows no identities.
func TestLanguage(t *testing.T) {
	t.Parallel()
	s, err := Read([]byte(`{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "l", "resources": [{"mode": "managed", "type": "t", "name": "a",
		"provider": "provider[\"registry.terraform.io/x/t\"]", "instances": [{"schema_version": 0, "attributes": {}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []language.Version{language.Newest, language.V1_11} {
		s.Language = v
		data, err := Write(s)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte(`"terraform_version": "`+v.Release()+`"`)) || bytes.Contains(data, []byte("identity")) != (v == language.Newest) {
			t.Errorf("%q: %s", v, data)
		}
		if !bytes.HasPrefix(data, Head(s)) {
			t.Errorf("%q: the head %s", v, Head(s))
		}
	}
}
