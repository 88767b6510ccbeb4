// The provider registry.terraform.io/lockstep/lab, for tests: protocol 6. With -debug
// it waits for clients that attach to it, as TF_REATTACH_PROVIDERS lets them.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/lab"
)

func main() {
	debug := flag.Bool("debug", false, "wait for clients")
	flag.Parse()
	err := providerserver.Serve(context.Background(), lab.New, providerserver.ServeOpts{
		Address: "registry.terraform.io/lockstep/lab",
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}
