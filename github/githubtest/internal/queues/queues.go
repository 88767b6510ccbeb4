// Package queues has the JSON of GitHub's merge queues. It refuses to know what is in one. Start at [Group].
package queues

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// Bot is the login by which GitHub's merge queue merges.
const Bot = "github-merge-queue[bot]"

// Refusal are the words with which GitHub refuses merges by requests where the branch wants its queue.
const Refusal = "Changes must be made through the merge queue"

// Group is the merge group of a pull request, on a commit.
func Group(number int, at *commits.Commit, base string) rest.Object {
	by := rest.Object{"name": Bot, "email": "noreply@github.com"}
	return rest.Object{
		"head_sha": at.SHA, "head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", number, base),
		"base_ref": "refs/heads/main", "base_sha": base,
		"head_commit": rest.Object{"id": at.SHA, "tree_id": at.SHA, "message": at.Message, "timestamp": rest.Stamp(at.At), "author": by, "committer": by},
	}
}
