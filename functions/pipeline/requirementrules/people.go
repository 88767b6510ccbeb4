package requirementrules

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// belongs reports whether a person is one of the parties. problem is the reason if that is not known:
// membership in one of the teams could not be read, and no other party matches.
func belongs(f Facts, login string, parties []requirements.Party) (yes bool, problem string) {
	if login == "" {
		return false, ""
	}
	for _, p := range parties {
		if p.Team == "" && samePerson(p.Login, login) {
			return true, ""
		}
	}
	for _, p := range parties {
		if p.Team == "" {
			continue
		}
		in := f.person(login).Teams[p.String()]
		switch {
		case in.Known && in.Value:
			return true, ""
		case !in.Known:
			problem = cmp.Or(problem, in.Problem, notRead)
		}
	}
	return false, problem
}

// notRead is the problem of a fact that was not requested.
const notRead = "it was not read"

// writes reports whether a person has write access to the repository now. problem is the reason if that is not
// known.
func writes(f Facts, login string) (yes bool, problem string) {
	p := f.person(login).Permission
	if !p.Known {
		return false, cmp.Or(p.Problem, notRead)
	}
	return p.Value == "write" || p.Value == "admin", ""
}

func names(parties []requirements.Party) []string {
	var out []string
	for _, p := range parties {
		out = append(out, p.String())
	}
	return out
}

// askedBy requires that the user who makes the request is one of the parties that the rules name.
func askedBy(f Facts, r requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.Fails, Wanted: names(r.By)}
	yes, problem := belongs(f, f.Actor, r.By)
	switch {
	case f.Unasked:
		out.Outcome = rulings.NotApplicable
	case yes:
		out.Outcome, out.Found = rulings.Holds, []string{f.Actor}
	case problem != "":
		out.Outcome, out.Problem = rulings.Unknown, problem
	case f.Actor != "":
		out.Against = []rulings.Against{{Name: f.Actor, Why: rulings.NotNamed}}
	}
	return out
}

// permitted requires that the user who makes the request has the permission that the rules name. For a push,
// there is no such user.
func permitted(f Facts, r requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.Fails, Wanted: []string{r.Permission}}
	has := f.person(f.Actor).Permission
	switch {
	case f.Unasked:
		out.Outcome = rulings.NotApplicable
	case f.Actor == "":
	case !has.Known:
		out.Outcome, out.Problem = rulings.Unknown, cmp.Or(has.Problem, notRead)
	case has.Value == "admin" || has.Value == r.Permission:
		out.Outcome, out.Found = rulings.Holds, []string{f.Actor}
	default:
		out.Against = []rulings.Against{{Name: f.Actor, Why: rulings.CannotWrite, Names: []string{has.Value}}}
	}
	return out
}

// An opinion is a review that may count, or a review with the reason why it does not count.
type opinion struct {
	login   string
	why     rulings.Why // "" if it counts
	problem string      // the reason if that is not known
}

// opinions returns the approvals and the requests for changes of all reviewers. An opinion that does not
// count has the reason why. The approval of an App counts only if named contains the App.
func opinions(f Facts, named []requirements.Party) (out []opinion) {
	for _, v := range f.Reviews.Value {
		o := opinion{login: v.Author}
		isNamed := slices.ContainsFunc(named, func(p requirements.Party) bool { return p.Team == "" && samePerson(p.Login, v.Author) })
		switch {
		case v.State == "changes_requested":
			o.why = rulings.Refuses
		case v.State != "approved":
			continue
		case v.SHA != f.Planned || f.Planned == "":
			o.why = rulings.EarlierHead
		case v.Former:
			o.why = rulings.FormerPlan
		case samePerson(v.Author, f.Author) || slices.ContainsFunc(f.Contributors.Value, func(who string) bool { return samePerson(who, v.Author) }):
			o.why = rulings.OwnChange
		case isBot(v.Author) && !isNamed:
			o.why = rulings.ByBot
		case isBot(v.Author): // GitHub shows no permission of an App
		default:
			may, problem := writes(f, v.Author)
			if o.problem = problem; !may && problem == "" {
				o.why = rulings.CannotWrite
			}
		}
		out = append(out, o)
	}
	return out
}

// Approvers returns the people who approved the planned commit and whose approvals count; nil if that is not
// known.
func Approvers(f Facts) (out []string) {
	if _, not := unread(f, rulings.Ruling{}); not {
		return nil
	}
	for _, o := range opinions(f, nil) {
		if o.why == "" && o.problem == "" {
			out = append(out, o.login)
		}
	}
	return out
}

// unread checks whether the reviews could be read. If not, it returns out as an unknown ruling, and true.
func unread(f Facts, out rulings.Ruling) (rulings.Ruling, bool) {
	for _, problem := range []string{missing(f.Reviews), missing(f.Contributors)} {
		if problem != "" {
			out.Outcome, out.Problem = rulings.Unknown, problem
			return out, true
		}
	}
	return out, false
}

// missing returns why a fact is not known; "" if it is known.
func missing[T any](f Fact[T]) string {
	if f.Known {
		return ""
	}
	return cmp.Or(f.Problem, notRead)
}

// approvals requires that enough people approved the planned commit.
func approvals(f Facts, r requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.Fails, Want: r.Approvals, Wanted: names(r.ApprovedBy)}
	if out, not := unread(f, out); not {
		return out
	}
	unsure := 0
	for _, o := range opinions(f, r.ApprovedBy) {
		if o.why == "" && o.problem == "" && r.ApprovedBy != nil {
			yes, problem := belongs(f, o.login, r.ApprovedBy)
			if o.problem = problem; !yes && problem == "" {
				o.why = rulings.NotNamed
			}
		}
		switch {
		case o.problem != "":
			unsure++
			out.Problem = cmp.Or(out.Problem, o.problem)
		case o.why != "":
			out.Against = append(out.Against, rulings.Against{Name: o.login, Why: o.why})
		default:
			out.Found = append(out.Found, o.login)
		}
	}
	out.Have = len(out.Found)
	switch {
	case out.Have >= out.Want:
		out.Outcome, out.Problem = rulings.Holds, ""
	case out.Have+unsure >= out.Want:
		out.Outcome = rulings.Unknown
	default:
		out.Problem = ""
	}
	return out
}

// codeowners requires that one of its owners has approved each path that has owners.
func codeowners(f Facts, _ requirements.Rules) rulings.Ruling {
	out := rulings.Ruling{Outcome: rulings.NotApplicable}
	if problem := missing(f.Owned); problem != "" {
		return rulings.Ruling{Outcome: rulings.Unknown, Problem: problem}
	}
	for _, line := range f.UnreadOwners {
		out.Against = append(out.Against, rulings.Against{Name: line, Why: rulings.LeftOut})
	}
	if len(f.Owned.Value) == 0 {
		return out
	}
	if out, not := unread(f, out); not {
		return out
	}
	said := opinions(f, nil)
	for _, o := range said {
		if o.why != "" {
			out.Against = append(out.Against, rulings.Against{Name: o.login, Why: o.why})
		}
	}
	out.Outcome, out.Want = rulings.Holds, len(f.Owned.Value)
	var waiting []rulings.Against
	var unknown []string
	for _, path := range f.Owned.Value {
		by, problem := approvedBy(f, said, path.Owners)
		switch {
		case by != "":
			out.Have++
			if !slices.Contains(out.Found, by) {
				out.Found = append(out.Found, by)
			}
			continue
		case problem != "" && out.Outcome != rulings.Fails:
			out.Outcome, out.Problem = rulings.Unknown, problem
		case problem == "":
			out.Outcome, out.Problem = rulings.Fails, ""
		}
		waiting = append(waiting, rulings.Against{Name: path.Path, Why: rulings.Unowned, Names: append(names(path.Owners), path.Others...)})
		unknown = append(unknown, unknownOf(f, path.Owners)...)
	}
	slices.Sort(unknown)
	for _, name := range slices.Compact(unknown) { // first, because there can be many paths
		out.Against = append(out.Against, rulings.Against{Name: name, Why: rulings.UnknownOwner})
	}
	out.Against = append(out.Against, waiting...)
	return out
}

// unknownOf returns the owners whom GitHub ignores, because they can never approve. The path still counts as
// owned, unlike on GitHub. Without this rule, a misspelt name would remove the protection of a path.
func unknownOf(f Facts, owners []requirements.Party) (out []string) {
	for _, name := range names(owners) {
		if slices.ContainsFunc(f.UnknownOwners, func(x string) bool { return samePerson(x, name) }) {
			out = append(out, name)
		}
	}
	return out
}

// approvedBy returns the login of an approver who is one of the owners of a path. problem is the reason if that
// is not known.
func approvedBy(f Facts, said []opinion, owners []requirements.Party) (login, problem string) {
	for _, o := range said {
		if o.why != "" {
			continue
		}
		yes, unknown := belongs(f, o.login, owners)
		if yes && o.problem == "" {
			return o.login, ""
		}
		if yes || unknown != "" {
			problem = cmp.Or(problem, o.problem, unknown)
		}
	}
	return "", problem
}
