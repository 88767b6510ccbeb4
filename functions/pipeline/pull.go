package pipeline

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/github"
)

// A Pull names a pull request, and the installation of the App that may act on it.
type Pull struct {
	Installation int64
	Repo         github.Repo
	Number       int
}

// Runs is the directory of the keys of all runs of a pull request.
func (p Pull) Runs() string { return fmt.Sprintf("run/%d/%d", p.Repo.ID, p.Number) }

// HeadCheck is the name of the check run of each head as a whole, CheckPrefix begins the names of
// those of projects. HeadID is the external ID of the former: a commit has one of them.
const (
	HeadCheck   = "lockstep"
	CheckPrefix = HeadCheck + "/"
	HeadID      = "head"
)
