// Package clients tests `lockstep` in place of `terraform` with the programs with which people run Terraform:
// Terragrunt, Atlantis, Terratest, cdktf, terraform-ls and terraform-exec. It has tests only, and nothing else
// imports it.
//
// Each client runs scripts, called stories. In each run, the command built from this checkout is first on the
// PATH, with the name "terraform". A story states its expected end. If the PATH also has a real terraform 1.11,
// the same story is run with it, too. The output and files of both must then be equal, except for noise and
// intended differences (noise_test.go lists both, with reasons).
//
// The clients are real programs in pinned versions, and take minutes to build. `make clients` installs them
// with .ci/parts, and runs the tests, which are skipped otherwise. All stories run offline, with providers from
// a filesystem mirror.
//
// The package does not know how the command works: it is a program that the clients start. Start at
// story_test.go, which documents the notation of the stories in testdata.
package clients
