// Package templates reads CloudFormation templates in tests, with the policies in them, and evaluates the
// policies.
//
// The runner of functions calls [Rights.May] for each request of a function. May panics at parts of IAM that it
// does not know. A test compares the results with those of a simulator that others maintain.
//
// This package does not know where a template is deployed. Start reading at [ReadTemplate].
package templates
