// Package modules installs the remote modules that the configuration of a pull request calls. It works without
// an installed git and without rights of its own. On the command line, which has both, package preparing does
// this.
//
// The author of a pull request writes the addresses that are fetched, and reads their contents in the plan. So
// nothing may be fetched that only Lockstep may read.
//
//   - Repositories on GitHub are fetched as archives. The App's installation may read more of them than the
//     pull request's author. So its rights are used only for the pull request's own repository, and for
//     those of the same account that the base branch's lockstep.hcl names in
//     allow { modules = ["github.com/OWNER/NAME"] }. The token opens the files of one repository and never
//     leaves package github. All other repositories are fetched without a token, so a private one that is
//     not named is not found. Everybody who may open pull requests can read the repositories that are named.
//   - Registries, git servers and archives are fetched by https. Only two kinds of hosts are allowed:
//     well-known public ones, and those that allow's modules name ([project.Grants.ModuleHost]). Each
//     redirect is checked against that, too. Connections go to public addresses only, whatever a name
//     resolves to. A registry or a git server gets the token that the base branch's environment has for its
//     host. Archives are fetched without a token.
//   - Buckets of S3 are read if allow's modules name them, as s3://BUCKET, with the credentials of the
//     project's providers. The function's own credentials could read every state.
//   - A Lambda function has no git. go-git fetches one commit from other git servers, including a GitHub
//     Enterprise Server, without history and submodules.
//
// Start reading at [Remote].
package modules
