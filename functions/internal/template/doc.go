// Package template tests template.yaml against the rules of CloudFormation and IAM: whether its resources can
// be created in some order (Problems), and which rights each role then has (Policies, Matrix). It has tests
// only.
//
// It does not check the properties of AWS resource types, which .ci/template.mjs does, or how functions use
// their rights, which lambdatest's stories do. It does not decide whether IAM allows a request:
// .ci/policies.mjs does, with a simulator that others maintain.
//
// Start at Problems.
package template
