// Package demo is a small company in one process: a GitHub of our own on loopback with
// a repository, people and pull requests, and the whole pipeline beside it.
//
// [World] is all of it. [Stories] are what can be told of it without a person, each on
// a world of its own, with what must be said meanwhile; [World.Site] shows it in a
// browser, where a person speaks for everybody. The package refuses to know more of
// the pipeline than its webhook and its pages: it shows what the real parts do.
//
// Start at [New] and [Stories].
package demo
