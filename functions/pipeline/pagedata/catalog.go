package pagedata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github"
)

const (
	// perPage is the number of pull requests, or of audit records, on one page.
	perPage = 30
	// maxSearched is the maximum number of repositories that a search reads.
	maxSearched = 200
	// maxSearchedStates is the maximum number of states whose objects a search reads.
	maxSearchedStates = 1000
	// atOnce is the maximum number of requests to a store that one page makes at the same time.
	atOnce = 32
)

// Repositories implements page.Catalog.
func (s Site) Repositories(ctx context.Context) ([]page.RepositoryID, error) {
	all, err := s.repositories(ctx)
	var out []page.RepositoryID
	for _, r := range all {
		out = append(out, page.RepositoryID{Owner: r.Owner, Name: r.Name})
	}
	return slices.Compact(out), err
}

// repositories returns the repositories that the reader may see, by name. If several had the same name, the one
// with the highest ID comes first.
func (s Site) repositories(ctx context.Context) (all []github.Repo, err error) {
	if s.Access != nil {
		all, err = s.Access.Repositories(ctx)
	} else {
		var list []pulled
		list, err = s.pulls(ctx)
		for _, x := range list {
			all = append(all, x.Repo)
		}
	}
	slices.SortFunc(all, func(a, b github.Repo) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.String()), strings.ToLower(b.String())), cmp.Compare(b.ID, a.ID))
	})
	return slices.CompactFunc(all, func(a, b github.Repo) bool { return a.ID == b.ID }), err
}

// repository returns the repository with a name, or page.ErrNotFound.
func (s Site) repository(ctx context.Context, id page.RepositoryID) (github.Repo, error) {
	if s.Access != nil {
		return s.Access.Repository(ctx, id.Owner, id.Name)
	}
	all, err := s.repositories(ctx)
	if err != nil {
		return github.Repo{}, err
	}
	i := slices.IndexFunc(all, func(r github.Repo) bool { return r.Owner == id.Owner && r.Name == id.Name })
	if i < 0 {
		return github.Repo{}, page.ErrNotFound
	}
	return all[i], nil
}

// Repository implements page.Catalog.
func (s Site) Repository(ctx context.Context, id page.RepositoryID, v page.View, at int) (page.Repository, error) {
	repo, err := s.repository(ctx, id)
	out := page.Repository{RepositoryID: id, View: v, At: at}
	if err != nil {
		return out, err
	}
	if v == page.PullsView {
		out.Pulls, out.Next, err = s.pullsOf(ctx, repo, at)
		return out, err
	}
	all, err := ledger.StatesOf(ctx, ledger.Ledger{Records: s.Records}, repo.ID)
	if err != nil {
		return out, err
	}
	if v == page.ProjectsView {
		if out.Figures, err = (ledger.Ledger{Records: s.Records}).Figures(ctx, pipeline.Pull{Repo: repo}, time.Now()); err != nil {
			return out, err
		}
	}
	if v == page.AuditView {
		out.Records, out.Next, err = s.lastRecords(ctx, all, at)
		return out, err
	}
	out.Projects = slices.DeleteFunc(s.projects(id, all), func(p page.ProjectState) bool {
		return v == page.LocksView && p.Lock == nil && len(p.Queue) == 0 || v == page.DriftView && p.Drift == nil
	})
	return out, nil
}

// projects returns the projects of a repository, by name.
func (s Site) projects(id page.RepositoryID, all ledger.States) (out []page.ProjectState) {
	targets := map[string]bool{}
	for target := range all.Places {
		targets[target] = true
	}
	for target := range all.Drifts {
		targets[target] = true
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(all.Last)), slices.Collect(maps.Keys(all.Locks)), slices.Collect(maps.Keys(all.Queues))) {
		if strings.Contains(name, "@") { // The name is a target, so the state is not in a bucket.
			targets[name] = true
		}
	}
	for target := range targets {
		out = append(out, s.project(id, all, target))
	}
	slices.SortFunc(out, func(a, b page.ProjectState) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workspace, b.Workspace))
	})
	return out
}

// project returns what is known about one target.
func (s Site) project(id page.RepositoryID, all ledger.States, target string) page.ProjectState {
	place := all.Places[target]
	p := page.ProjectState{Target: target, Name: runs.ProjectOf(target), Workspace: runs.WorkspaceOf(target), Place: place}
	// A lock may have been recorded before the address of the state was known. Its key then contains
	// the target.
	for _, name := range []string{target, runs.StateName(place, target)} {
		if l, ok := all.Last[name]; ok {
			p.Last = &page.LastApply{
				Pull: l.Number, By: l.By, At: l.Audited.At, Serial: l.State.Serial, Lineage: l.State.Lineage, Applies: l.Count(), Merged: l.Merged, Open: !l.Settled,
			}
		}
		if v, ok := all.Locks[name]; ok {
			p.Lock = &page.Lock{Pull: v.Number, By: v.By, Reason: s.censored(v.Reason), At: v.At}
		}
		for _, t := range all.Queues[name] {
			p.Queue = append(p.Queue, page.Turn{Pull: t.Pull.Number, By: t.By})
		}
		if name == runs.StateName(place, target) {
			break
		}
	}
	if d := all.Drifts[target]; d.Open {
		p.Drift = &page.Drift{Since: d.Since, Issue: d.Issue, Failures: d.Failures}
		if s.Web != "" && d.Issue > 0 {
			p.Drift.URL = fmt.Sprintf("%s%s/issues/%d", s.Web, id.Path(), d.Issue)
		}
	}
	return p
}

// pullsOf returns a page of a repository's pull requests, the newest first: those with numbers below before. If before
// is 0, the page begins with the newest pull request. next is the value of before for the next page; 0 if there is none.
func (s Site) pullsOf(ctx context.Context, repo github.Repo, before int) (pulls []page.Pull, next int, err error) {
	var looks []runstatus.Look
	var records *snapshot
	both, within := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		looks, next, err = s.newest(within, repo, before)
		return err
	})
	both.Go(func() (err error) {
		records, err = s.ofRepository(within, repo)
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, 0, err
	}
	out := make([]page.Pull, len(looks))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, l := range looks {
		g.Go(func() error {
			x := pulled{Pull: l.Pull, look: l}
			x.Pull.Repo = repo // its present name
			var err error
			if x.runs, err = s.runs(ctx, repo, l.Pull.Number); err != nil {
				return err
			}
			out[i] = s.pull(x)
			return s.glance(ctx, withoutChecks{records}, x, &out[i])
		})
	}
	return out, next, g.Wait()
}

// newest returns the looks at the newest pull requests that are worth listing, as pullsOf does. It decodes only the
// records of one page, because a repository may have thousands.
func (s Site) newest(ctx context.Context, repo github.Repo, before int) (looks []runstatus.Look, next int, err error) {
	list, err := s.Records.List(ctx, fmt.Sprintf("pull/%d", repo.ID))
	if err != nil {
		return nil, 0, err
	}
	numbers := map[int]pipeline.Record{}
	for _, rec := range list {
		if n, err := strconv.Atoi(path.Base(rec.Key)); err == nil && (before == 0 || n < before) {
			numbers[n] = rec
		}
	}
	for _, n := range slices.SortedFunc(maps.Keys(numbers), func(a, b int) int { return cmp.Compare(b, a) }) {
		l, err := runstatus.DecodeLook(numbers[n])
		if err != nil {
			return nil, 0, err
		}
		switch {
		case !worthListing(l):
		case len(looks) == perPage:
			return looks, looks[perPage-1].Pull.Number, nil
		default:
			looks = append(looks, l)
		}
	}
	return looks, 0, nil
}

// withoutChecks are records without those of check runs. So a list of pull requests does not show for which requirement a
// plan waits, because that would cost a request for each plan. The page of the pull request shows the requirement.
type withoutChecks struct{ pipeline.Records }

// Get implements pipeline.Records.
func (r withoutChecks) Get(ctx context.Context, key string) (pipeline.Record, error) {
	if strings.HasPrefix(key, "sha/") {
		return pipeline.Record{Key: key}, nil
	}
	return r.Records.Get(ctx, key)
}

// worthListing reports whether a pull request is in the list, judged without its runs: it changes a project, or
// Lockstep has reported something about it.
func worthListing(l runstatus.Look) bool {
	return l.Projects > 0 || l.Told || l.Comment.ID != 0 || !l.Closed && (l.Refused != "" || l.GivenUp != "")
}

// ofRepository returns the records with those of a repository in memory that can block applies: the last applies
// of states, locks by people, and the addresses that lead to these records.
func (s Site) ofRepository(ctx context.Context, repo github.Repo) (*snapshot, error) {
	out := &snapshot{Records: s.Records, all: s.Records.List, have: map[string]pipeline.Record{}}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	for _, collection := range []string{"state", "lock", "address"} {
		g.Go(func() error {
			dir := fmt.Sprintf("%s/%d", collection, repo.ID)
			list, err := s.Records.List(ctx, dir)
			mu.Lock()
			defer mu.Unlock()
			out.keep(dir, list)
			return err
		})
	}
	return out, g.Wait()
}

// Project implements page.Catalog.
func (s Site) Project(ctx context.Context, id page.RepositoryID, target string) (page.ProjectHistory, error) {
	out := page.ProjectHistory{RepositoryID: id}
	repo, err := s.repository(ctx, id)
	if err != nil {
		return out, err
	}
	ld := ledger.Ledger{Records: s.Records}
	all, err := ledger.StatesOf(ctx, ld, repo.ID)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(s.projects(id, all), func(p page.ProjectState) bool { return p.Target == target })
	if i < 0 {
		return out, page.ErrNotFound
	}
	out.ProjectState = s.project(id, all, target)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		out.Plans, err = s.plansOf(ctx, ld, repo, all, target)
		return err
	})
	g.Go(func() (err error) {
		out.Records, out.More, err = s.recordsOf(ctx, repo, all, target)
		return err
	})
	g.Go(func() (err error) {
		if l, ok := all.Last[runs.StateName(all.Places[target], target)]; ok {
			out.Contents, err = s.contentsAfter(ctx, pipeline.Pull{Repo: repo, Number: l.Number}, target)
		}
		return err
	})
	return out, g.Wait()
}

// contentsAfter returns the contents of a target's state after its apply in a pull request; "" if they are not stored any more.
func (s Site) contentsAfter(ctx context.Context, pull pipeline.Pull, target string) (string, error) {
	r := runs.Run{ID: runs.ID{Pull: pull, Project: runs.ProjectOf(target), Workspace: runs.WorkspaceOf(target)}}
	text, err := s.Artifacts.Get(ctx, r.Contents())
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return "", nil
	}
	return s.censored(string(text)), err
}

// plansOf returns the plans of a target that wait for an apply, and the one that was applied last.
func (s Site) plansOf(ctx context.Context, ld ledger.Ledger, repo github.Repo, all ledger.States, target string) ([]page.ProjectPlan, error) {
	place := all.Places[target]
	open, err := ld.OpenPlans(ctx, repo.ID, place, target)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, o := range open {
		if o.Target == "" || o.Target == target {
			numbers = append(numbers, o.Pull.Number)
		}
	}
	if l, ok := all.Last[runs.StateName(place, target)]; ok {
		numbers = append(numbers, l.Number)
	}
	slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(b, a) })
	numbers = slices.Compact(numbers)
	numbers = numbers[:min(len(numbers), perPage)]
	out := make([]page.ProjectPlan, len(numbers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, n := range numbers {
		g.Go(func() error {
			pull := pipeline.Pull{Repo: repo, Number: n}
			r, err := ld.Read(ctx, pull.Runs()+"/"+target)
			if err != nil || r.Version == "" {
				return err
			}
			look, err := ld.LastLook(ctx, pull)
			if err != nil {
				return err
			}
			p, err := runstatus.Project(ctx, s.Records, r.Run, runstatus.HeadOf(look))
			out[i] = page.ProjectPlan{Pull: idOf(pull), Project: shown(r.Run, p, runstatus.Former(r.Run, runstatus.HeadOf(look)))}
			return err
		})
	}
	err = g.Wait()
	return slices.DeleteFunc(out, func(p page.ProjectPlan) bool { return p.Pull.Number == 0 }), err
}

// recordsOf returns the latest audit records of a target's state, the newest first. more is set if there are older
// ones.
func (s Site) recordsOf(ctx context.Context, repo github.Repo, all ledger.States, target string) (out []page.AuditRecord, more bool, err error) {
	if s.Chains == nil {
		return nil, false, nil
	}
	place := all.Places[target]
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: repo}, Project: runs.ProjectOf(target), Workspace: runs.WorkspaceOf(target)}, Address: runs.Address{Place: place}}
	chain, known := audit.ChainOf(r), all.Last[r.StateName()].Audited
	if known.Chain != chain {
		known.N = 0
	}
	end, err := s.Chains.Last(ctx, chain, known.N)
	if err != nil {
		return nil, false, err
	}
	var links []runs.Audited
	for n := end; n > max(0, end-perPage); n-- {
		links = append(links, runs.Audited{Chain: chain, N: n})
	}
	out, err = s.auditRecords(ctx, links)
	return out, end > perPage, err
}

// lastRecords returns a page with the last audit record of each state of a repository, the newest first, beginning with
// record number at. next is the value of at for the next page; 0 if there is none.
func (s Site) lastRecords(ctx context.Context, all ledger.States, at int) (out []page.AuditRecord, next int, err error) {
	if s.Chains == nil {
		return nil, 0, nil
	}
	var links []runs.Audited
	for _, l := range all.Last {
		if l.Audited.N > 0 && !slices.Contains(links, l.Audited) {
			links = append(links, l.Audited)
		}
	}
	slices.SortFunc(links, func(a, b runs.Audited) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Chain, b.Chain)) })
	links = links[min(at, len(links)):]
	if len(links) > perPage {
		links, next = links[:perPage], at+perPage
	}
	out, err = s.auditRecords(ctx, links)
	return out, next, err
}

// auditRecords reads audit records. It leaves out those that have expired.
func (s Site) auditRecords(ctx context.Context, links []runs.Audited) ([]page.AuditRecord, error) {
	out := make([]page.AuditRecord, len(links))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, l := range links {
		g.Go(func() error {
			data, err := s.Chains.Link(ctx, l.Chain, l.N)
			if errors.Is(err, pipeline.ErrNoLink) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read the audit record %d of %s: %w", l.N, l.Chain, err)
			}
			rec, err := audit.Decode(data)
			if err != nil {
				return fmt.Errorf("read the audit record %d of %s: %w", l.N, l.Chain, err)
			}
			out[i] = s.auditRecord(rec)
			return nil
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(out, func(r page.AuditRecord) bool { return r.N == 0 }), err
}

func (s Site) auditRecord(r audit.Record) page.AuditRecord {
	out := page.AuditRecord{
		N: r.N, At: r.At, Event: string(r.Event), By: r.By, Pull: r.Pull, Project: r.Project, Workspace: r.Workspace, Place: r.State,
		Target: runs.ID{Project: r.Project, Workspace: r.Workspace}.Target(),
		Head:   r.Head, Plan: r.Plan, Serial: r.Serial, Approved: r.Approved, Reasons: s.censored(r.Reasons),
	}
	if r.Event == audit.ApplyEnded {
		out.Outcome = cmp.Or(applied(r.Counts), "nothing changed")
		switch {
		case r.Failed:
			out.Outcome = fmt.Sprintf("failed: %s, %d remaining", out.Outcome, r.Remaining)
		case r.Remaining > 0:
			out.Outcome = fmt.Sprintf("stopped: %s, %d remaining", out.Outcome, r.Remaining)
		}
	}
	return out
}

// Find implements page.Catalog. It reads the addresses of at most maxSearched repositories.
func (s Site) Find(ctx context.Context, words []string) (found []page.Match, more bool, err error) {
	places := func(ctx context.Context, ld ledger.Ledger, repo int64) (all ledger.States, err error) {
		all.Places, err = ledger.PlacesOf(ctx, ld, repo)
		return all, err
	}
	more, err = s.search(ctx, places, func(m page.Match, _ github.Repo, _ ledger.States) {
		if hasWords(m.RepositoryID.String()+" "+m.Title()+" "+m.Place, words) {
			found = append(found, m)
		}
	})
	return found[:min(len(found), page.MaxMatches)], more || len(found) > page.MaxMatches, err
}

func hasWords(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) })
}

// search calls visit for each project of the repositories that the reader may read, one after the other. read returns the states of a
// repository. more is set if repositories are left out.
func (s Site) search(ctx context.Context, read func(context.Context, ledger.Ledger, int64) (ledger.States, error), visit func(page.Match, github.Repo, ledger.States)) (more bool, err error) {
	repos, err := s.repositories(ctx)
	if err != nil {
		return false, err
	}
	more = len(repos) > maxSearched
	repos = repos[:min(len(repos), maxSearched)]
	states := make([]ledger.States, len(repos))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, repo := range repos {
		g.Go(func() (err error) {
			states[i], err = read(ctx, ledger.Ledger{Records: s.Records}, repo.ID)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return false, err
	}
	for i, repo := range repos {
		id := page.RepositoryID{Owner: repo.Owner, Name: repo.Name}
		for _, p := range s.projects(id, states[i]) {
			visit(page.Match{RepositoryID: id, ProjectState: p}, repo, states[i])
		}
	}
	return more, nil
}

// FindObjects implements page.Catalog. It reads the contents of at most maxSearchedStates states.
func (s Site) FindObjects(ctx context.Context, words []string) (found []page.ObjectMatch, more bool, err error) {
	var all []page.Match
	var pulls []pipeline.Pull // of the last apply of each
	more, err = s.search(ctx, ledger.StatesOf, func(m page.Match, repo github.Repo, states ledger.States) {
		if l, ok := states.Last[runs.StateName(states.Places[m.Target], m.Target)]; ok {
			all, pulls = append(all, m), append(pulls, pipeline.Pull{Repo: repo, Number: l.Number})
		}
	})
	if err != nil {
		return nil, false, err
	}
	more = more || len(all) > maxSearchedStates
	all = all[:min(len(all), maxSearchedStates)]
	parts := make([][]page.ObjectMatch, len(all))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, m := range all {
		g.Go(func() error {
			text, err := s.contentsAfter(ctx, pulls[i], m.Target)
			_, objects, _ := strings.Cut(text, "\nObjects: ") // the lines after the outputs
			for address := range strings.Lines(objects) {
				if address = strings.TrimSpace(address); strings.Contains(address, ".") && !strings.HasPrefix(address, "... ") && hasWords(address, words) {
					parts[i] = append(parts[i], page.ObjectMatch{Match: m, Address: address})
				}
			}
			return err
		})
	}
	err = g.Wait()
	found = slices.Concat(parts...)
	return found[:min(len(found), page.MaxMatches)], more || len(found) > page.MaxMatches, err
}
