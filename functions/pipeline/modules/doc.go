// Package modules installs the remote modules that the configuration of a pull request calls. It has
// neither git nor rights of its own; package preparing serves the command line, which has both.
//
// The author of a pull request writes the addresses that are fetched, and reads their contents in the
// plan. So nothing may be fetched that only Lockstep may read.
//
//   - Repositories on GitHub come as archives. The App's installation may read more of them
//     than the pull request's author: it is used for the pull request's own repository, and
//     for those of the same account that the base branch's lockstep.hcl names in
//     allow { modules = ["github.com/OWNER/NAME"] }. The token opens the files of one
//     repository and never leaves package github. All others are fetched without a token,
//     as anybody may: so a private one that is not named is not found. Whoever may open
//     pull requests can read the repositories that are named.
//   - Registries, git servers and archives are asked by https, and only at hosts that
//     anybody's modules come from, and those that allow's modules name
//     ([project.Grants.ModuleHost]); each redirect is held against that, too. Connections
//     are to public addresses only, whatever a name leads to when it is looked up. A
//     registry or a git server gets the token that the base branch's environment has for
//     its host; archives are asked without one.
//   - Buckets of S3 are read where allow's modules name them, as s3://BUCKET, with the
//     credentials of the project's providers: the function's own may read every state.
//   - There is no git in a Lambda function: go-git fetches one commit of other git servers,
//     a GitHub Enterprise's included, without history and submodules.
//
// Start at [Remote].
package modules
