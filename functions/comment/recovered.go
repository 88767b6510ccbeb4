package comment

import "github.com/lockstep-iac/lockstep/functions/comment/internal/recovering"

// Recovered reports what became of a state after applies that did not come to their end.
type Recovered struct {
	Project string
	// Changed is set if the state has got results that only a journal had.
	Changed bool
	// Doubts are objects that may exist, and that no state knows.
	Doubts []Doubt `json:",omitempty"`
	// Conflicts are the addresses of objects that somebody else has changed since.
	Conflicts []string `json:",omitempty"`
}

// A Doubt is the creation of an object whose end nobody knows.
type Doubt = recovering.Doubt

func (r Recovered) markdown() string {
	return recovering.Text(r.Project, r.Changed, r.Doubts, r.Conflicts)
}
