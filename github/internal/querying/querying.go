// Package querying has the queries to GitHub's GraphQL API, and the shapes of their answers. It refuses to know what they
// mean. Start at [Answer].
package querying

import (
	"strings"
	"time"
)

// Discussion asks for the conversations of a pull request, Queue for the merge queue that it is in, and Queueing whether its base
// branch has one, which Enqueue puts it into.
// Source: https://docs.github.com/en/graphql/reference/objects#pullrequest
const (
	Discussion = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    databaseId
    pullRequest(number: $number) {
      reviewDecision
      reviewThreads(first: 100, after: $after) {
        nodes { isResolved }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`
	Queue = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    databaseId
    pullRequest(number: $number) {
      mergeQueue {
        entries(first: 100, after: $after) {
          nodes { enqueuedAt headCommit { oid } pullRequest { number } enqueuer { __typename login } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
}`
	Queueing = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    databaseId
    pullRequest(number: $number) { id headRefOid isInMergeQueue isMergeQueueEnabled }
  }
}`
	Enqueue = `mutation($id: ID!, $sha: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $sha}) { mergeQueueEntry { enqueuedAt } }
}`
)

// An Answer is GitHub's, in which an error comes with the status 200.
type Answer struct {
	Data struct {
		Repository *struct {
			DatabaseID  int64        `json:"databaseId"`
			PullRequest *PullRequest `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"errors"`
}

// A PullRequest has the members that one of the queries asks for.
type PullRequest struct {
	ID             string  `json:"id"`
	HeadRefOID     string  `json:"headRefOid"`
	InQueue        bool    `json:"isInMergeQueue"`
	HasQueue       bool    `json:"isMergeQueueEnabled"` // its base branch has one
	ReviewDecision *string `json:"reviewDecision"`
	ReviewThreads  struct {
		Nodes []struct {
			IsResolved bool `json:"isResolved"`
		} `json:"nodes"`
		PageInfo Page `json:"pageInfo"`
	} `json:"reviewThreads"`
	MergeQueue *struct {
		Entries struct {
			Nodes    []Entry `json:"nodes"`
			PageInfo Page    `json:"pageInfo"`
		} `json:"entries"`
	} `json:"mergeQueue"`
}

// An Entry is a pull request in a merge queue. It has a commit once its group is made.
type Entry struct {
	EnqueuedAt time.Time `json:"enqueuedAt"`
	HeadCommit struct {
		OID string `json:"oid"`
	} `json:"headCommit"`
	PullRequest struct {
		Number int `json:"number"`
	} `json:"pullRequest"`
	Enqueuer Actor `json:"enqueuer"`
}

// An Actor is a user or an App.
type Actor struct {
	Type  string `json:"__typename"`
	Login string `json:"login"`
}

// Name is the login as it is everywhere else: that of an App, which is of the type Bot, has no "[bot]" at its end in an answer, and
// may be a user's without it.
func (a Actor) Name() string {
	if a.Type == "Bot" {
		return strings.TrimSuffix(a.Login, "[bot]") + "[bot]"
	}
	return a.Login
}

// A Page tells what comes after a page.
type Page struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}
