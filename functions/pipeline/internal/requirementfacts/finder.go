package requirementfacts

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// A Finder reads the facts about one pull request, each only once. Only one goroutine may use it.
type Finder struct {
	Hub  Hub
	Pull github.PullRequest
	// Base is the commit at the tip of the base branch.
	Base string
	// Pushes are the pushes to the pull request that webhooks reported.
	Pushes []github.Push
	Now    time.Time
	// Deployment is the name of this deployment.
	Deployment string
	// Lenient is set if any failure to read a fact makes this fact unknown. Otherwise, some failures are
	// returned as errors.
	Lenient bool

	read map[string]any // by name
}

// A Subject is a command about a plan, for which facts are read.
type Subject struct {
	Actor string // login of the user who asks; "" for a push
	// Unasked is set if nobody has asked for the apply yet.
	Unasked bool
	// Grouped is set if the decision is shown in the check of a merge group.
	Grouped bool
	// Planned is the commit that was planned; "" if there is no plan yet.
	Planned string
	Plan    requirementrules.Fact[requirementrules.Plan]
	// Replaced is set if this plan, or an earlier one of the same commit, has replaced another plan without a
	// push. An approval then counts only if it is newer than Since, the time at which that plan was first
	// shown. If Since is zero, no approval counts.
	Replaced bool
	Since    time.Time
	// Policies are the IDs that the base branch's policies have now, by name.
	Policies requirementrules.Fact[map[string]string]
	// Steps are the IDs that the base branch's steps have now, by name.
	Steps requirementrules.Fact[map[string]string]
	// Shown is the time at which the plan was first shown. If it is zero, nobody can override requirements.
	// Project, Dir and Workspace are those of the plan; a command can select the plan by them.
	Shown                   time.Time
	Project, Dir, Workspace string
	// Was and VarFiles are the project's directory and variable files on the base branch, if it has the
	// project. Beyond is set if the changed files do not show everything that the plan may change: the pull
	// request removes the project or does not change it, or the plan has options.
	Was      string
	VarFiles []string
	Beyond   bool
	// Target is the project's name in Lockstep's answers to overrides. Answering is the ID of the comment with
	// an override that is being answered; 0 for none.
	Target    string
	Answering int64
	// Overrider is the login of a user who asks whether they may override a requirement; "" for nobody.
	Overrider string
}

// Find returns the facts that are needed about a subject.
func (f *Finder) Find(ctx context.Context, n requirementrules.Needs, s Subject) (requirementrules.Facts, error) {
	out := requirementrules.Facts{
		Now: f.Now, Actor: s.Actor, Unasked: s.Unasked, Grouped: s.Grouped, Planned: s.Planned, Plan: s.Plan, Policies: s.Policies, Steps: s.Steps, Author: f.Pull.Author,
		Pull: requirementrules.Pull{Draft: f.Pull.Draft, Merged: f.Pull.Merged, Issue: f.Pull.Issue != "", Labels: f.Pull.Labels}, People: map[string]requirementrules.Person{},
	}
	if out.Planned == "" {
		out.Planned = f.Pull.Head.SHA
	}
	p := &pass{f, ctx, &out, nil}
	p.environments(&n, s.Shown)
	p.reviews(n, s)
	p.rest(n, s.Grouped)
	p.lifts(n, s)
	p.people(n)
	if s.Overrider != "" {
		p.person(s.Overrider, n.Lifters)
	}
	return out, p.err
}

// A pass reads the facts for one subject. err is its first error after which another attempt may help; it then
// stops reading.
type pass struct {
	*Finder
	ctx context.Context
	out *requirementrules.Facts
	err error
}

// fact reads a fact by calling read. If the fact called name was already read, it returns that.
func fact[T any](p *pass, name string, read func(context.Context) (T, error)) requirementrules.Fact[T] {
	if p.err != nil {
		return requirementrules.Fact[T]{}
	}
	if have, ok := p.read[name]; ok {
		return have.(requirementrules.Fact[T])
	}
	v, err := read(p.ctx)
	out := requirementrules.Known(v)
	if err != nil {
		var final *github.FinalError
		if !errors.As(err, &final) && !errors.Is(err, github.ErrNotFound) && !p.Lenient {
			p.err = err
			return requirementrules.Fact[T]{}
		}
		why := err.Error()
		if final != nil && final.Remedy != "" {
			why = strings.TrimSuffix(why, ".") + ". " + final.Remedy
		}
		out = requirementrules.Unknown[T](why)
	}
	if p.read == nil {
		p.read = map[string]any{}
	}
	p.read[name] = out
	return out
}

func (p *pass) reviews(n requirementrules.Needs, s Subject) {
	if n.Owners {
		p.out.Owned, p.out.UnreadOwners = p.owned(s)
		if len(p.out.Owned.Value) > 0 { // it alone names them, so their absence changes no decision
			p.out.UnknownOwners = fact(p, "unknown owners", func(ctx context.Context) ([]string, error) { return p.Hub.UnknownOwners(ctx, p.Base) }).Value
		}
	}
	if !n.Reviews {
		return
	}
	all := fact(p, "reviews", func(ctx context.Context) ([]github.Review, error) { return p.Hub.Reviews(ctx, p.Pull.Number) })
	p.out.Reviews = requirementrules.Fact[[]requirementrules.Review]{Known: all.Known, Problem: all.Problem}
	for _, r := range all.Value {
		// GitHub's clock counts seconds, so an approval in the same second as the plan does not count.
		former := s.Replaced && (s.Since.IsZero() || !r.At.After(s.Since))
		p.out.Reviews.Value = append(p.out.Reviews.Value, requirementrules.Review{Author: r.Author, State: string(r.State), SHA: r.SHA, Former: former})
	}
	p.out.Contributors = p.contributors()
}

// owned returns the changed paths that have owners, and the lines of CODEOWNERS that GitHub ignores.
func (p *pass) owned(s Subject) (paths requirementrules.Fact[[]requirementrules.Owned], unread []string) {
	o := fact(p, "ownership", p.ownership)
	if !o.Known {
		return requirementrules.Unknown[[]requirementrules.Owned](o.Problem), nil
	}
	all, err := o.Value.owned(s)
	if err != nil {
		return requirementrules.Unknown[[]requirementrules.Owned](err.Error()), o.Value.unread
	}
	return requirementrules.Known(all), o.Value.unread
}

func (p *pass) rest(n requirementrules.Needs, grouped bool) {
	if n.Open || n.Merging {
		talk := fact(p, "discussion", func(ctx context.Context) (github.Discussion, error) { return p.Hub.Discussion(ctx, p.Pull.Number) })
		p.out.Open = requirementrules.Fact[int]{Value: talk.Value.Open, Known: talk.Known, Problem: talk.Problem}
		if n.Merging && !p.Pull.Merged {
			p.out.Merging = p.merging(talk)
		}
	}
	if n.Behind && !p.Pull.Merged && !grouped {
		p.out.Behind = fact(p, "behind", func(ctx context.Context) (bool, error) { return p.Hub.Behind(ctx, p.Pull.Head.SHA, p.Base) })
	}
	if n.Checks {
		p.out.Checks = fact(p, "checks "+p.out.Planned, p.checks)
	}
	if n.Labels {
		p.out.LabelMoves = fact(p, "labels", func(ctx context.Context) ([]requirementrules.LabelMove, error) {
			all, err := p.Hub.LabelEvents(ctx, p.Pull.Number)
			var out []requirementrules.LabelMove
			for _, e := range all {
				out = append(out, requirementrules.LabelMove{Label: strings.ToLower(e.Label), By: e.Actor, Added: e.Added})
			}
			return out, err
		})
	}
}

// merging returns what GitHub says about merging the pull request, with the rules of the base branch.
func (p *pass) merging(talk requirementrules.Fact[github.Discussion]) requirementrules.Fact[requirementrules.Merging] {
	if !talk.Known {
		return requirementrules.Unknown[requirementrules.Merging](talk.Problem)
	}
	if p.Pull.MergeState == "unknown" || p.Pull.MergeState == "" {
		return requirementrules.Unknown[requirementrules.Merging]("GitHub has not found out yet whether the pull request can be merged")
	}
	return fact(p, "merging", func(ctx context.Context) (requirementrules.Merging, error) {
		m := requirementrules.Merging{
			Conflict: p.Pull.MergeState == "dirty", Behind: p.Pull.MergeState == "behind", Blocked: p.Pull.MergeState == "blocked",
			ReviewMissing: talk.Value.ReviewMissing,
		}
		rules, err := p.Hub.RequiredReports(ctx, p.Pull.Base.Ref)
		for _, r := range rules.Reports {
			m.Required = append(m.Required, requirementrules.Required{Name: r.Name, App: r.AppID, Own: r.Own || p.own(r)})
		}
		if m.Blocked {
			m.Rules = rules.Others
		}
		if m.Blocked && rules.Resolved {
			m.Unresolved = talk.Value.Open
		}
		return m, err
	})
}

// own reports whether a required check is one of Lockstep's. It must have such a name. In addition, any App may
// report it, or it belongs to another deployment for the repository. The requirement must not wait for such a
// check, because the check waits for the apply.
func (p *pass) own(r github.RequiredReport) bool {
	by, _, is := pipeline.ReadCheck(r.Name)
	return is && (r.AppID == 0 || by != p.Deployment)
}

func (p *pass) checks(ctx context.Context) (out []requirementrules.Check, err error) {
	all, err := p.Hub.Reports(ctx, p.out.Planned)
	for _, r := range all {
		state := "failed"
		switch {
		case !r.Done:
			state = "running"
		case r.Passed:
			state = "passed"
		}
		_, isTest := pipeline.ReadTestCheck(r.Name) // it waits for no decision, so a requirement may name it
		out = append(out, requirementrules.Check{Name: r.Name, App: r.App, ID: r.AppID, Ours: r.Ours && !isTest, State: state})
	}
	return out, err
}

// people reads the permissions and teams of everybody whose approval or action may matter.
func (p *pass) people(n requirementrules.Needs) {
	if p.out.Actor != "" {
		p.person(p.out.Actor, n.Actor)
	}
	var owners []requirements.Party
	for _, o := range p.out.Owned.Value {
		owners = append(owners, o.Owners...)
	}
	for _, v := range p.out.Reviews.Value {
		if v.State == string(github.Approved) && v.SHA == p.out.Planned && !v.Former {
			p.person(v.Author, n.Approvers)
			p.person(v.Author, owners)
		}
	}
	for _, m := range p.out.LabelMoves.Value {
		if m.By != "" {
			p.person(m.By, nil)
		}
	}
	for _, l := range p.out.Lifts {
		if l.Planned == p.out.Planned {
			p.person(l.By, n.Lifters)
		}
	}
}

func (p *pass) person(login string, parties []requirements.Party) {
	key := strings.ToLower(login)
	have := p.out.People[key]
	if !have.Permission.Known {
		have.Permission = fact(p, "permission "+key, func(ctx context.Context) (string, error) {
			may, err := p.Hub.Permission(ctx, login)
			return may.String(), err
		})
	}
	for _, party := range parties {
		if party.Team == "" {
			continue
		}
		if have.Teams == nil {
			have.Teams = map[string]requirementrules.Fact[bool]{}
		}
		name := party.String()
		have.Teams[name] = fact(p, "member "+name+" "+key, func(ctx context.Context) (bool, error) {
			return p.Hub.InTeam(ctx, party.Org, party.Team, login)
		})
	}
	p.out.People[key] = have
}
