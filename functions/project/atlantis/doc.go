// Package atlantis reads atlantis.yaml, in which a repository describes its projects for Atlantis. It runs no
// step of a workflow and starts no shell. It uses only the arguments in workflows that affect a plan in
// Lockstep. Everything else becomes a [Notice] with its lines.
//
// Some parts of the file decide which state or which values a project has. If such a part cannot be read, that
// is an error, not a notice. A plan with other values could destroy objects.
//
// The package does not know the repository's other files, pull requests and the rights of a project: package
// project decides what the file may set. Start reading at [Options.Parse].
//
// Source: https://www.runatlantis.io/docs/repo-level-atlantis-yaml, and the behaviour of version 0.47.1.
package atlantis
