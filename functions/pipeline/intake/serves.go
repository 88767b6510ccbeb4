package intake

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/github"
)

// Serves are the owners and repositories that a deployment serves, as whoever runs it has
// named them. A GitHub App that is not private can be installed by anybody, in a repository
// whose base branch is theirs: a repository without a name here is a stranger's. The zero value
// names none, and none is served.
//
// Names are GitHub's, in which case does not matter:
//
//	acme             all repositories of the owner; so does acme/*
//	acme/infra       one
//	acme/team-*      those whose names fit: * stands for any characters
//	acme/infra=123   one, if it has this ID
//	acme=77          all of the owner, if its account has this ID
//
// Names change hands: an account is closed and its name taken by somebody else, a repository is
// deleted and made anew. So a name is served for the ID that it had when it was first
// served ([Known]), and for another one only if somebody adds that ID, as above.
//
// A repository that is renamed or moved is served if its new name is named here too, and
// for its new name alone. Its ID is not enough: who administers a repository renames it,
// and operators could no longer see in this list which repositories are served.
type Serves struct{ list []named }

// named is one entry, in lower case. An ID of 0 is none; name is "*" for all of an owner.
type named struct {
	owner, name string
	id          int64
}

var (
	ownerPattern = regexp.MustCompile(`^[a-z0-9_][a-z0-9_-]{0,99}$`)
	repoPattern  = regexp.MustCompile(`^[a-z0-9_.*-]{1,100}$`)
)

// ParseServes reads a list of names, with commas or space between them. The error names
// every mistake.
func ParseServes(text string) (Serves, error) {
	var s Serves
	var errs []error
	for _, entry := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		n, err := parseNamed(entry)
		if err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", entry, err))
		}
		s.list = append(s.list, n)
	}
	if len(errs) > 0 {
		return Serves{}, errors.Join(errs...)
	}
	return s, nil
}

func parseNamed(entry string) (n named, err error) {
	full, id, pinned := strings.Cut(entry, "=")
	owner, name, one := strings.Cut(full, "/")
	if !one {
		name = "*"
	}
	n = named{owner: owner, name: name}
	switch {
	case strings.Contains(owner, "*"):
		return n, errors.New("an owner has to be named in full, or strangers could have the name")
	case !ownerPattern.MatchString(owner):
		return n, fmt.Errorf("%q is not the name of an owner", owner)
	case !repoPattern.MatchString(name) || strings.Trim(name, ".") == "":
		return n, fmt.Errorf("%q is not the name of a repository", name)
	case !pinned:
		return n, nil
	case name != "*" && strings.Contains(name, "*"):
		return n, errors.New("an ID belongs to one repository, or to an owner")
	}
	if n.id, err = strconv.ParseInt(id, 10, 64); err != nil || n.id <= 0 {
		return n, fmt.Errorf("%q is not an ID", id)
	}
	return n, nil
}

// None reports whether nobody is named.
func (s Serves) None() bool { return len(s.list) == 0 }

// Owner reports whether something of an owner is named.
func (s Serves) Owner(login string) bool {
	return slices.ContainsFunc(s.list, func(n named) bool { return strings.EqualFold(n.owner, login) })
}

// Known are the IDs that the names of an owner and of a repository were first served with;
// 0 where they never were.
type Known struct{ Owner, Repo int64 }

// A Service is the decision whether a repository is served.
type Service struct {
	// Known are the IDs by which the names of a served repository are known from now on.
	Known Known
	// Refused is the reason why it is not served; nil if it is.
	Refused *notes.NotServed
}

// Allowed reports whether it is served.
func (s Service) Allowed() bool { return s.Refused == nil }

// Taken reports whether it is not served because its name is known as another repository's.
func (s Service) Taken() bool { return s.Refused != nil && s.Refused.Why == notes.OtherRepository }

// Decide decides whether a repository is served, of whose names something is known.
func (s Serves) Decide(r github.Repo, k Known) Service {
	no := func(why notes.Unserved, id, was int64) Service {
		return Service{Refused: &notes.NotServed{Why: why, Repo: r.String(), Owner: r.Owner, ID: id, Was: was}}
	}
	var fit []named
	for _, n := range s.list {
		is, _ := path.Match(n.name, strings.ToLower(r.Name))
		if is && strings.EqualFold(n.owner, r.Owner) {
			fit = append(fit, n)
		}
	}
	switch {
	case s.None():
		return no(notes.NothingServed, 0, 0)
	case len(fit) == 0 || r.ID <= 0:
		return no(notes.NotNamed, 0, 0)
	}
	// An ID that somebody has named stands above one that was found.
	for _, n := range fit {
		switch {
		case n.id != 0 && n.name == "*":
			k.Owner = n.id
		case n.id != 0:
			k.Repo = n.id
		}
	}
	pinned := slices.ContainsFunc(fit, func(n named) bool { return n.id == r.ID && n.name != "*" })
	switch {
	case k.Repo != 0 && k.Repo != r.ID && !pinned:
		return no(notes.OtherRepository, r.ID, k.Repo)
	case k.Owner != 0 && r.OwnerID != 0 && k.Owner != r.OwnerID && !pinned:
		return no(notes.OtherAccount, r.OwnerID, k.Owner)
	}
	if !pinned && r.OwnerID != 0 {
		k.Owner = r.OwnerID
	}
	k.Repo = r.ID
	return Service{Known: k}
}
