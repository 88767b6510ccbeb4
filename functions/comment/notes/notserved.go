package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A NotServed is a repository that Lockstep does not serve. It is the content of a check run there,
// and of a line in the log.
type NotServed struct {
	Why  Unserved
	Repo string // "acme/infra"
	// For another account than the known one: its login, its ID, and the known ID. For another
	// repository, its ID and the known one.
	Owner   string
	ID, Was int64
}

// Unserved is the reason why a repository is not served.
type Unserved string

const (
	NothingServed   Unserved = "nothing is served"
	NotNamed        Unserved = "not named"
	OtherRepository Unserved = "another repository has the name"
	OtherAccount    Unserved = "another account has the name"
)

// Title returns the check run's line.
func (NotServed) Title() string { return "Not served here" }

// Summary returns its page, in Markdown.
func (n NotServed) Summary() string {
	return "Lockstep plans and applies nothing here.\n\n" + n.Reason() + "\n"
}

// Reason returns the reason and its remedy, in Markdown.
func (n NotServed) Reason() string {
	text, add := "", n.Repo
	switch n.Why {
	case NothingServed:
		text = "No repository is served here: nobody has named any."
	case NotNamed:
		text = fmt.Sprintf("%s is not among the repositories that are served here.", markdown.Code(n.Repo))
	case OtherRepository:
		text = fmt.Sprintf("%s is another repository than the one that was served under this name: its ID is %d, and was %d.", markdown.Code(n.Repo), n.ID, n.Was)
		add = fmt.Sprintf("%s=%d", n.Repo, n.ID)
	case OtherAccount:
		text = fmt.Sprintf("%s belongs to another account than the one that was served under this name: its ID is %d, and was %d.", markdown.Code(n.Repo), n.ID, n.Was)
		add = fmt.Sprintf("%s=%d", n.Owner, n.ID)
	}
	return text + " Whoever runs Lockstep names the repositories in the option `-serves` or the template's parameter `Serves`: " + markdown.Code(add) + "."
}
