// Package lambdatest is the base of the pipeline's tests. It tests the contracts of the stores and queues,
// which every implementation must pass ([TestRecords], [TestArtifacts] and [TestLine]). It also runs AWS Lambda
// functions on one machine.
//
// [NewFunction] runs a function's real bootstrap with a Runtime API. [Function.URL] makes it a web server, and
// a [Mapping] delivers messages to it from an SQS queue. A function is treated as on AWS: its environment has
// only its settings, it has a deadline, it is frozen between invocations, and it can die at any moment. Real
// servers replace S3, DynamoDB and SQS (package statebackendtest, [StartQueues]). An [Account] replaces the
// other services. A test compares the [Stack.Decisions] with a simulator of IAM (package templates).
//
// This package does not know what the functions do. Start reading at [Function].
package lambdatest
