// Package atlantis reads atlantis.yaml, in which repositories describe their projects for Atlantis. No step of a workflow
// is run and no shell is started: of workflows those arguments count that mean something to a plan here. Everything else
// becomes a [Notice], with its lines.
//
// Where a part of the file decides which state or which values a project has, and cannot be read, it
// is an error and not a notice: a plan with other values could destroy what it should keep.
//
// The package refuses to know the repository's other files, pull requests and the rights of a project:
// package project decides how far a file is believed. Start at [Options.Parse].
//
// Source: https://www.runatlantis.io/docs/repo-level-atlantis-yaml, and the behaviour of version 0.47.1.
package atlantis
