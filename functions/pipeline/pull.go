package pipeline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

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

// Projects of a pull request after the first [OwnChecks] share check runs, [SharedSize] projects each. GitHub lets an App
// create about 80 check runs and comments in a minute, and 500 in an hour.
//
// Source:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	OwnChecks  = 50
	SharedSize = 100
)

// sharedPrefix is the prefix in the name of a shared check run. No project's name contains a space.
const sharedPrefix = "projects "

// A SharedCheck names a check run that several projects of a pull request share.
type SharedCheck struct {
	Deployment  string
	Pull        int
	Number      int // from 1
	First, Last int // the projects, by their [runs.Run.Slot]
}

// Name returns the name of the check run: "lockstep/projects 51-150 (#12)". It contains the pull request, because GitHub
// shows a commit's check runs on each pull request with that head, and the newest one of each name.
func (c SharedCheck) Name() string {
	return fmt.Sprintf("%s/%s%d-%d (#%d)", HeadCheckOf(c.Deployment), sharedPrefix, c.First, c.Last, c.Pull)
}

// ExternalID returns the external ID of the check run, which only the App can write.
func (c SharedCheck) ExternalID() string { return fmt.Sprintf("%d/shared.%d", c.Pull, c.Number) }

var sharedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([1-9][0-9]{0,9})/shared\.([1-9][0-9]{0,4})$`) })

// IsSharedCheck reports whether a check run with a name is shared by several projects.
func IsSharedCheck(name string) bool {
	_, project, ours := readCheck(name)
	return ours && strings.HasPrefix(project, sharedPrefix)
}

// ReadSharedCheck returns the pull request and the number of a shared check run, from its name and its external ID. Both
// are 0 for any other check run.
func ReadSharedCheck(name, externalID string) (pull, number int) {
	found := sharedID().FindStringSubmatch(externalID)
	if found == nil || !IsSharedCheck(name) {
		return 0, 0
	}
	pull, _ = strconv.Atoi(found[1])
	number, _ = strconv.Atoi(found[2])
	return pull, number
}

// ReadTestCheck parses the name of a check run for the tests of a project. The result is is false for any other
// name.
func ReadTestCheck(name string) (project string, is bool) {
	_, project, _ = readCheck(name)
	return strings.CutPrefix(project, testPrefix)
}

// ReadCheck parses the name of a check run of any deployment. project is "" for the check run of a whole head.
// Otherwise it is the project with its workspace, as in runs.Run.Check. For a [SharedCheck], it is no name of a project. ours is false if no deployment uses
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
