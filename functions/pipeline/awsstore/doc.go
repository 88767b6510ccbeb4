// Package awsstore stores a pipeline's data in AWS: [Records] in a DynamoDB table, [Artifacts] in an S3 bucket
// with a KMS key, and messages on SQS FIFO [Queue]s.
//
// A written value stays written. If an answer is lost, that is no failure, and the SDK's next attempt at the
// same request is no second writer. Each type documents how it recognizes this. Every other refusal by AWS is
// an error that names the action. Before that, the SDK has repeated the request if its retryer knows that it
// may help.
//
// This package refuses to know the meaning of the values, the receivers of the messages (package wiring knows
// them), and the origin of credentials: it is given clients.
package awsstore

import "github.com/lockstep-iac/lockstep/functions/pipeline"

var (
	_ pipeline.Records   = Records{}
	_ pipeline.Artifacts = Artifacts{}
	_ pipeline.Queue     = Queue{}
)
