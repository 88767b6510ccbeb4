// Package caching keeps answers of GitHub in the memory of a process: those to requests that are repeated
// ([Answers]), and the archives of commits ([Archives]). Both are bounded, and of the scope of a token: what one
// repository's token has opened is never read with another's.
//
// It refuses to know GitHub's API, and writes no file. Start at [Answers.RoundTrip].
package caching
