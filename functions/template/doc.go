// Package template holds template.yaml against what CloudFormation and IAM would make of
// it: whether its resources can be made one after the other (Problems), and who may do
// what when they have been (Policies, Matrix, Loosenings). Everything in it serves tests.
//
// It knows nothing of AWS' resource types' properties, which .ci/template.mjs checks, and
// nothing of what the functions do with their rights, which lambdatest's stories hold. It
// decides on no request itself: .ci/policies.mjs does, by a simulator that others keep.
//
// Start at Problems.
package template
