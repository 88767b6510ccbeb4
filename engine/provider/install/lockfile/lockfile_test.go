package lockfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// written is a file as Terraform 1.11.4 wrote it.
const written = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "example.com/acme/bar" {
  version = "0.1.0"
  hashes = [
    "h1:AAAA=",
    "h1:UkawRPLQ9OD2kVdeLY24vs+P4XgSBXtEX1tbssDvnxY=",
    "q7:foo",
    "zh:abcd",
  ]
}

provider "registry.terraform.io/acme/baz" {
  version = "1.0.0-rc1+meta"
}

provider "registry.terraform.io/acme/foo" {
  version     = "1.2.0"
  constraints = ">= 1.0.0, ~> 1.0, != 1.2.1"
  hashes = [
    "h1:wWjQMUkAe731L7aC/WrmswgItVOsuMY0aixdhzDVZ+k=",
  ]
}
`

func provider(t *testing.T, s string) addrs.Provider {
	t.Helper()
	p, err := addrs.ParseProvider(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadAndWriteAgain(t *testing.T) {
	f, ds := Parse([]byte(written), Name)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	foo, ok := f.Lock(provider(t, "acme/foo"))
	if !ok || foo.Version.String() != "1.2.0" || foo.Constraints.String() != ">= 1.0.0, ~> 1.0, != 1.2.1" {
		t.Errorf("acme/foo was read as %+v", foo)
	}
	bar, _ := f.Lock(provider(t, "example.com/acme/bar"))
	if got := append(bar.ZH(), bar.H1()...); len(got) != 3 || got[0] != "zh:abcd" {
		t.Errorf("hashes of acme/bar by scheme: %v", got)
	}
	if diff := cmp.Diff(written, string(f.Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestSetSortsHashes(t *testing.T) {
	var f File
	foo := provider(t, "acme/foo")
	f.Set(foo, Lock{Hashes: []string{"zh:b", "h1:b", "zh:a", "h1:b"}})
	lock, _ := f.Lock(foo)
	if diff := cmp.Diff([]string{"h1:b", "zh:a", "zh:b"}, lock.Hashes); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyFileIsTheHeadAlone(t *testing.T) {
	if got := string((&File{}).Bytes()); got != head || len(got) != 107 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// OpenTofu names itself at the beginning of the file.
func TestHeadOfOpenTofu(t *testing.T) {
	for _, test := range []struct{ providers, want string }{
		{"registry.opentofu.org/acme/foo", "tofu init"},
		{"registry.opentofu.org/acme/foo example.com/acme/bar", "tofu init"},
		{"registry.opentofu.org/acme/foo acme/foo", "terraform init"},
		{"example.com/acme/foo", "terraform init"},
	} {
		var f File
		for name := range strings.FieldsSeq(test.providers) {
			f.Set(provider(t, name), Lock{})
		}
		first, _, _ := strings.Cut(string(f.Bytes()), "\n")
		if want := "# This file is maintained automatically by \"" + test.want + "\"."; first != want {
			t.Errorf("%s: %s, want %s", test.providers, first, want)
		}
	}
}

func TestParseTellsWhatIsWrong(t *testing.T) {
	block := func(body string) string {
		return "provider \"registry.terraform.io/acme/foo\" {\n" + body + "\n}\n"
	}
	for _, test := range []struct{ in, want string }{
		{`foo = 1`, `f:1: Unsupported argument`},
		{`fooo "x" {}`, `f:1: Unsupported block type`},
		{`provider {}`, `f:1: Missing source_addr for provider`},
		{`provider "a" "b" {}`, `f:1: Extraneous label for provider`},
		{`provider "foo" { version = "1.0.0" }`, `f:1: Non-normalized provider source address: The lock file must name this provider in full: "registry.terraform.io/hashicorp/foo"`},
		{`provider "registry.terraform.io/Acme/foo" { version = "1.0.0" }`, `f:1: Non-normalized provider source address: The lock file must name this provider in full: "registry.terraform.io/acme/foo"`},
		{`provider "a/b/c/d" { version = "1.0.0" }`, `f:1: Invalid provider source address`},
		{`provider "terraform.io/builtin/terraform" { version = "1.0.0" }`, `f:1: Invalid provider source address: The provider terraform.io/builtin/terraform is built in`},
		{`provider "registry.terraform.io/-/foo" { version = "1.0.0" }`, `f:1: Invalid provider source address: The provider registry.terraform.io/-/foo is a stand-in`},
		{block(``), `f:1: Missing required argument`},
		{block(`version = "1.0"`), `f:2: Invalid provider version number`},
		{block(`version = "v1.0.0"`), `f:2: Invalid provider version number`},
		{block(`version = "01.0.0"`), `f:2: Invalid provider version number: The version that is selected for provider registry.terraform.io/acme/foo must be in its normal form: "1.0.0"`},
		{block(`version = null`), `f:2: Unsuitable value type`},
		{block(`version = foo`), `f:2: Variables not allowed`},
		{block("version = \"1.0.0\"\nfoo = 1"), `f:3: Unsupported argument`},
		{block("version = \"1.0.0\"\nfoo {}"), `f:3: Unsupported block type`},
		{block("version = \"1.0.0\"\nconstraints = \">1\""), `f:3: Invalid provider version constraints: The version constraints that are recorded for provider registry.terraform.io/acme/foo must be in their normal form: "> 1.0.0"`},
		{block("version = \"1.0.0\"\nconstraints = \"foo\""), `f:3: Invalid provider version constraints`},
		{block("version = \"1.0.0\"\nconstraints = null"), `f:3: Unsuitable value type`},
		{block("version = \"1.0.0\"\nhashes = \"x\""), `f:3: Invalid expression`},
		{block("version = \"1.0.0\"\nhashes = []"), `f:3: Invalid provider hash set`},
		{block("version = \"1.0.0\"\nhashes = [\"h1:\",\n\"x\"]"), `f:4: Invalid provider hash string`},
		{block("version = \"1.0.0\"\nhashes = [\":\"]"), `f:3: Invalid provider hash string`},
		{block("version = \"1.0.0\"") + block("version = \"1.0.0\""), `f:4: Duplicate provider lock: The provider registry.terraform.io/acme/foo is locked at f:1,1-42 already`},
		{"provider {", `f:1: `},
	} {
		_, ds := Parse([]byte(test.in), "f")
		if !ds.HasErrors() || !strings.HasPrefix(ds[0].String(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.in, ds, test.want)
		}
	}
}

func TestParseKeepsWhatIsRight(t *testing.T) {
	f, ds := Parse([]byte(written+"provider \"nope\" {}\nmodule \"reserved\" {\n anything = 1\n}\n"), Name)
	if len(ds) != 1 {
		t.Errorf("want one diagnostic: %v", ds)
	}
	if n := len(f.Providers()); n != 3 {
		t.Errorf("%d providers", n)
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	save := func(f *File, want bool) string {
		t.Helper()
		written, err := f.Save(path)
		if err != nil || written != want {
			t.Errorf("written: %v, error %v; want %v", written, err, want)
		}
		content, _ := os.ReadFile(path)
		return string(content)
	}
	save(&File{}, false)
	if _, err := os.Lstat(path); err == nil {
		t.Error("an empty selection made a file")
	}

	f, _ := Parse([]byte(written), Name)
	if got := save(f, true); got != written {
		t.Errorf("wrote %s", got)
	}
	// What says the same is left alone: comments survive, and other constraints.
	commented := "# mine\n" + strings.Replace(written, "!= 1.2.1", "!= 1.2.2", 1)
	if err := os.WriteFile(path, []byte(commented), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := save(f, false); got != commented {
		t.Errorf("rewrote the file: %s", got)
	}
	f.Remove(provider(t, "acme/foo"))
	if got := save(f, true); strings.Contains(got, "acme/foo") || strings.Contains(got, "# mine") {
		t.Errorf("wrote %s", got)
	}
	// An existing file becomes empty, but stays.
	if got := save(&File{}, true); got != head {
		t.Errorf("wrote %q", got)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.hcl.*"))
	if len(left)+len(hidden) > 1 {
		t.Errorf("left behind: %v %v", left, hidden)
	}
}

func TestSaveDoesNotFollowALink(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, Name)
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	f, _ := Parse([]byte(written), Name)
	if _, err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(outside); string(got) != "precious" {
		t.Errorf("the link's target became %q", got)
	}
}

func TestReadMissingFile(t *testing.T) {
	f, ds := Read(filepath.Join(t.TempDir(), Name))
	if len(ds) > 0 || len(f.Providers()) > 0 {
		t.Errorf("got %v, %v", f, ds)
	}
	if _, ds := Read(t.TempDir()); !ds.HasErrors() {
		t.Error("a directory was read as a lock file")
	}
}

func TestComparing(t *testing.T) {
	f, _ := Parse([]byte(written), Name)
	foo := provider(t, "acme/foo")
	x := f.Clone()
	lock, _ := x.Lock(foo)
	lock.Version = constraint.Version{Major: 9}
	x.Set(foo, lock)
	if f.Equal(x) || !f.SameProviders(x) {
		t.Error("another version must not be equal, but of the same providers")
	}
	x.Remove(foo)
	if f.SameProviders(x) {
		t.Error("a provider is missing")
	}
	if _, ok := f.Lock(foo); !ok {
		t.Error("the clone was not independent")
	}
}

// What Parse accepts, Bytes writes in a form that means the same and does not change
// any more.
func FuzzParse(f *testing.F) {
	f.Add(written)
	f.Add("provider \"registry.terraform.io/acme/foo\" {\n version=\"1.2.0\"\n hashes=[\"h1:$${a}\\\"\\n%%{\\\\\\u0001\", \"x:é\"]\n}\n")
	f.Fuzz(func(t *testing.T, src string) {
		file, ds := Parse([]byte(src), Name)
		if ds.HasErrors() {
			return
		}
		text := file.Bytes()
		again, ds := Parse(text, Name)
		if len(ds) > 0 {
			t.Fatalf("%s\n%v", text, ds)
		}
		if !file.Equal(again) {
			t.Errorf("changed by writing:\n%s\n%s", src, text)
		}
		if diff := cmp.Diff(string(text), string(again.Bytes())); diff != "" {
			t.Error(diff)
		}
	})
}
