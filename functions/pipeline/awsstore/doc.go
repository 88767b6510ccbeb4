// Package awsstore stores a pipeline's data in AWS: [Records] in a DynamoDB table, [Artifacts] in an S3 bucket
// with a KMS key, and messages on SQS FIFO [Queue]s.
//
// If AWS has carried out a request and its answer is lost, the SDK sends the request once more. That is neither
// a failure nor a conflict with another writer; each type documents how it recognizes this case. If AWS refuses
// a request for another reason, even after the repetitions by the SDK, the error names the action.
//
// The package does not know the meaning of the values. It does not know the receivers of the messages: package
// wiring does. It does not know where credentials come from: its callers pass clients.
package awsstore

import "github.com/lockstep-iac/lockstep/functions/pipeline"

var (
	_ pipeline.Records   = Records{}
	_ pipeline.Artifacts = Artifacts{}
	_ pipeline.Queue     = Queue{}
)
