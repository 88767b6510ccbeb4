// Package demo is a small company in one process: a GitHub of our own on loopback with a
// repository, people and pull requests, together with the whole pipeline.
//
// [World] contains all of it. [Stories] run without a person, each in a world of its own, with
// expectations about Lockstep's words; [World.Site] shows a world in a browser, where one person
// speaks for everybody. The package does not know more of the pipeline than its webhook and its
// pages: it shows the real parts at work.
//
// Start at [New] and [Stories].
package demo
