// Server is a KMS that others have written, local-kms, on one address of this machine. (Its own program listens on all
// addresses.)
//
// usage: server ADDRESS DIRECTORY
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/nsmithuk/local-kms/src"
	"github.com/nsmithuk/local-kms/src/config"
	"github.com/nsmithuk/local-kms/src/data"
)

func main() {
	config.AWSAccountId, config.AWSRegion = "111122223333", "eu-central-1"
	database := data.NewDatabase(os.Args[2])
	defer database.Close()
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		src.HandleRequest(w, r, database)
	})))
}
