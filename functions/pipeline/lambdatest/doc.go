// Package lambdatest is the ground of the pipeline's tests: the contracts of its sockets
// as tests, which every implementation passes ([TestRecords], [TestArtifacts] and
// [TestLine]), and AWS Lambda on one machine.
//
// [NewFunction] runs a function's real bootstrap under the Runtime API; its [Function.URL]
// makes it a web server, a [Mapping] feeds it from an SQS queue. A function is treated as by AWS:
// an environment of nothing but its settings, a deadline, a
// freeze between invocations, death at any moment. Real servers stand in for S3,
// DynamoDB and SQS (package statebackendtest, [StartQueues]); an [Account] plays the
// rest, and its [Stack.Decisions] are compared with a simulator of IAM (package template).
//
// The package refuses to know the contents of the functions. Start at [Function].
package lambdatest
