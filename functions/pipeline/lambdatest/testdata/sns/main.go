// Sns is an SNS that others have written, goaws, with its SQS, on one address of this machine. (Its own program listens on all
// addresses.)
//
// usage: sns ADDRESS CONFIGURATION
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/Admiral-Piett/goaws/app/conf"
	"github.com/Admiral-Piett/goaws/app/router"
)

func main() {
	conf.LoadYamlConfig(os.Args[2], "Local")
	log.Fatal(http.ListenAndServe(os.Args[1], router.New()))
}
