// Package clients drives `lockstep` in the place of `terraform` with the programs that
// people drive Terraform with: Terragrunt, Atlantis, Terratest, cdktf, terraform-ls and
// terraform-exec. It has tests only, and nothing else imports it.
//
// Each client plays stories. A story is played once with the command built from this
// checkout, by the name "terraform" first on the PATH, and has to end as it says itself. Where a
// terraform 1.11 is on the PATH of whoever runs the tests, the same story is played with
// that, too, and what the clients and the commands printed and wrote has to be the same, but for
// noise and the differences that are meant (noise_test.go has both lists, with reasons).
//
// The clients are real, pinned, and take minutes to build: `make clients` installs them
// with .ci/parts, and runs the tests, which are skipped otherwise. All stories run
// offline; providers come from the filesystem mirror of the parts.
//
// The package does not know how the command works: it is a program that the clients
// start. Start at story_test.go, which has the notation of the stories in testdata.
package clients
