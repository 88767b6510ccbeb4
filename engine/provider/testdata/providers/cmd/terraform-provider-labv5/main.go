// The provider registry.terraform.io/lockstep/labv5, for tests: protocol 5.
package main

import (
	"github.com/hashicorp/terraform-plugin-sdk/v2/plugin"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/labv5"
)

func main() {
	plugin.Serve(&plugin.ServeOpts{
		ProviderAddr: "registry.terraform.io/lockstep/labv5",
		ProviderFunc: labv5.New,
	})
}
