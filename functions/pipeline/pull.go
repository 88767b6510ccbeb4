package pipeline

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github"
)

// A Pull names a pull request and the installation of the App that may act on it.
type Pull struct {
	// App is the name of the App that can reach the pull request; "" for the first App of a deployment. See
	// package tenants.
	App          string `json:",omitempty"`
	Installation int64
	Repo         github.Repo
	Number       int
}

// Runs returns the directory of the keys of all runs of a pull request.
func (p Pull) Runs() string { return fmt.Sprintf("run/%d/%d", p.Repo.ID, p.Number) }

// Repository is the repository's unique name in all Apps: "acme/infra" for the first App, and "NAME:acme/infra"
// for another App.
func (p Pull) Repository() string { return Qualified(p.App, p.Repo.String()) }

// Qualified returns the unique name of a repository in all Apps. app is "" for the first App. A colon separates
// the App from the repository, because no owner has a colon in its name.
func Qualified(app, repo string) string {
	if app == "" {
		return repo
	}
	return app + ":" + repo
}

// HeadCheck is the name of the check run for a whole head, if the deployment has no name. CheckPrefix is the
// prefix of the names of the check runs for projects. HeadID is the external ID of the check run for a whole
// head. A commit has one check run for the whole head for each deployment.
const (
	HeadCheck   = "lockstep"
	CheckPrefix = HeadCheck + "/"
	HeadID      = "head"
)

// HeadCheckOf returns the name of the check run that a deployment writes for a whole head. Each deployment has
// a different name, so a branch rule can require the check of one deployment.
func HeadCheckOf(deployment string) string {
	if deployment == "" {
		return HeadCheck
	}
	return HeadCheck + " (" + deployment + ")"
}

// testPrefix is the prefix of the project in the name of a check run for its tests. No project's name contains
// a colon.
const testPrefix = "test: "

// ShadowCheckOf returns the name of the check run that a deployment writes about all projects in shadow mode. [ReadCheck]
// returns "shadow:" as its project, which is no name of a project.
func ShadowCheckOf(deployment string) string { return HeadCheckOf(deployment) + shadowSuffix }

const shadowSuffix = " shadow"

// TestCheckOf returns the name of the check run that a deployment writes for the tests of a project. The
// project is as in runs.Run.Check.
func TestCheckOf(deployment, project string) string {
	return HeadCheckOf(deployment) + "/" + testPrefix + project
}

// ReadTestCheck parses the name of a check run for the tests of a project. The result is is false for any other
// name.
func ReadTestCheck(name string) (project string, is bool) {
	_, project, _ = readCheck(name)
	return strings.CutPrefix(project, testPrefix)
}

// ReadCheck parses the name of a check run of any deployment. project is "" for the check run of a whole head.
// Otherwise it is the project with its workspace, as in runs.Run.Check. ours is false if no deployment uses
// such a name. It is also false for the check run of tests, which counts as the check of another App.
func ReadCheck(name string) (deployment, project string, ours bool) {
	deployment, project, ours = readCheck(name)
	return deployment, project, ours && !strings.HasPrefix(project, testPrefix)
}

func readCheck(name string) (deployment, project string, ours bool) {
	rest, ours := strings.CutPrefix(name, HeadCheck)
	if inner, named := strings.CutPrefix(rest, " ("); named {
		deployment, rest, ours = strings.Cut(inner, ")")
		ours = ours && deployment != ""
	}
	if !ours || rest == "" {
		return deployment, "", ours
	}
	if rest == shadowSuffix {
		return deployment, "shadow:", true
	}
	project, ours = strings.CutPrefix(rest, "/")
	return deployment, project, ours
}

// IssueKey returns the key of the record of an issue that takes commands. p.Number is the issue's number: issues and pull
// requests of a repository never have the same number.
func IssueKey(p Pull) string { return fmt.Sprintf("issue/%d/%d", p.Repo.ID, p.Number) }
