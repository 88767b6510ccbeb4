package github

import (
	"strings"
	"time"
)

// discussionQuery asks for the conversations of a pull request, queueQuery for the entries of its merge queue, and queueingQuery
// whether its base branch has a merge queue, which enqueueMutation puts it into.
// Source: https://docs.github.com/en/graphql/reference/objects#pullrequest
const (
	discussionQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
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
	queueQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
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
	queueingQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    databaseId
    pullRequest(number: $number) { id headRefOid isInMergeQueue isMergeQueueEnabled }
  }
}`
	enqueueMutation = `mutation($id: ID!, $sha: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $sha}) { mergeQueueEntry { enqueuedAt } }
}`
)

// A queryAnswer is GitHub's, in which an error comes with the status 200.
type queryAnswer struct {
	Data struct {
		Repository *struct {
			DatabaseID  int64        `json:"databaseId"`
			PullRequest *queriedPull `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"errors"`
}

// A queriedPull has the members that one of the queries asks for.
type queriedPull struct {
	ID             string  `json:"id"`
	HeadRefOID     string  `json:"headRefOid"`
	InQueue        bool    `json:"isInMergeQueue"`
	HasQueue       bool    `json:"isMergeQueueEnabled"` // its base branch has one
	ReviewDecision *string `json:"reviewDecision"`
	ReviewThreads  struct {
		Nodes []struct {
			IsResolved bool `json:"isResolved"`
		} `json:"nodes"`
		PageInfo pageInfo `json:"pageInfo"`
	} `json:"reviewThreads"`
	MergeQueue *struct {
		Entries struct {
			Nodes    []queueEntry `json:"nodes"`
			PageInfo pageInfo     `json:"pageInfo"`
		} `json:"entries"`
	} `json:"mergeQueue"`
}

// A queueEntry is a pull request in a merge queue. It has a commit once its group is made.
type queueEntry struct {
	EnqueuedAt time.Time `json:"enqueuedAt"`
	HeadCommit struct {
		OID string `json:"oid"`
	} `json:"headCommit"`
	PullRequest struct {
		Number int `json:"number"`
	} `json:"pullRequest"`
	Enqueuer queryActor `json:"enqueuer"`
}

// A queryActor is a user or an App.
type queryActor struct {
	Type  string `json:"__typename"`
	Login string `json:"login"`
}

// Name is the login as it is everywhere else: that of an App, which is of the type Bot, has no "[bot]" at its end in an answer, and
// may be a user's without it.
func (a queryActor) Name() string {
	if a.Type == "Bot" {
		return strings.TrimSuffix(a.Login, "[bot]") + "[bot]"
	}
	return a.Login
}

// A pageInfo tells what comes after a page.
type pageInfo struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}
