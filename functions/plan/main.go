// Plan is the Lambda function that takes events and plans: it reads pull requests,
// decides what is to be done, plans projects one by one, and writes comments and checks.
package main

import (
	"github.com/lockstep-iac/lockstep/functions/wiring"
	"github.com/lockstep-iac/lockstep/functions/wiring/worker"
)

func main() {
	worker.Main()
	w, err := worker.Open(wiring.Plan)
	if err != nil {
		wiring.Fail(wiring.Plan, err)
	}
	w.Start()
}
