// Package template tests template.yaml against the rules of CloudFormation and IAM: whether its resources can
// be created in some order (Problems), and which rights each role then has (Policies, Matrix). It has tests
// only.
//
// It does not check everything:
//   - .ci/template.mjs checks the properties of AWS resource types.
//   - The stories in package lambdatest test how functions use their rights.
//   - .ci/policies.mjs decides whether IAM allows a request, with a simulator that others maintain.
//
// Start at Problems.
package template
