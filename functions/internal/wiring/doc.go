// Package wiring assembles the pipeline's Lambda functions. It turns a function's environment variables, which
// template.yaml sets, into a pipeline on DynamoDB, S3, SQS and GitHub. It turns an SQS event into calls of the
// pipeline.
//
//	readSettings  environment -> Settings; the error names every mistake
//	Open          Settings -> clients, secrets, pipeline
//	World.For     the same for an additional App
//	Webhooks      the path of a webhook -> the App whose secret signs it
//	Consumer      SQS event -> messages handled, each reported on its own
//
// This package does not know the meaning of a message, and does not link the engine. So the webhook's function
// is small and starts fast. Package worker adds the engine for the functions that need it. Start reading at
// [Open].
package wiring
