// Package contributing reads who has written the commits of a pull request. It refuses to know what that is good for. Start at
// [Logins].
package contributing

import (
	"context"

	gh "github.com/google/go-github/v60/github"
)

// Most is the number of commits that GitHub lists of a pull request at most.
// Source: https://docs.github.com/en/rest/pulls/pulls#list-commits-on-a-pull-request
const Most = 250

// webFlow is the committer of commits that are made on GitHub's pages.
const webFlow = "web-flow"

// Logins returns those of the users who wrote or committed the commits of a pull request, as far as GitHub knows them. all is false
// if there may be more commits than GitHub lists.
func Logins(ctx context.Context, pulls *gh.PullRequestsService, owner, name string, number int) (logins []string, all bool, err error) {
	seen, listed := map[string]bool{"": true, webFlow: true}, 0
	for page := 1; page != 0; {
		list, res, err := pulls.ListCommits(ctx, owner, name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, false, err
		}
		for _, x := range list {
			for _, login := range []string{x.GetAuthor().GetLogin(), x.GetCommitter().GetLogin()} {
				if !seen[login] {
					seen[login] = true
					logins = append(logins, login)
				}
			}
		}
		listed += len(list)
		page = res.NextPage
	}
	return logins, listed < Most, nil
}
