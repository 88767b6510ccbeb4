// Package templates has CloudFormation templates for tests: as data, with the policies in them, and with what
// those allow.
//
// [Rights.May] evaluates policies, as the runner of functions does at each of their requests. It panics at
// parts of IAM that it does not know. It is compared with a simulator that others maintain.
//
// This package refuses to know where a template is deployed. Start reading at [ReadTemplate].
package templates
