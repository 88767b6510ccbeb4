package pipeline

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github"
)

// A Pull names a pull request, and the installation of the App that may act on it.
type Pull struct {
	// App is the name of the App that reaches it, "" for the first one of a deployment: see package tenants.
	App          string `json:",omitempty"`
	Installation int64
	Repo         github.Repo
	Number       int
}

// Runs is the directory of the keys of all runs of a pull request.
func (p Pull) Runs() string { return fmt.Sprintf("run/%d/%d", p.Repo.ID, p.Number) }

// Repository names the repository among those of all Apps: "acme/infra", or "NAME:acme/infra" of an App that is not the
// first one.
func (p Pull) Repository() string { return Qualified(p.App, p.Repo.String()) }

// Qualified is the name of a repository of an App, "" for the first one, among those of all Apps. No owner has a colon
// in its name.
func Qualified(app, repo string) string {
	if app == "" {
		return repo
	}
	return app + ":" + repo
}

// HeadCheck is the name of the check run of each head as a whole, by the deployment without a name, CheckPrefix
// begins the names of those of projects. HeadID is the external ID of the former: a commit has one of each
// deployment.
const (
	HeadCheck   = "lockstep"
	CheckPrefix = HeadCheck + "/"
	HeadID      = "head"
)

// HeadCheckOf is HeadCheck by a deployment: each has one that can be required.
func HeadCheckOf(deployment string) string {
	if deployment == "" {
		return HeadCheck
	}
	return HeadCheck + " (" + deployment + ")"
}

// ReadCheck reads the name of a check run of any deployment: of a head, or of a project, which is named with its
// workspace as in runs.Run.Check. ours is false if no deployment names one so.
func ReadCheck(name string) (deployment, project string, ours bool) {
	rest, ours := strings.CutPrefix(name, HeadCheck)
	if inner, named := strings.CutPrefix(rest, " ("); named {
		deployment, rest, ours = strings.Cut(inner, ")")
		ours = ours && deployment != ""
	}
	if !ours || rest == "" {
		return deployment, "", ours
	}
	project, ours = strings.CutPrefix(rest, "/")
	return deployment, project, ours
}
