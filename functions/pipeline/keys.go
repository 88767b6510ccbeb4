package pipeline

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const day = 24 * time.Hour

// collections has the kinds of records, by the first segment of their keys. The value is how long a record is
// kept after its last write; 0 means for ever.
var collections = map[string]time.Duration{
	// GitHub redelivers webhooks for 3 days, and a queue keeps a message for at most 14 days.
	"delivery": 15 * day, // a webhook, by its GUID and by its body
	"message":  15 * day, // a message that was handled
	"line":     15 * day, // the plans of a repository that are on the queue, or wait for a place there
	"lease":    15 * day, // a process that works on a run
	"stop":     15 * day, // an order to end a plan or an apply
	"log":      15 * day, // the latest log lines of the providers in a plan or an apply of a project
	"planning": 15 * day, // how far the plan of a project is
	"pace":     day,      // the number of comments of one person, the looks at a pull request or a repository, and the updates about applies and plans in progress
	"reading":  day,      // a pull request as a process has read it, for many plans
	"tarball":  day,      // the archive of a commit
	// Most of these records are kept for 90 days, as long as GitHub keeps check runs.
	"ask":      90 * day,  // an answer to a comment
	"stray":    90 * day,  // a message whose repository was not accessible
	"deployed": 365 * day, // the deployments that were reported to GitHub
	"asked":    90 * day,  // a question about requirements, with its facts
	"sha":      90 * day,  // the check runs of a commit, of projects
	"sharing":  90 * day,  // the check runs of a pull request that several projects share
	"shared":   90 * day,  // a project in such a check run
	"tests":    90 * day,  // the check runs of a commit, of the tests of projects
	"head":     90 * day,  // the check run of a commit as the head of pull requests
	"watch":    90 * day,  // the watch over plans at a commit that wait for requirements
	"late":     365 * day, // the watch over plans of a merged pull request that wait for requirements
	"group":    90 * day,  // a merge group, and the plans that were made from its commit
	// If nothing happens on a pull request for a year, its records expire. It is planned once more when
	// something happens.
	"run":     365 * day, // a project of a pull request
	"effect":  365 * day, // an apply that was begun
	"took":    365 * day, // how long changes of a state took
	"build":   365 * day, // the builds that an apply is handed to
	"pull":    365 * day, // the head of a pull request, as it was looked at last
	"pushed":  365 * day, // the users who have pushed to a pull request
	"figures": 365 * day, // the last applies of a repository, for its figures
	"issue":   365 * day, // an issue about drift that takes commands, by its number
	"trigger": 365 * day, // a project that an apply made out of date, by repository
	"drift":   365 * day, // the drift of a project, by repository, and the rounds in which it was looked for
	// A report about shadow mode covers up to a year.
	"shadow":   365 * day, // a plan of Lockstep in shadow mode, compared with that of another tool, by pull request
	"shadowed": 365 * day, // the pull requests with such plans
	"shown":    365 * day, // the time at which a plan was shown
	"told":     365 * day, // the outcomes that were reported by notifications
	"seen":     365 * day, // the files that plans of a project have read in addition to its own files
	"open":     365 * day, // a waiting plan, by its state
	"left":     365 * day, // a project that a merge has left unapplied, by its state
	"reader":   365 * day, // a waiting plan, by the project that it depends on
	"queue":    365 * day, // the queued applies, by their state
	// Decisions depend on these records, so they never expire.
	"state":   0, // the last apply to a state
	"address": 0, // the address of a project's state
	"lock":    0, // a person's lock on a state
	"app":     0, // the App of another deployment
	"served":  0, // the IDs that the names of owners and repositories had when they were first served
	"place":   0, // the owner of a state, see package places
	// The janitor's own records: how far its rounds and its searches in a repository have got.
	"round": 0,
	"repo":  0,
}

// Retention returns how long a record is kept after its last write; 0 means for ever. Records expire only to
// save space: no decision depends on the absence of a record. Retention panics for a key of an unknown
// collection, because nobody would notice that such records never expire.
func Retention(key string) time.Duration {
	collection, _, _ := strings.Cut(key, "/")
	kept, ok := collections[collection]
	if !ok {
		panic(fmt.Sprintf("pipeline: the key %q belongs to no collection", key))
	}
	return kept
}

// SplitKey splits the key of a record at its last slash. A key has two or more segments of printable
// characters. SplitKey panics for any other key, because such a key is a bug in Lockstep.
func SplitKey(key string) (dir, name string) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		panic(fmt.Sprintf("pipeline: the key %q has one segment only", key))
	}
	dir, name = key[:i], key[i+1:]
	CheckDir(dir)
	checkSegments(name)
	if len(name) > MaxName {
		panic(fmt.Sprintf("pipeline: the last segment of the key %.80q... has %d bytes", key, len(name)))
	}
	return dir, name
}

// CheckDir panics if dir cannot be the part before the last slash of a record's key.
func CheckDir(dir string) {
	checkSegments(dir)
	if len(dir) > MaxDir {
		panic(fmt.Sprintf("pipeline: the key %.80q... has %d bytes", dir, len(dir)))
	}
}

func checkSegments(path string) {
	for segment := range strings.SplitSeq(path, "/") {
		odd := strings.ContainsFunc(segment, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError })
		if segment == "" || segment == "." || segment == ".." || odd {
			panic(fmt.Sprintf("pipeline: %q is no segment of the key %q", segment, path))
		}
	}
}
