// Package runs is the plans and applies of pull requests as data, with their phases, their order, and their names in records.
//
// A [Run] is one project of one pull request, in one [Phase]. [Conclude] and [Instead] choose the conclusion of a check run.
//
// The package refuses to know the stores of records and artifacts, and GitHub. Package admission decides about runs. Start at [Run].
package runs
