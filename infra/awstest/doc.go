// Package awstest is an AWS account for tests of the deployment: STS, Secrets Manager, S3, CloudFormation,
// SQS and Lambda as far as `lockstep deploy` uses them, behind one address and in their own protocols.
// Requests are read into the types of AWS' SDK, and answers are written from them.
//
// It is as strict as AWS where a deployment can go wrong: a change set without changes fails, a stack whose
// creation failed can only be deleted, code has to be where the template names it. [Account.Refuse] makes
// the account refuse an action. [Account.Lose] makes it carry out an action and lose the answer.
//
// The package does not know what Lockstep does. Start at [Start].
package awstest
