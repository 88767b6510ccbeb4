// Package wiring assembles the pipeline's Lambda functions. A function's environment, which template.yaml sets,
// becomes a pipeline on DynamoDB, S3, SQS and GitHub. An SQS event becomes calls of the pipeline.
//
//	readSettings  environment -> Settings; every mistake is named
//	Open          Settings -> clients, secrets, pipeline
//	World.For     the same for another App than the first
//	Webhooks      the path of a webhook -> the App whose secret signs it
//	Consumer      SQS event -> messages handled, each reported on its own
//
// This package refuses to know the meaning of a message, and does not link the engine. So the webhook's
// function starts in the time that its program takes to load. Package worker adds the engine for the functions
// that need it. Start reading at [Open].
package wiring
