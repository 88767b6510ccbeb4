// Package awsstore keeps a pipeline's data in AWS: [Records] in a DynamoDB table, [Artifacts] in an
// S3 bucket under a KMS key, and messages on SQS FIFO [Queue]s.
//
// A value that was written stays written: an answer that is lost on its way is no failure, and the
// SDK's next attempt at the same request is no second writer. Each type documents how it recognises
// this. Every other refusal by AWS is an error with the attempted action; the SDK has repeated the
// request before, where its retryer knows that it may help.
//
// The package refuses to know the meaning of the values, the receivers of the messages (package
// wiring knows them), and the origin of credentials: clients are given.
package awsstore

import "github.com/lockstep-iac/lockstep/functions/pipeline"

var (
	_ pipeline.Records   = Records{}
	_ pipeline.Artifacts = Artifacts{}
	_ pipeline.Queue     = Queue{}
)
