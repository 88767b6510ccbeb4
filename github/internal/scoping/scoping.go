// Package scoping has the scopes of installation tokens: a token opens no more than its aim needs. It makes no request. Start
// at [Scope].
package scoping

import gh "github.com/google/go-github/v60/github"

// A Scope is that of a token of an installation: one repository by its ID; the files of one repository, if there is a
// name; the pull requests of all, if that is [EveryPull]; or, if there is neither, the list of the
// installation's repositories.
type Scope struct {
	Installation, Repo int64
	Name               string // in the installation's account, lower case
}

// EveryPull is the name in the scope of all pull requests: no repository has it.
const EveryPull = "*"

// Options are those of a request for a token.
func (s Scope) Options() *gh.InstallationTokenOptions {
	switch {
	case s.Name == EveryPull:
		return &gh.InstallationTokenOptions{Permissions: &gh.InstallationPermissions{PullRequests: gh.String("read")}}
	case s.Name != "":
		return &gh.InstallationTokenOptions{Repositories: []string{s.Name}, Permissions: &gh.InstallationPermissions{Contents: gh.String("read")}}
	case s.Repo == 0:
		return &gh.InstallationTokenOptions{Permissions: &gh.InstallationPermissions{Metadata: gh.String("read")}}
	}
	return &gh.InstallationTokenOptions{RepositoryIDs: []int64{s.Repo}}
}
