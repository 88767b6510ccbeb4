package github

import gh "github.com/google/go-github/v60/github"

// A tokenScope is that of a token of an installation: one repository by its ID; the files of one repository, if there is a
// name; the pull requests of all, if that is [everyPull]; or, if there is neither, the list of the
// installation's repositories.
type tokenScope struct {
	Installation, Repo int64
	Name               string // in the installation's account, lower case
}

// everyPull is the name in the scope of all pull requests: no repository has it.
const everyPull = "*"

// Options are those of a request for a token.
func (s tokenScope) Options() *gh.InstallationTokenOptions {
	switch {
	case s.Name == everyPull:
		return &gh.InstallationTokenOptions{Permissions: &gh.InstallationPermissions{PullRequests: gh.String("read")}}
	case s.Name != "":
		return &gh.InstallationTokenOptions{Repositories: []string{s.Name}, Permissions: &gh.InstallationPermissions{Contents: gh.String("read")}}
	case s.Repo == 0:
		return &gh.InstallationTokenOptions{Permissions: &gh.InstallationPermissions{Metadata: gh.String("read")}}
	}
	return &gh.InstallationTokenOptions{RepositoryIDs: []int64{s.Repo}}
}
