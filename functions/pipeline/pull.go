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

// CheckPrefix begins the names of check runs.
const CheckPrefix = "lockstep/"
