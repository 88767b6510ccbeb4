// Package awsstore keeps what a pipeline has to remember in AWS: [Records] in a DynamoDB
// table, [Artifacts] in an S3 bucket under a KMS key, and messages on SQS FIFO [Queue]s.
//
// What is written once stays written once: an answer that is lost on its way is no
// failure, and the SDK's next attempt at the same request is no second writer. Each type
// says how it tells. Everything else that AWS says no to is an error that names what was
// to be done; the SDK has tried again before, where its retryer knows that it may help.
//
// The package refuses to know what the values mean, who receives the messages (package
// wiring does), and where credentials come from: clients are given.
package awsstore

import "github.com/lockstep-iac/lockstep/functions/pipeline"

var (
	_ pipeline.Records   = Records{}
	_ pipeline.Artifacts = Artifacts{}
	_ pipeline.Queue     = Queue{}
)
