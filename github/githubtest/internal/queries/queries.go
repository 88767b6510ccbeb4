// Package queries has the answers of GitHub's GraphQL API. It refuses to know whom they are about. Start at [Answer].
package queries

import (
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Answer is the answer about a pull request of a repository with an ID.
func Answer(id int64, pull rest.Object) rest.Object {
	return rest.Object{"data": rest.Object{"repository": rest.Object{"databaseId": id, "pullRequest": pull}}}
}

// Forbidden is the answer to an App without the permission.
func Forbidden(id int64, message string) rest.Object {
	return rest.Object{
		"data":   rest.Object{"repository": rest.Object{"databaseId": id, "pullRequest": nil}},
		"errors": []any{rest.Object{"type": "FORBIDDEN", "path": []any{"repository", "pullRequest"}, "message": message}},
	}
}

// NotFound is the answer about a repository that is not there.
func NotFound(name string) rest.Object {
	return rest.Object{
		"data":   rest.Object{"repository": nil},
		"errors": []any{rest.Object{"type": "NOT_FOUND", "path": []any{"repository"}, "message": "Could not resolve to a Repository with the name '" + name + "'."}},
	}
}

// A Query is what is asked.
type Query struct {
	Query     string
	Variables struct {
		Owner, Name string
		Number      int
		After       *string
		ID, SHA     string
	}
}

// Queueing is the answer about a pull request with an ID and a head, and the merge queue that its base branch has, if it has one.
func Queueing(id, sha string, in, has bool) rest.Object {
	return rest.Object{"id": id, "headRefOid": sha, "isInMergeQueue": in, "isMergeQueueEnabled": has}
}

// Enqueued is the answer to who has put a pull request into a merge queue.
func Enqueued(at time.Time) rest.Object {
	return rest.Object{"data": rest.Object{"enqueuePullRequest": rest.Object{"mergeQueueEntry": rest.Object{"enqueuedAt": rest.Stamp(at)}}}}
}

// Refused is the answer to who may not do so.
func Refused(kind, message string) rest.Object {
	problem := rest.Object{"type": kind, "path": []any{"enqueuePullRequest"}, "message": message}
	return rest.Object{"data": rest.Object{"enqueuePullRequest": nil}, "errors": []any{problem}}
}

// Entry is a pull request in a merge queue since a time, with the commit of its group, and who put it there.
func Entry(number int, sha, by string, at time.Time) rest.Object {
	who := rest.Object{"__typename": "User", "login": by}
	if app, is := strings.CutSuffix(by, "[bot]"); is {
		who = rest.Object{"__typename": "Bot", "login": app}
	}
	return rest.Object{"enqueuedAt": rest.Stamp(at), "headCommit": rest.Object{"oid": sha}, "pullRequest": rest.Object{"number": number}, "enqueuer": who}
}

// Queue is the merge queue of a pull request, which is in none if it is not in.
func Queue(entries []any, in bool) rest.Object {
	if !in {
		return rest.Object{"mergeQueue": nil}
	}
	page := rest.Object{"hasNextPage": false, "endCursor": nil}
	return rest.Object{"mergeQueue": rest.Object{"entries": rest.Object{"nodes": entries, "pageInfo": page}}}
}

// Discussion is a page of conversations, each of which is resolved or not: of two, so that small tests have several.
func Discussion(decision any, threads []bool, after *string) rest.Object {
	const page = 2
	from := 0
	if after != nil {
		from = len(*after) // a cursor has a letter for each conversation before
	}
	to := min(from+page, len(threads))
	nodes := []any{}
	for _, resolved := range threads[from:to] {
		nodes = append(nodes, rest.Object{"isResolved": resolved})
	}
	return rest.Object{
		"reviewDecision": decision,
		"reviewThreads": rest.Object{
			"nodes": nodes, "pageInfo": rest.Object{"hasNextPage": to < len(threads), "endCursor": strings.Repeat("c", to)},
		},
	}
}
