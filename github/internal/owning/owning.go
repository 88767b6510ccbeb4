// Package owning reads GitHub's opinion of the file with the owners of a repository's paths. It refuses to know the owners of a
// path, and GitHub's errors, which it returns as they are. Start at [Unknown].
package owning

import (
	"context"
	"slices"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// Unknown returns the owners in the CODEOWNERS file of a commit whom GitHub leaves out, as the file has them and without their
// "@", sorted: users and teams that there are not, that it does not show, or that may not write to the repository.
// Source: https://docs.github.com/en/rest/repos/repos#list-codeowners-errors
func Unknown(ctx context.Context, s *gh.RepositoriesService, owner, name, sha string) ([]string, error) {
	all, _, err := s.GetCodeownersErrors(ctx, owner, name, &gh.GetCodeownersErrorsOptions{Ref: sha})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all.Errors {
		if e.Kind != "Unknown owner" || e.Column < 1 || e.Column > len(e.Source) {
			continue
		}
		if words := strings.Fields(e.Source[e.Column-1:]); len(words) > 0 {
			out = append(out, strings.TrimPrefix(words[0], "@"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
