// Package demo has a small company in one process: a fake GitHub with a repository, people and pull requests,
// and Lockstep's real pipeline, which works for this repository.
//
// A [World] has all of this. [World.Site] shows a world in a browser, where one user acts as all people.
// [Stories] are scripts that run without a user. Each story has its own world, and states which texts Lockstep
// must write. The package uses the pipeline only through its webhook and its pages.
//
// Start at [New] and [Stories].
package demo
