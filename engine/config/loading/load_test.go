package loading

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/internal/configtest"
	"github.com/lockstep-iac/lockstep/engine/config/source"
)

func TestLoadTree(t *testing.T) {
	t.Parallel()
	cfg, ds := Load(Input{Tree: source.Files(map[string][]byte{
		"main.tf": []byte(`
terraform {
  required_providers {
    cloud = { source = "example/cloud", version = "~> 1.0" }
  }
}
provider "cloud" { region = "a" }
provider "cloud" {
  alias  = "west"
  region = "b"
}
module "one" {
  source    = "./net"
  providers = { cloud = cloud.west }
}
module "two" { source = "./net" }
module "three" { source = "../shared" }
resource "cloud_vm" "a" {
  count = 2
  name  = "x"
}
`),
		"net/main.tf": []byte(`
terraform {
  required_providers {
    cloud = { source = "example/cloud", version = ">= 0.5" }
  }
}
resource "cloud_net" "n" {}
module "deep" { source = "./deep" }
`),
		"net/deep/main.tf": []byte(`
terraform {
  required_providers {
    vapour = { source = "example/cloud" }
  }
}
resource "vapour_x" "y" {}
resource "terraform_data" "z" {}
`),
		"../shared/main.tf": []byte(`output "x" { value = 1 }`),
	})})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	var order []string
	for _, m := range cfg.Order {
		order = append(order, m.Addr.String()+" in "+m.Dir)
	}
	want := []string{
		" in .", "module.one in net", "module.one.module.deep in net/deep", "module.three in ../shared",
		"module.two in net", "module.two.module.deep in net/deep",
	}
	if len(order) != len(want) {
		t.Fatalf("order %q", order)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Errorf("order[%d] = %q, want %q", i, order[i], want[i])
		}
	}
	deep := cfg.Modules[addrs.NewModule("one", "deep")]
	r := deep.Resources[addrs.Resource{Mode: addrs.Managed, Type: "vapour_x", Name: "y"}]
	if got := deep.ResourceProvider(r).String(); got != `provider["registry.terraform.io/example/cloud"].west` {
		t.Error(got)
	}
	if deep.Content != cfg.Modules[addrs.NewModule("two", "deep")].Content {
		t.Error("content of one directory is not shared")
	}
	reqs := cfg.ProviderRequirements()
	if len(reqs) != 2 || len(reqs[addrs.BuiltinTerraform]) != 0 {
		t.Error(reqs)
	}
	if got := reqs[addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: "example", Type: "cloud"}]; len(got) != 2 {
		t.Error(got)
	}
}

// TestManifest checks what init writes, and that it is what the stock tool writes.
func TestManifest(t *testing.T) {
	t.Parallel()
	cfg := load(t, map[string]string{
		"main.tf":         `module "b" { source = "./m/" }` + "\n" + `module "a" { source = "./m" }`,
		"m/main.tf":       `module "n" { source = "./n" }`,
		"m/n/x.tf":        `module "q" { source = "../../../s" }`,
		"../s/nothing.md": "",
	})
	got, err := cfg.Manifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./m","Dir":"m"},` +
		`{"Key":"a.n","Source":"./n","Dir":"m/n"},{"Key":"a.n.q","Source":"../../../s","Dir":"../s"},` +
		`{"Key":"b","Source":"./m","Dir":"m"},{"Key":"b.n","Source":"./n","Dir":"m/n"},{"Key":"b.n.q","Source":"../../../s","Dir":"../s"}]}`
	if string(got) != want {
		t.Errorf("manifest\n%s, want\n%s", got, want)
	}
}

// TestInstalled loads a module that another tool has installed, as long as the
// manifest's entry is what the configuration asks for.
func TestInstalled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, call string
		entry      source.Installed
		want       string
	}{
		{"found", `source = "x/y/z"`, source.Installed{Key: "m", Source: "registry.terraform.io/x/y/z", Version: "1.2.0"}, ""},
		{"version fits", "source = \"x/y/z\"\nversion = \"~> 1.0\"", source.Installed{Key: "m", Source: "registry.terraform.io/x/y/z", Version: "1.2.0"}, ""},
		{"absent", `source = "x/y/z"`, source.Installed{Key: "other"}, "main.tf:1: Module not installed\n"},
		{"other source", `source = "git::https://example.com/x"`, source.Installed{Key: "m", Source: "git::https://example.com/y"}, "main.tf:2: Module source has changed\n"},
		{"other version", "source = \"x/y/z\"\nversion = \"~> 2.0\"", source.Installed{Key: "m", Source: "registry.terraform.io/x/y/z", Version: "1.2.0"}, "main.tf:3: Module version requirements have changed\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.entry.Dir = ".terraform/modules/m"
			cfg, ds := Load(Input{
				Tree: source.Files(map[string][]byte{
					"main.tf":                      []byte("module \"m\" {\n" + tt.call + "\n}"),
					".terraform/modules/m/main.tf": []byte(`output "x" { value = 1 }`),
				}),
				Installed: source.Manifest{Modules: []source.Installed{tt.entry}}.Lookup(),
			})
			if got := configtest.Lines(ds); got != tt.want {
				t.Errorf("diagnostics %q, want %q", got, tt.want)
			}
			if m := cfg.Modules[addrs.NewModule("m")]; tt.want == "" && (m == nil || m.Outputs["x"] == nil || m.Dir != ".terraform/modules/m") {
				t.Errorf("module %+v", m)
			}
			if tt.want == "" && cfg.Manifest().Modules[1].Version != "1.2.0" {
				t.Error("the version is lost")
			}
		})
	}
}

func TestModuleCallsItself(t *testing.T) {
	t.Parallel()
	_, ds := Load(Input{Tree: source.Files(map[string][]byte{
		"main.tf":   []byte(`module "a" { source = "./a" }`),
		"a/main.tf": []byte(`module "b" { source = "../b" }`),
		"b/main.tf": []byte("\nmodule \"a\" { source = \"../a\" }"),
	})})
	if got := configtest.Lines(ds); got != "b/main.tf:2: Module calls itself\n" {
		t.Error(got)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"main.tf": false, "sub/main.tf": true, "README.md": true, "x.tfvars": true, "x_override.tf.json": false} {
		cfg, _ := Load(Input{Tree: source.Files(map[string][]byte{text: []byte("{}")})})
		if cfg.Empty() != want {
			t.Errorf("%s: Empty() = %v", text, !want)
		}
	}
}

// TestReloadFromFiles checks that the files which a configuration was read from are
// enough to read it again: a saved plan keeps them.
func TestReloadFromFiles(t *testing.T) {
	t.Parallel()
	first := load(t, map[string]string{
		"main.tf":             `module "m" { source = "../shared/m" }`,
		"../shared/m/x.tf":    `output "x" { value = 1 }`,
		"../shared/m/README":  "not read",
		"../shared/unused.tf": "not read",
	})
	files := map[string][]byte{}
	for name, f := range first.Files {
		files[name] = f.Bytes
	}
	second, ds := Load(Input{Tree: source.Files(files)})
	if len(ds) > 0 || len(files) != 2 || len(second.Order) != 2 || second.Modules[addrs.NewModule("m")].Outputs["x"] == nil {
		t.Errorf("%v, %d files, %d modules", ds, len(files), len(second.Order))
	}
}

func TestProviderConfig(t *testing.T) {
	t.Parallel()
	req := `terraform {
  required_providers {
    lab = {
      source                = "lockstep/lab"
      configuration_aliases = [lab.a]
    }
  }
}
`
	cfg := load(t, map[string]string{
		"main.tf": `
terraform {
  required_providers {
    mylab = { source = "lockstep/lab" }
  }
}
provider "mylab" { region = "x" }
provider "mylab" {
  alias  = "west"
  region = "y"
}
module "m" {
  source    = "./m"
  providers = { lab.a = mylab.west }
}
module "own" { source = "./own" }
module "proxy" {
  source    = "./proxy"
  providers = { lab = mylab.west }
}
`,
		"m/main.tf": req + `
module "n" {
  source    = "../n"
  providers = { lab.a = lab, lab = lab.a }
}
`,
		"n/main.tf": req,
		"own/main.tf": `
terraform {
  required_providers {
    lab = { source = "lockstep/lab" }
  }
}
provider "lab" { region = "own" }
module "inner" { source = "./inner" }
`,
		"own/inner/main.tf": `
terraform {
  required_providers {
    inner = { source = "lockstep/lab" }
  }
}
`,
		"proxy/main.tf": `
terraform {
  required_providers {
    lab = { source = "lockstep/lab" }
  }
}
provider "lab" {}
`,
	})
	const p = `provider["registry.terraform.io/lockstep/lab"]`
	for _, tt := range []struct {
		module addrs.Module
		local  addrs.LocalProviderConfig
		want   string
	}{
		{addrs.RootModule, addrs.LocalProviderConfig{LocalName: "mylab", Alias: "west"}, p + ".west"},
		{addrs.NewModule("m"), addrs.LocalProviderConfig{LocalName: "lab"}, p},
		{addrs.NewModule("m"), addrs.LocalProviderConfig{LocalName: "lab", Alias: "a"}, p + ".west"},
		{addrs.NewModule("m", "n"), addrs.LocalProviderConfig{LocalName: "lab"}, p + ".west"},
		{addrs.NewModule("m", "n"), addrs.LocalProviderConfig{LocalName: "lab", Alias: "a"}, p},
		{addrs.NewModule("own"), addrs.LocalProviderConfig{LocalName: "lab"}, "module.own." + p},
		{addrs.NewModule("own", "inner"), addrs.LocalProviderConfig{LocalName: "inner"}, "module.own." + p},
		{addrs.NewModule("proxy"), addrs.LocalProviderConfig{LocalName: "lab"}, p + ".west"},
		{addrs.NewModule("proxy"), addrs.LocalProviderConfig{LocalName: "other"}, `provider["registry.terraform.io/hashicorp/other"]`},
	} {
		if got := cfg.Modules[tt.module].ProviderConfig(tt.local).String(); got != tt.want {
			t.Errorf("%s in %q is %s, want %s", tt.local, tt.module, got, tt.want)
		}
	}
}
