// Apply is the Lambda function that handles messages about applies: it applies saved plans.
package main

import (
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring/worker"
)

func main() {
	worker.Main()
	w, err := worker.Open(wiring.Apply)
	if err != nil {
		wiring.Fail(wiring.Apply, err)
	}
	w.Start()
}
