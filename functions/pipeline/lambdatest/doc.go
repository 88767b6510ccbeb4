// Package lambdatest is what tests of the pipeline stand on: the contracts of run's sockets
// as tests, which every implementation passes ([TestRecords], [TestArtifacts] and
// [TestLine]), and AWS Lambda on one machine.
//
// [NewFunction] runs a function's real bootstrap under the Runtime API; its [Function.URL]
// makes it a web server, a [Mapping] feeds it from an SQS queue. What AWS does to a
// function is done to it: an environment of nothing but its settings, a deadline, a
// freeze between invocations, death at any moment. Real servers stand in for S3,
// DynamoDB and SQS (package statebackendtest, [StartQueues]); an [Account] plays what is
// left.
//
// The package refuses to know what is in the functions. Start at [Function].
package lambdatest
