// Package simulation plays whole histories of a repository against the pipeline. People push, comment, merge
// and close at any moment. GitHub loses, doubles and reorders its webhooks, and refuses requests. Queues
// deliver messages twice. Processes die at any effect. The package has tests only.
//
// A history is one process with virtual time (testing/synctest), and is made from a seed. Every effect of the
// pipeline waits at a gate: a record, an artifact, a message, a request to GitHub, a change to an object. The
// scheduler lets one effect pass at a time and chooses its fate. The effect is done, or it fails, or it is done
// and the answer is lost, or its process dies before or after it. Anything else may happen between two effects.
// So every order of effects that real machines can produce is a seed, and a seed that has found a defect is a
// test.
//
// Whole histories have up to 23 acts of people. Brief ones have 2 to 5, with more mishaps in the same time. In
// aimed histories people wait for plans and apply them, and most mishaps come after that. The histories of a
// team are aimed, too: the team's base branch has requirements, gates, hooks, or a GitHub environment, or lets
// forks be planned. In sharing histories, projects share check runs. In other histories the App is sometimes removed from the repository.
//
//	scheduler_test.go   the gate, and the choice of the next step
//	queue_test.go       SQS: groups, visibility, dead letters; and the functions that it invokes
//	records_test.go     DynamoDB and S3, as the pipeline sees them
//	engine_test.go      states with locks and journals, and objects, in place of package executor
//	hub_test.go         GitHub: githubtest behind the real client
//	people_test.go      pushes, comments and merges
//	team_test.go        a team's requirements for an apply, in histories of that kind
//	reviews_test.go     reviews that an apply needs, and their overrides, in some histories
//	removals_test.go    projects that are removed, and brought back
//	states_test.go      states in S3, and projects that get other names
//	migrations_test.go  states in S3 that move to other keys
//	options_test.go     plans with options, and changes of states
//	shifts_test.go      other base branches of pull requests, and drafts
//	merged_test.go      commands on merged pull requests, and the issues of merges
//	groups_test.go      GitHub's merge queue
//	answers_test.go     answers to comments
//	moves_test.go       new names and owners of the repository, and new repositories under its former names; absences of the App
//	thrice_test.go      each webhook three times, in any order: the tales of tales_test.go have one outcome
//	truth_test.go       what must be true in each history, and at its end
//
// The pipeline, the client of GitHub and the reading of projects are the real ones. The engine is a model. The
// real engine has tests of its own, which prove that it loses nothing when it is killed.
//
// This package does not know how the pipeline works: it looks at comments, checks, objects and locks. Start
// reading at TestHistories.
package simulation
