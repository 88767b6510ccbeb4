package intake

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
	"github.com/lockstep-iac/lockstep/github"
)

// A Serves lists the owners and repositories for which a deployment works. The operator writes the list.
// Anybody can install a GitHub App that is not private, in a repository whose base branch they control. So
// Lockstep does not work for a repository that is not in the list. The zero value lists none.
//
// Names are GitHub's, in upper or lower case:
//
//	acme             all repositories of the owner; so does acme/*
//	acme/infra       one
//	acme/team-*      those whose names match: * stands for any characters
//	acme/infra=123   one, if it has this ID
//	acme=77          all of the owner, if its account has this ID
//
// Somebody else can get a name: an account is closed and another one takes its name, or a repository is deleted
// and created once more. So a name counts only with the ID that it had when Lockstep first worked for it
// ([Known]). For another ID, the operator must add the ID to the list.
//
// If a repository is renamed or transferred, its new name must be in the list, too. Its ID is not enough: the
// administrator of a repository can rename it, and operators could then no longer see in this list for which
// repositories Lockstep works.
type Serves struct{ list []named }

// named is one name in the list, in lower case. ID 0 means any ID. The repository name "*" means all
// repositories of the owner.
type named struct {
	owner, name string
	id          int64
}

var (
	ownerPattern = lazyregexp.New(`^[a-z0-9_][a-z0-9_-]{0,99}$`)
	repoPattern  = lazyregexp.New(`^[a-z0-9_.*-]{1,100}$`)
)

// ParseServes parses a list of names, separated by commas or spaces. The error lists every mistake.
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

// Empty reports whether the list names nobody.
func (s Serves) Empty() bool { return len(s.list) == 0 }

// NamesOwner reports whether the list names an owner, or a repository of the owner.
func (s Serves) NamesOwner(login string) bool {
	return slices.ContainsFunc(s.list, func(n named) bool { return strings.EqualFold(n.owner, login) })
}

// Known are the IDs that the names of an owner and of a repository had when Lockstep first worked for them. An
// ID is 0 if it never did.
type Known struct{ Owner, Repo int64 }

// A Service is the decision whether Lockstep works for a repository.
type Service struct {
	// Known are the IDs to which the names of the repository and its owner belong from now on.
	Known Known
	// Refused is the reason why Lockstep does not work for the repository; nil if it does.
	Refused *notes.NotServed
}

// Allowed reports whether Lockstep works for the repository.
func (s Service) Allowed() bool { return s.Refused == nil }

// NameTaken reports whether Lockstep does not work for the repository because its name belongs to another
// repository's ID.
func (s Service) NameTaken() bool { return s.Refused != nil && s.Refused.Why == notes.OtherRepository }

// Decide decides whether Lockstep works for a repository. k has the IDs that are recorded for its names.
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
	case s.Empty():
		return no(notes.NothingServed, 0, 0)
	case len(fit) == 0 || r.ID <= 0:
		return no(notes.NotNamed, 0, 0)
	}
	// An ID that the operator has listed is more important than a recorded one.
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
