package github

import (
	"strings"
	"time"
)

// These are the GraphQL queries:
//
//   - discussionQuery reads the conversations of a pull request.
//   - queueQuery reads the entries of the merge queue that contains the pull request.
//   - queueingQuery asks whether the base branch of the pull request has a merge queue.
//   - enqueueMutation adds the pull request to this queue.
//   - minimizeMutation folds a comment.
//
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
	minimizeMutation = `mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}`
)

// A queryAnswer is GitHub's answer to a GraphQL query. The HTTP status is 200 even if the answer has errors.
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

// A queriedPull is a pull request with the members that Lockstep's queries ask for.
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

// A queueEntry is a pull request in a merge queue. HeadCommit is empty until its merge group is made.
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

// Name returns the login as in GitHub's REST API. GraphQL omits the "[bot]" at the end of an App's login. A
// user could have the same login without "[bot]".
func (a queryActor) Name() string {
	if a.Type == "Bot" {
		return strings.TrimSuffix(a.Login, "[bot]") + "[bot]"
	}
	return a.Login
}

// A pageInfo says whether another page follows, and where it starts.
type pageInfo struct {
	HasNextPage bool   `json:"hasNextPage"`
	EndCursor   string `json:"endCursor"`
}
