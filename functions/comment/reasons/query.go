package reasons

// NothingToQuery reports that a query selects no planned project.
type NothingToQuery struct{}

func (NothingToQuery) words() (text, remedy string) {
	return "No planned project of this pull request matches the command.", "To plan the project first, comment `lockstep plan -p NAME`. Then comment the query again."
}

// QueryOfFork reports that a query is for a pull request from a fork.
type QueryOfFork struct{}

func (QueryOfFork) words() (text, remedy string) {
	return "The pull request comes from a fork, and a query needs credentials.", "Push the commits to a branch of this repository, open a pull request there, and query it."
}
