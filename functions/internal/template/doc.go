// Package template checks template.yaml against the behaviour of CloudFormation and IAM: whether
// its resources can be created in some order (Problems), and the rights of everybody once they are
// (Policies, Matrix). It has tests only.
//
// It refuses to know the properties of AWS' resource types, which .ci/template.mjs checks, and the
// use that functions make of their rights, which lambdatest's stories check. It decides on no
// request itself: .ci/policies.mjs does, with a simulator that others maintain.
//
// Start at Problems.
package template
