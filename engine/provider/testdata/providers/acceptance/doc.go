// Package acceptance tests the provider lab as its users' providers test themselves:
// with terraform-plugin-testing, which drives a command line with Terraform's commands
// (TF_ACC=1, TF_ACC_TERRAFORM_PATH). The provider runs in the test's own process.
package acceptance
