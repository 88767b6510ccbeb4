package github

import gh "github.com/google/go-github/v60/github"

// A tokenScope says what an installation token gives access to:
//
//   - If Repo is set: one repository, by its ID.
//   - If Name is set: the files of the repository with that name. If Name is [everyPull]: the pull requests of
//     all repositories.
//   - If neither is set: the list of the installation's repositories.
type tokenScope struct {
	Installation, Repo int64
	Name               string // of a repository in the installation's account, in lower case
}

// everyPull is the Name of the scope of all pull requests. No repository can have this name.
const everyPull = "*"

// Options returns the options of a request for a token with this scope.
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
