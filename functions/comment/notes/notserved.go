package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A NotServed says why Lockstep does not work for a repository. It is shown in a check run of the repository
// and in the log.
type NotServed struct {
	Why  Unserved
	Repo string // "acme/infra"
	// ID and Was are set if the name that is enabled now belongs to a different account or repository. Was is
	// the ID that was enabled. ID is the ID of the account or repository that has the name now. Owner is the
	// login of the repository's owner.
	Owner   string
	ID, Was int64
}

// Unserved is a reason why Lockstep does not work for a repository.
type Unserved string

const (
	NothingServed   Unserved = "nothing is served"
	NotNamed        Unserved = "not named"
	OtherRepository Unserved = "another repository has the name"
	OtherAccount    Unserved = "another account has the name"
)

// Title returns the title of the check run.
func (NotServed) Title() string { return "Not enabled for this repository" }

// Summary returns the summary of the check run, in Markdown.
func (n NotServed) Summary() string {
	return "Lockstep does not plan or apply this repository.\n\n" + n.Reason() + "\n"
}

// Reason returns, in Markdown, why Lockstep does not work for the repository, and how to change that.
func (n NotServed) Reason() string {
	text, add := "", n.Repo
	switch n.Why {
	case NothingServed:
		text = fmt.Sprintf("%s is not enabled: no repository is.", markdown.Code(n.Repo))
	case NotNamed:
		text = fmt.Sprintf("%s is not enabled.", markdown.Code(n.Repo))
	case OtherRepository:
		text = fmt.Sprintf("%s is not the repository that was enabled under this name: this repository has the ID %d, and the other one had %d.", markdown.Code(n.Repo), n.ID, n.Was)
		add = fmt.Sprintf("%s=%d", n.Repo, n.ID)
	case OtherAccount:
		text = fmt.Sprintf("The account of %s is not the account that was enabled under this name: this account has the ID %d, and the other one had %d.", markdown.Code(n.Repo), n.ID, n.Was)
		add = fmt.Sprintf("%s=%d", n.Owner, n.ID)
	}
	return text + " To enable it, an operator of Lockstep adds " + markdown.Code(add) + " to the parameter `Serves` of the template, or to the option `-serves`."
}
