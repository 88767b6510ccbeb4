// Package demo is a small company in one process: a fake GitHub on this machine with a repository, people
// and pull requests, and Lockstep's whole pipeline.
//
// A [World] has all of this. [Stories] are scripts that run without a user, each in its own world, with
// expectations about Lockstep's words. [World.Site] shows a world in a browser, where one user acts as all
// people. The package uses the pipeline only through its webhook and its pages. The pipeline is the real
// one.
//
// Start at [New] and [Stories].
package demo
