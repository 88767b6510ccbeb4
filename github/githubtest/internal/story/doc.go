// Package story is the course of events on a GitHub for tests: a clock of its own, numbers for
// all that is made, and a log of edits that reads as lines of text. The same story has the
// same times, numbers and lines each time it is told. It refuses to know repositories and
// requests. Start at [Log].
package story
