// Plan is the Lambda function that handles events and makes plans. It reads pull requests, queues their runs,
// plans the projects one by one, and writes comments and checks.
package main

import (
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring/worker"
)

func main() {
	worker.Main()
	w, err := worker.Open(wiring.Plan)
	if err != nil {
		wiring.Fail(wiring.Plan, err)
	}
	w.Start()
}
