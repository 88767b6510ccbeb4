package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// NothingToQuery reports that a query selects no planned project.
type NothingToQuery struct{}

func (NothingToQuery) words() (text, remedy string) {
	return "No planned project of this pull request matches the command.", "To plan the project first, comment `lockstep plan -p NAME`. Then comment this command again."
}

// QueryOfFork reports that a command which reads with credentials, such as a query, is for a pull request from a fork.
type QueryOfFork struct{}

func (QueryOfFork) words() (text, remedy string) {
	return "The pull request comes from a fork, and this command needs credentials.", "Push the commits to a branch of this repository, and open a pull request there. Then comment this command on it."
}

// NotInBase reports that a query cannot open a pull request, because only the present pull request has the project.
type NotInBase struct{ Base string }

func (n NotInBase) words() (text, remedy string) {
	return fmt.Sprintf("The base branch %s does not have this project, so a pull request cannot add a file to it.", markdown.Code(n.Base)), "Merge this pull request first. Then query the project on another one."
}
