// Package templates is CloudFormation templates for tests: as data, with the policies in them, and what those allow.
//
// [Rights.May] evaluates policies as the runner of functions does at each of their requests; what it does not know
// of IAM it panics at. A simulator that others keep is compared with it.
//
// The package refuses to know where a template is deployed. Start at [ReadTemplate].
package templates
