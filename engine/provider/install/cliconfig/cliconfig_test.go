package cliconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/oci"
)

// home returns a home directory with the given files.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load reads one file named by TF_CLI_CONFIG_FILE.
func load(t *testing.T, content string, environ ...string) (*Config, diags.Diagnostics) {
	t.Helper()
	path := filepath.Join(home(t, map[string]string{"cli.tfrc": content}), "cli.tfrc")
	return Load(Surroundings{Environ: append(environ, "TF_CLI_CONFIG_FILE="+path)})
}

// show prints what was understood, a fact a line.
func show(c *Config) string {
	var b strings.Builder
	for host := range c.tokens {
		token, _ := c.Token(host)
		fmt.Fprintf(&b, "token %s %s\n", host, token.Reveal())
	}
	for host, services := range c.services {
		fmt.Fprintf(&b, "host %s %v\n", host, services)
	}
	for _, p := range slices.SortedFunc(maps.Keys(c.Overrides), addrs.Provider.Compare) {
		fmt.Fprintf(&b, "override %s %s\n", p, c.Overrides[p])
	}
	for _, m := range c.Methods {
		fmt.Fprintf(&b, "%s %s%s include %v exclude %v\n", m.Kind, m.Path, m.URL, m.Include, m.Exclude)
	}
	return b.String()
}

const everything = `
# a comment
plugin_cache_may_break_dependency_lock_file = true
disable_checkpoint = "true"   // as a string
credentials "app.terraform.io" {
  token = "s3cret"
}
credentials_helper_of_another_tool = 1
host "Registry.Example.com" {
  services = {
    "providers.v1" = "https://127.0.0.1/v1/"
    "login.v1" = { client = "x" }
  }
}
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/dev/./null"
  }
  filesystem_mirror {
    path    = "/mirror"
    include = ["example.com/*/*", "acme/foo"]
  }
  network_mirror {
    url = "https://mirror.example.com/terraform"
    exclude = ["*/*/*",]
  }
  direct { exclude = ["hashicorp/*"] }
}
`

const everythingInJSON = `{
  "plugin_cache_may_break_dependency_lock_file": true,
  "disable_checkpoint": "true",
  "credentials": {"app.terraform.io": {"token": "s3cret"}},
  "host": {"Registry.Example.com": {"services": {"providers.v1": "https://127.0.0.1/v1/", "login.v1": {"client": "x"}}}},
  "provider_installation": [{
    "dev_overrides": {"hashicorp/null": "/dev/null"},
    "filesystem_mirror": [{"path": "/mirror", "include": ["example.com/*/*", "acme/foo"]}],
    "network_mirror": {"url": "https://mirror.example.com/terraform/", "exclude": ["*/*/*"]},
    "direct": {"exclude": ["hashicorp/*"]}
  }]
}`

func TestEverything(t *testing.T) {
	want := `token app.terraform.io s3cret
host registry.example.com map[login.v1:map[client:x] providers.v1:https://127.0.0.1/v1/]
override registry.opentofu.org/hashicorp/null /dev/null
override registry.terraform.io/hashicorp/null /dev/null
filesystem_mirror /mirror include [example.com/*/* registry.terraform.io/acme/foo registry.opentofu.org/acme/foo] exclude []
network_mirror https://mirror.example.com/terraform/ include [] exclude [*/*/*]
direct  include [] exclude [registry.terraform.io/hashicorp/* registry.opentofu.org/hashicorp/*]
`
	for _, text := range []string{everything, everythingInJSON} {
		c, ds := load(t, text)
		if len(ds) > 0 {
			t.Error(ds)
		}
		if diff := cmp.Diff(want, show(c)); diff != "" {
			t.Error(diff)
		}
		if !c.PluginCacheMayBreakLock || !c.DisableCheckpoint || !c.Explicit {
			t.Errorf("flags: %+v", c)
		}
		if url, known := c.Service("registry.example.com", "providers.v1"); !known || url != "https://127.0.0.1/v1/" {
			t.Errorf("service: %q, %v", url, known)
		}
		if url, known := c.Service("registry.example.com", "modules.v1"); !known || url != "" {
			t.Errorf("service that is not there: %q, %v", url, known)
		}
		if _, known := c.Service("other.example.com", "providers.v1"); known {
			t.Error("nothing was said of that host")
		}
	}
}

// What Terraform 1.11.4 finds fault with, we do, and what it lets pass, we do.
func TestDiagnostics(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{``, ``},
		{`foo = 1`, ``},
		{`foo {}`, ``},
		{`disable_checkpoint = true, foo = 1`, ``},
		{`"disable_checkpoint" = true`, ``},
		{`disable_checkpoint = true disable_checkpoint_signature = true`, ``},
		{`credentials "a" {}`, ``},
		{`providers { aws = "x" }`, ``},
		{`host "a" { services { "providers.v1" = "http://x" } }`, ``},
		{`host "a.b" { }`, ``},
		{`provider_installation { }`, ``},
		{`provider_installation { filesystem_mirror { path = "x" foo = 1 } }`, ``},
		{`provider_installation { direct {} direct {} }`, ``},
		{`provider_installation { dev_overrides {} direct {} }`, ``},
		{`provider_installation { dev_overrides { a = 1 } direct {} }`, ``},
		{`credentials {}`, `warning f:1: Block without a host`},
		{`credentials_helper "a" { args = ["x"] }`, ``},
		{`credentials_helper { args = ["x"] }`, `error f:1: Invalid credentials_helper block`},

		{`disable_checkpoint = "yes"`, `error f:1: Invalid CLI configuration: The value of disable_checkpoint must be true or false, not a string`},
		{`disable_checkpoint = 1`, `error f:1: Invalid CLI configuration`},
		{`credentials "a b" { token = "x" }`, `error f:1: Invalid hostname`},
		{`credentials "a" { token = {} }`, `error f:1: Invalid CLI configuration: The value of token must be a string, not a block`},
		{"\n" + `host "a/b" { }`, `error f:2: Invalid hostname`},
		{`provider_installation "x" { }`, `error f:1: Invalid provider_installation block`},
		{`provider_installation = 1`, `error f:1: Invalid CLI configuration`},
		{`provider_installation { direct = 1 }`, `error f:1: Invalid provider_installation method block`},
		{`provider_installation { oci_mirror {} }`, `error f:1: Invalid provider_installation method block: An oci_mirror block needs the argument repository_template`},
		{`provider_installation { oci_mirror { repository_template = "example.com/${namespace}/${type}" } }`, `error f:1: Invalid provider_installation method block: The argument repository_template of an oci_mirror block has no ${hostname}, so several providers would have one repository`},
		{`provider_installation { oci_mirror { repository_template = "example.com/${hostname}/${kind}" } }`, `error f:1: Invalid provider_installation method block: The argument repository_template of an oci_mirror block has ${kind}, and there are only ${hostname}, ${namespace} and ${type}`},
		{`provider_installation { oci_mirror { repository_template = "example.com/${type +}" } }`, `error f:1: Invalid provider_installation method block: The argument repository_template of an oci_mirror block is no template`},
		{"provider_installation {\n oci_mirror {\n repository_template = \"example.com/${type}\"\n include = [\"acme/*\", \"other/*\"]\n }\n}", `error f:2: Invalid provider_installation method block: The argument repository_template of an oci_mirror block has no ${namespace}, so`},
		{`oci_credentials "example.com" { username = "u", password = "p" }`, ``},
		{`oci_credentials "example.com:5000/team/x" { access_token = "a", refresh_token = "r", other = 1 }`, ``},
		{`{"oci_credentials": {"example.com": {"docker_credentials_helper": "pass"}, "other.example.com": {"username": "u", "password": "p"}}}`, ``},
		{`oci_credentials { username = "u", password = "p" }`, `error f:1: Invalid oci_credentials block: An oci_credentials block needs one label`},
		{`oci_credentials "exam ple" { username = "u", password = "p" }`, `error f:1: Invalid oci_credentials block: An oci_credentials block needs one label`},
		{`oci_credentials "example.com/x:tag" { username = "u", password = "p" }`, `error f:1: Invalid oci_credentials block: An oci_credentials block needs one label`},
		{`oci_credentials "example.com" { }`, `error f:1: Invalid oci_credentials block: The block for example.com must have username and password, or`},
		{`oci_credentials "example.com" { username = "u" }`, `error f:1: Invalid oci_credentials block: The block for example.com must have`},
		{`oci_credentials "example.com" { username = "u", refresh_token = "r" }`, `error f:1: Invalid oci_credentials block: The block for example.com must have`},
		{`oci_credentials "example.com" { username = "u", password = "p", docker_credentials_helper = "pass" }`, `error f:1: Invalid oci_credentials block: The block for example.com must have`},
		{`oci_credentials "example.com" { username = [] , password = "p" }`, `error f:1: Invalid CLI configuration: The value of username must be a string, not a list`},
		{`oci_credentials "example.com/x" { docker_credentials_helper = "pass" }`, `error f:1: Invalid oci_credentials block: A credential helper has credentials for whole registries only: remove the path`},
		{`oci_credentials "example.com" { docker_credentials_helper = "../pass" }`, `error f:1: Invalid oci_credentials block: "../pass" is not the name of a credential helper`},
		{`oci_credentials = 1`, `error f:1: Invalid CLI configuration`},
		{`oci_default_credentials { }`, ``},
		{`oci_default_credentials { docker_style_config_files = [], docker_credentials_helper = "pass" }`, ``},
		{`oci_default_credentials { docker_credentials_helper = "" }`, `error f:1: Invalid oci_default_credentials block: "" is not the name of a credential helper`},
		{`oci_default_credentials { docker_style_config_files = "x" }`, `error f:1: Invalid CLI configuration: The value of docker_style_config_files must be a list`},
		{`oci_default_credentials { discover_ambient_credentials = false, docker_style_config_files = ["x"] }`, `error f:1: Invalid oci_default_credentials block: With discover_ambient_credentials = false, no files are read`},
		{`oci_default_credentials "example.com" { }`, `error f:1: Invalid oci_default_credentials block: An oci_default_credentials block has no labels`},
		{`oci_default_credentials = 1`, `error f:1: Invalid CLI configuration`},
		{`provider_installation { foo {} }`, `error f:1: Invalid provider_installation method block: There is no provider installation method "foo"`},
		{`provider_installation { filesystem_mirror {} }`, `error f:1: Invalid provider_installation method block: A filesystem_mirror block needs the argument path`},
		{`provider_installation { filesystem_mirror { path = "" } }`, `error f:1: Invalid provider_installation method block`},
		{`provider_installation { network_mirror { url = "http://x/" } }`, `error f:1: Invalid provider_installation method block: The mirror at http://x/ must have an https URL`},
		{`provider_installation { network_mirror { url = "http://u:p@x/" } }`, `error f:1: Invalid provider_installation method block: The mirror at http://u:xxxxx@x/`},
		{`provider_installation { network_mirror {} }`, `error f:1: Invalid provider_installation method block: A network_mirror block needs the argument url`},
		{`provider_installation { direct { include = "x" } }`, `error f:1: Invalid CLI configuration: The value of include must be a list`},
		{`provider_installation { direct { include = ["x/x"] exclude = ["a b"] } }`, `error f:1: Invalid provider matching pattern`},
		{`provider_installation { direct { include = ["*"] } }`, `error f:1: Invalid provider matching pattern`},
		{`provider_installation { direct {} dev_overrides {} }`, `error f:1: Invalid provider_installation method block: A dev_overrides block must come before`},
		{`provider_installation { dev_overrides { "a b" = "x" } }`, `error f:1: Invalid provider installation dev overrides`},
		{`{`, `error f:1: Invalid CLI configuration: This is not the JSON`},
		{`[]`, `error f:1: Invalid CLI configuration`},
		{`{"a": null}`, `error f:1: Invalid CLI configuration: This is not the JSON that is required here: null`},
		{`{} x`, `error f:1: Invalid CLI configuration`},
		{`plugin_cache_dir = /tmp`, `error f:1: Invalid CLI configuration: A value in quotes`},
		{`plugin_cache_dir = "`, `error f:1: Invalid CLI configuration: This string has no end`},
		{`plugin_cache_dir = "\q"`, `error f:1: Invalid CLI configuration: This string has an escape sequence`},
		{`plugin_cache_dir "/tmp"`, `error f:1: Invalid CLI configuration: An equals sign or a block is required here`},
		{`= 1`, `error f:1: Invalid CLI configuration: The name of an argument or a block is required here`},
		{`a = ["x"`, `error f:1: Invalid CLI configuration`},
		{`a {`, `error f:1: Invalid CLI configuration: The file ends within a block`},
		{strings.Repeat("a {", 100), `error f:1: Invalid CLI configuration: The nesting is too deep`},
		{"a = " + strings.Repeat("[", 100), `error f:1: Invalid CLI configuration: The nesting is too deep`},
		{strings.Repeat(`{"a":`, 100), `error f:1: Invalid CLI configuration: This is not the JSON that is required here: the nesting is too deep`},
	} {
		_, ds := parse([]byte(test.in), "f")
		got := ""
		if len(ds) > 0 {
			got = ds[0].Severity.String() + " " + ds[0].String()
		}
		if len(ds) > 1 || test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.in, ds, test.want)
		}
	}
}

func TestOneInstallationBlock(t *testing.T) {
	c, ds := load(t, "provider_installation {\n direct {}\n}\nprovider_installation {}\n")
	if !ds.HasErrors() || ds[0].Subject.Start.Line != 4 || len(c.Methods) != 1 {
		t.Errorf("got %v, %v", ds, c.Methods)
	}
}

func TestWhichFilesAreRead(t *testing.T) {
	dir := home(t, map[string]string{
		".terraformrc":                           `credentials "main.example.com" { token = "main" }`,
		".terraform.d/a.tfrc":                    `credentials "a.example.com" { token = "a" }`,
		".terraform.d/b.tfrc.json":               `{"credentials": {"b.example.com": {"token": "b"}}}`,
		".terraform.d/.hidden.tfrc":              `credentials "hidden.example.com" { token = "hidden" }`,
		".terraform.d/other":                     `credentials "other.example.com" { token = "other" }`,
		".terraform.d/credentials.tfrc.json":     `{"credentials": {"login.example.com": {"token": "login"}, "main.example.com": {"token": "old"}}}`,
		"given.tfrc":                             `credentials "given.example.com" { token = "given" }`,
		".terraform.d/plugins/just-a-file.tfrc":  `nonsense`,
		".terraform.d/subdirectory.tfrc/in.tfrc": `nonsense`,
	})
	if err := os.RemoveAll(filepath.Join(dir, ".terraform.d/subdirectory.tfrc")); err != nil {
		t.Fatal(err)
	}
	hosts := func(environ ...string) string {
		c, ds := Load(Surroundings{Environ: environ, Home: dir})
		if len(ds) > 0 {
			t.Error(ds)
		}
		var found []string
		for _, host := range strings.Fields("main a b hidden other login given") {
			if token, ok := c.Token(host + ".example.com"); ok {
				found = append(found, host+"="+token.Reveal())
			}
		}
		return strings.Join(found, " ")
	}
	// The login's file is one of several in the directory: the last one wins.
	if got, want := hosts(), "main=old a=a b=b login=login"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	given := "TF_CLI_CONFIG_FILE=" + filepath.Join(dir, "given.tfrc")
	if got, want := hosts(given), "main=old login=login given=given"; got != want {
		t.Errorf("with a named file: got %s, want %s", got, want)
	}
	if got, want := hosts("TF_CLI_CONFIG_FILE="+os.DevNull), "main=old login=login"; got != want {
		t.Errorf("with an empty file: got %s, want %s", got, want)
	}
	if got, want := hosts(given, "TF_TOKEN_given_example_com=env", "TF_TOKEN_a_example_com="), "main=old login=login given=env"; got != want {
		t.Errorf("with a token in the environment: got %s, want %s", got, want)
	}
}

func TestNamedFileIsMissing(t *testing.T) {
	c, ds := Load(Surroundings{Environ: []string{"TF_CLI_CONFIG_FILE=" + filepath.Join(t.TempDir(), "nothing")}})
	if len(ds) != 1 || ds.HasErrors() || c.Explicit {
		t.Errorf("want one warning: %v", ds)
	}
	_, ds = Load(Surroundings{Environ: []string{"TF_CLI_CONFIG_FILE=" + t.TempDir()}})
	if !ds.HasErrors() {
		t.Error("a directory is no file")
	}
}

func TestPluginCache(t *testing.T) {
	dir := t.TempDir()
	other := t.TempDir()
	for _, test := range []struct {
		text    string
		environ []string
		want    string
		errors  bool
	}{
		{`plugin_cache_dir = "` + dir + `"`, nil, dir, false},
		{`plugin_cache_dir = "$CACHE"`, []string{"CACHE=" + dir}, dir, false},
		{`plugin_cache_dir = "${CACHE}"`, []string{"CACHE=" + dir}, dir, false},
		{`plugin_cache_dir = "` + dir + `"`, []string{"TF_PLUGIN_CACHE_DIR=" + other}, other, false},
		{``, []string{"TF_PLUGIN_CACHE_DIR=" + other + "/missing"}, "", true},
	} {
		c, ds := load(t, test.text, append([]string{"TF_PLUGIN_CACHE_DIR=/elsewhere", "TF_PLUGIN_CACHE_DIR="}, test.environ...)...)
		if c.PluginCacheDir != test.want || ds.HasErrors() != test.errors {
			t.Errorf("%s %v: got %q, %v", test.text, test.environ, c.PluginCacheDir, ds)
		}
	}
	c, _ := load(t, "", "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=1")
	if !c.PluginCacheMayBreakLock {
		t.Error("the variable was not heeded")
	}
}

func TestTokensInTheEnvironment(t *testing.T) {
	for _, test := range []struct{ name, host string }{
		{"TF_TOKEN_app_terraform_io", "app.terraform.io"},
		{"TF_TOKEN_my__host_example_com", "my-host.example.com"},
		{"TF_TOKEN_my-host.example.com", "my-host.example.com"},
		{"TF_TOKEN_xn--caf-dma.fr", "xn--caf-dma.fr"},
		{"TF_TOKEN_xn____caf__dma_fr", "xn--caf-dma.fr"},
		{"TF_TOKEN_localhost", "localhost"},
		{"TF_TOKEN_", ""},
		{"TF_TOKENS_a", ""},
	} {
		c, _ := load(t, "", test.name+"=s3cret=")
		if test.host == "" {
			if len(c.tokens) > 0 {
				t.Errorf("%s is for %v", test.name, c.tokens)
			}
			continue
		}
		if token, ok := c.Token(test.host); !ok || token.Reveal() != "s3cret=" {
			t.Errorf("%s: not found for %s", test.name, test.host)
		}
	}
}

func TestTokensDoNotPrint(t *testing.T) {
	token := hosts.NewToken("s3cret")
	holder := struct {
		T hosts.Token
		P *hosts.Token
	}{token, &token}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := load(t, everything)
	text := fmt.Sprintf("%s %v %+v %#v %q %x %d %v %+v %#v %+v", token, token, token, token, token, token, token, holder, holder, holder, *c) + string(encoded)
	if strings.Contains(text, "s3cret") || strings.Contains(text, fmt.Sprintf("%x", "s3cret")) {
		t.Errorf("the secret is in %s", text)
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct{ pattern, matches, others string }{
		{"*/*", "acme/foo hashicorp/aws", "example.com/acme/foo"},
		{"*/*/*", "acme/foo example.com/acme/foo", ""},
		{"acme/*", "acme/foo", "hashicorp/aws example.com/acme/foo"},
		{"Example.com/Acme/FOO", "example.com/acme/foo", "acme/foo example.com/acme/bar"},
		{"example.com/*/*", "example.com/acme/foo", "example.org/acme/foo"},
		{"example.com:444/*/*", "example.com:444/acme/foo", "example.com/acme/foo"},
	} {
		p, err := addrs.ParseProviderPattern(test.pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, source := range strings.Fields(test.matches + " " + test.others) {
			x, err := addrs.ParseProvider(source)
			if err != nil {
				t.Fatal(err)
			}
			if want := slices.Contains(strings.Fields(test.matches), source); p.Matches(x) != want {
				t.Errorf("%s matches %s: %v", test.pattern, source, !want)
			}
		}
		if again, err := addrs.ParseProviderPattern(p.String()); err != nil || again != p {
			t.Errorf("%s prints as %s, which is read as %v, %v", test.pattern, p, again, err)
		}
	}
	for _, bad := range []string{"", "*", "aws", "*/aws", "*/acme/*", "*/*/foo", "example.com/*/foo", "a/b/c/d", "a b/c", "ac*/foo", "acme/f*", "a..b/*/*"} {
		if p, err := addrs.ParseProviderPattern(bad); err == nil {
			t.Errorf("%q was read as %s", bad, p)
		}
	}
}

func TestServes(t *testing.T) {
	c, ds := load(t, `provider_installation {
  direct {
    include = ["acme/*", "example.com/*/*"]
    exclude = ["acme/bar"]
  }
}`)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for source, want := range map[string]bool{"acme/foo": true, "acme/bar": false, "registry.opentofu.org/acme/foo": true, "registry.opentofu.org/acme/bar": false, "example.com/x/y": true, "hashicorp/aws": false} {
		p, _ := addrs.ParseProvider(source)
		if got := c.Methods[0].Serves(p); got != want {
			t.Errorf("serves %s: %v", source, got)
		}
	}
}

func TestImpliedDirs(t *testing.T) {
	if filepath.Separator != '/' || strings.Contains(fmt.Sprint(impliedDirs(Surroundings{})), "Library") {
		t.Skip("for systems with XDG directories")
	}
	for _, test := range []struct {
		environ []string
		home    string
		want    []string
	}{
		{nil, "/h", []string{"terraform.d/plugins", "/h/.terraform.d/plugins", "/h/.local/share/terraform/plugins",
			"/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins"}},
		{[]string{"XDG_DATA_HOME=/d", "XDG_DATA_DIRS=/a:b:/c"}, "/h", []string{"terraform.d/plugins", "/h/.terraform.d/plugins",
			"/d/terraform/plugins", "/a/terraform/plugins", "/c/terraform/plugins"}},
		{[]string{"XDG_DATA_DIRS=/a"}, "", []string{"terraform.d/plugins", "/a/terraform/plugins"}},
	} {
		got := impliedDirs(Surroundings{Environ: test.environ, Home: test.home})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestReattach(t *testing.T) {
	found, err := ParseReattach(`{
	  "registry.terraform.io/-/time": {"Protocol":"grpc","ProtocolVersion":6,"Pid":7,"Test":true,"Addr":{"Network":"unix","String":"/tmp/x"}},
	  "hashicorp/time": {"Protocol":"grpc","Pid":8,"Addr":{"Network":"tcp","String":"127.0.0.1:1234"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	legacy := found[addrs.Provider{Host: "registry.terraform.io", Namespace: "-", Type: "time"}]
	if legacy.ProtocolVersion != 6 || legacy.Pid != 7 || !legacy.Test || legacy.Addr.Network() != "unix" || legacy.Addr.String() != "/tmp/x" {
		t.Errorf("got %+v", legacy)
	}
	plain := found[addrs.DefaultProvider("time")]
	if plain.ProtocolVersion != 5 || plain.Test || plain.Addr.Network() != "tcp" || plain.Addr.String() != "127.0.0.1:1234" {
		t.Errorf("got %+v", plain)
	}
	if found, err := ParseReattach(""); err != nil || len(found) > 0 {
		t.Errorf("nothing became %v, %v", found, err)
	}
	for _, bad := range []string{
		`x`, `[]`, `{"a b":{}}`, `{"a":{}}`, `{"a":3}`,
		`{"a":{"Protocol":"grpc","Addr":{"Network":"udp","String":"x"}}}`,
		`{"a":{"Protocol":"grpc","Addr":{"Network":"tcp","String":"localhost"}}}`,
		`{"a":{"Protocol":"grpc","ProtocolVersion":7,"Addr":{"Network":"unix","String":"x"}}}`,
		`{"a":{"Protocol":"netrpc","ProtocolVersion":5,"Addr":{"Network":"unix","String":"x"}}}`,
	} {
		if found, err := ParseReattach(bad); err == nil {
			t.Errorf("%s became %v", bad, found)
		} else if !strings.Contains(err.Error(), ReattachVariable) {
			t.Errorf("the variable is not named: %v", err)
		}
	}
}

// Whatever the bytes, a diagnostic comes with a place in the file, and a file in
// HCL without errors says the same when a comment stands before it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{everything, everythingInJSON, `a "b" c { d = [1, "x${y"z"}"] }`, "a = \"\\u00e9\\n\"", "a = <<X\nX\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		content, ds := parse([]byte(src), "f")
		for _, d := range ds {
			if d.Subject == nil || d.Summary == "" {
				t.Errorf("no place or summary: %v", d)
			}
		}
		if len(ds) > 0 || strings.HasPrefix(strings.TrimSpace(src), "{") {
			return
		}
		again, ds := parse([]byte("# comment\n"+src), "f")
		if strings.HasPrefix(src, "\ufeff") {
			return
		}
		if len(ds) > 0 || !cmp.Equal(content.tokens, again.tokens, cmp.AllowUnexported(hosts.Token{})) || content.pluginCacheDir != again.pluginCacheDir {
			t.Errorf("%q: a comment changes its meaning: %v", src, ds)
		}
	})
}

// A provider has one repository, which depends on all parts of its address that the patterns leave open.
func TestOCIMirrors(t *testing.T) {
	for _, test := range []struct{ template, include, provider, want string }{
		{"example.com/${hostname}/${namespace}/${type}", "", "acme/foo", "example.com/registry.terraform.io/acme/foo"},
		{"example.com/p/${namespace}/${type}", `"acme/*"`, "acme/foo", "example.com/p/acme/foo"},
		{"example.com/p/${namespace}/${type}", `"registry.opentofu.org/*/*"`, "registry.opentofu.org/acme/foo", "example.com/p/acme/foo"},
		{"example.com/${namespace}-${type}", `"example.com/*/*"`, "example.com/acme/foo", "example.com/acme-foo"},
		{"example.com/foo", `"acme/foo"`, "acme/foo", "example.com/foo"},
	} {
		c, ds := load(t, "provider_installation {\n  oci_mirror {\n    repository_template = \""+test.template+"\"\n    include = ["+test.include+"]\n  }\n}\n")
		if len(ds) > 0 || len(c.Methods) != 1 {
			if test.include != "" {
				t.Fatalf("%s: %v", test.template, ds)
			}
			t.Fatal(ds)
		}
		p, err := addrs.ParseProvider(test.provider)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Methods[0].Repository(p); err != nil || got != test.want || !c.Methods[0].Serves(p) {
			t.Errorf("%s: %s, %v, want %s", test.template, got, err, test.want)
		}
	}
}

// The blocks about OCI registries come from all files. A path is relative to the file that names it.
func TestOCICredentials(t *testing.T) {
	dir := home(t, map[string]string{
		".terraformrc":         "oci_default_credentials {\n docker_style_config_files = [\"x.json\", \"/etc/y.json\"]\n docker_credentials_helper = \"pass\"\n}\noci_credentials \"a.example.com\" {\n username = \"u\"\n password = \"p\"\n}",
		".terraform.d/b.tfrc":  "oci_credentials \"b.example.com/team\" {\n access_token = \"a\"\n refresh_token = \"r\"\n}\noci_credentials \"c.example.com\" {\n docker_credentials_helper = \"one\"\n}",
		".terraform.d/c.tfrc":  "oci_default_credentials {}",
		".terraform.d/d.tfrc":  "oci_credentials \"a.example.com\" {\n username = \"other\"\n password = \"p\"\n}",
		".terraform.d/e.other": "oci_credentials {}",
	})
	c, ds := Load(Surroundings{Home: dir})
	var got []string
	for _, d := range ds {
		got = append(got, d.Summary)
	}
	want := []string{"Too many oci_default_credentials blocks", "Duplicate oci_credentials block"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	login := oci.Login{
		Entries: []oci.Entry{
			{Prefix: "a.example.com", Credential: oci.Credential{Username: "u", Password: "p"}},
			{Prefix: "b.example.com/team", Credential: oci.Credential{AccessToken: "a", RefreshToken: "r"}},
			{Prefix: "c.example.com", Helper: "one"},
		},
		Helper: "pass", Files: []string{filepath.Join(dir, "x.json"), "/etc/y.json"},
	}
	if diff := cmp.Diff(login, c.OCI); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c, ds := load(t, "oci_default_credentials {\n discover_ambient_credentials = false\n}"); len(ds) > 0 || c.OCI.Files == nil || len(c.OCI.Files) > 0 {
		t.Errorf("without the files of other tools: %v, %v", c.OCI.Files, ds)
	}
	if c, ds := load(t, ""); len(ds) > 0 || c.OCI.Files != nil {
		t.Errorf("without blocks: %v, %v", c.OCI.Files, ds)
	}
}
