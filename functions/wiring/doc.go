// Package wiring puts the pipeline's Lambda functions together: what template.yaml tells
// a function in its environment becomes a pipeline of package pipeline on DynamoDB, S3, SQS and
// GitHub, and an SQS event becomes calls of it.
//
//	Read      environment -> Settings; every mistake is named
//	Open      Settings -> clients, secrets, pipeline
//	Consumer  SQS event -> messages handled, each reported on its own
//
// It refuses to know what a message means, and it does not link the engine: the webhook's
// function starts in the time that its program takes to load. What the functions with an
// engine need besides is in package worker, below. Start at [Open].
package wiring
