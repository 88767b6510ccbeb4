// Package lambdatest is the base of the pipeline's tests. It has the contracts of the stores and queues as
// tests, which every implementation passes ([TestRecords], [TestArtifacts] and [TestLine]), and AWS Lambda on
// one machine.
//
// [NewFunction] runs a function's real bootstrap with the Runtime API. [Function.URL] makes it a web server,
// and a [Mapping] feeds it from an SQS queue. A function is treated as by AWS: its environment has only its
// settings, it has a deadline, it is frozen between invocations, and it can die at any moment. Real servers
// stand in for S3, DynamoDB and SQS (package statebackendtest, [StartQueues]). An [Account] plays the rest. The
// [Stack.Decisions] are compared with a simulator of IAM (package templates).
//
// This package refuses to know the contents of the functions. Start reading at [Function].
package lambdatest
