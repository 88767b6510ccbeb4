package config

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
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
