// Package wiring puts the pipeline's Lambda functions together: a function's environment,
// which template.yaml sets, becomes a pipeline of package pipeline on DynamoDB, S3, SQS and GitHub,
// and an SQS event becomes calls of it.
//
//	readSettings  environment -> Settings; every mistake is named
//	Open          Settings -> clients, secrets, pipeline
//	World.For     the same for an App beside the first one
//	Webhooks      the path of a webhook -> the App whose secret signs it
//	Consumer      SQS event -> messages handled, each reported on its own
//
// It refuses to know the meaning of a message, and does not link the engine: the webhook's
// function starts in the time that its program takes to load. Package worker, below, adds the
// engine for the functions that need one. Start at [Open].
package wiring
