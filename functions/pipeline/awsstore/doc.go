// Package awsstore stores a pipeline's data in AWS: [Records] in a DynamoDB table, [Artifacts] in an S3 bucket
// with a KMS key, and messages on SQS FIFO [Queue]s.
//
// If AWS has carried out a request and its answer is lost, the SDK sends the request again. That is neither a
// failure nor a conflict with another writer; each type documents how it recognizes this case. Every other
// refusal by AWS is an error that names the action, after the repetitions that the SDK's retryer makes.
//
// This package does not know the meaning of the values, the receivers of the messages (package wiring knows
// them), and the origin of credentials: it is given clients.
package awsstore

import "github.com/lockstep-iac/lockstep/functions/pipeline"

var (
	_ pipeline.Records   = Records{}
	_ pipeline.Artifacts = Artifacts{}
	_ pipeline.Queue     = Queue{}
)
