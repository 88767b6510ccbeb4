package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A Site shows a world, and lets the user act as anybody in it.
type Site struct{ w *World }

var (
	_ page.Site  = Site{}
	_ page.Actor = Site{}
)

// Site returns the world as the page shows it.
func (w *World) Site() Site { return Site{w} }

// Changed implements page.Site.
func (s Site) Changed(ctx context.Context, since uint64) uint64 { return s.w.edits.Wait(ctx, since) }

// Pulls implements page.Site. Open pull requests come before all others. In each of these two groups, the
// newest comes first.
func (s Site) Pulls(ctx context.Context) ([]page.Pull, error) {
	var open, others []page.Pull
	for _, v := range slices.Backward(s.w.repo.Pulls()) {
		p := s.pull(v)
		if err := s.w.machine.Site("").Glance(ctx, s.w.repo.Repo(), v.Number, &p); err != nil {
			return nil, err
		}
		if v.State == "open" {
			open = append(open, p)
		} else {
			others = append(others, p)
		}
	}
	return append(open, others...), nil
}

// pull returns the page data about the pull request itself.
func (s Site) pull(v githubtest.PullView) page.Pull {
	repo := s.w.repo.Repo()
	return page.Pull{
		PullID: page.PullID{Owner: repo.Owner, Name: repo.Name, Number: v.Number},
		Title:  v.Title, Author: v.Author, Standing: v.State, From: v.From, Into: v.Into, Head: v.Head,
	}
}

// find returns the view of a pull request.
func (s Site) find(id page.PullID) (githubtest.PullView, error) {
	repo := s.w.repo.Repo()
	for _, v := range s.w.repo.Pulls() {
		if id == (page.PullID{Owner: repo.Owner, Name: repo.Name, Number: v.Number}) {
			return v, nil
		}
	}
	return githubtest.PullView{}, page.ErrNotFound
}

// Pull implements page.Site.
func (s Site) Pull(ctx context.Context, id page.PullID) (page.Pull, error) {
	v, err := s.find(id)
	if err != nil {
		return page.Pull{}, err
	}
	p := s.pull(v)
	if err := s.w.machine.Site("").Show(ctx, s.w.repo.Repo(), v.Number, &p); err != nil {
		return page.Pull{}, err
	}
	for i := range p.Projects {
		if p.Projects[i].State, err = s.state(ctx, p.Projects[i]); err != nil {
			return page.Pull{}, err
		}
	}
	p.Checks, p.Files, p.Entries = s.checks(v), s.files(v), s.entries(v)
	for _, person := range people {
		p.Speakers = append(p.Speakers, page.Speaker{Login: person.login, May: may[person.permission]})
	}
	p.Offers = s.offers(v)
	return p, nil
}

var may = map[string]string{"admin": "may do everything", "write": "may write", "read": "may only read"}

func (s Site) checks(v githubtest.PullView) []page.Check {
	out := []page.Check{}
	for _, c := range s.w.repo.Checks(v.Head) {
		var buttons []page.Button
		for _, b := range c.Buttons {
			buttons = append(buttons, page.Button{Identifier: b.Identifier, Label: b.Label, Description: b.Description})
		}
		out = append(out, page.Check{
			ID: c.ID, Buttons: buttons, Name: c.Name, Status: string(c.Status), Conclusion: string(c.Conclusion), Title: c.Title, Summary: c.Summary, Text: c.Text,
		})
	}
	return out
}

func (s Site) files(v githubtest.PullView) []page.File {
	before, after := s.w.repo.Changes(v.Number)
	all := maps.Clone(before)
	maps.Copy(all, after)
	out := []page.File{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := string(diff.Diff("a/"+name, []byte(before[name]), "b/"+name, []byte(after[name])))
		if i := strings.Index(d, ""); i >= 0 {
			d = d[i:] // the lines before it only name the file, whose path is known
		}
		out = append(out, page.File{Path: name, Diff: d})
	}
	return out
}

// entries returns the conversation: events of the pull request and of its branch.
func (s Site) entries(v githubtest.PullView) []page.Entry {
	comments := map[int64]githubtest.Comment{}
	for _, c := range s.w.repo.Comments(v.Number) {
		comments[c.ID] = c
	}
	out := []page.Entry{}
	at := map[int64]int{} // the index of each comment
	for i, e := range s.w.hub.Edits() {
		entry := page.Entry{ID: fmt.Sprintf("edit-%d", i), Who: e.Who, Bot: strings.HasSuffix(e.Who, "[bot]"), At: e.At}
		switch {
		case e.Kind == "push" || e.Kind == "force-push":
			branch, message, _ := strings.Cut(e.Text, ": ")
			if branch != v.From || v.Fork {
				continue
			}
			entry.Event = fmt.Sprintf("pushed “%s”", message)
		case e.Number != v.Number || e.Kind == "check" || e.Kind == "reaction" || e.Kind == "delete":
			continue
		case e.Kind == "comment":
			c, ok := comments[e.Comment]
			if !ok {
				continue // it was deleted
			}
			entry.ID, entry.Body, entry.Reactions = fmt.Sprintf("comment-%d", c.ID), c.Body, reactions(c)
			at[c.ID] = len(out)
		case e.Kind == "edit":
			if n, ok := at[e.Comment]; ok {
				out[n].Edited = true
			}
			continue
		default:
			entry.Event = described[e.Kind]
			if e.Kind == "review" && e.Text == "approved" {
				entry.Event = "approved this"
			}
		}
		out = append(out, entry)
	}
	return out
}

// described has the texts that describe edits, by kind.
var described = map[string]string{
	"pull request": "opened this pull request", "merge": "merged this", "close": "closed this", "reopen": "opened this again",
	"review": "reviewed this", "line": "commented on a line", "ready": "says that this is ready", "retarget": "chose another base branch",
}

func reactions(c githubtest.Comment) []page.Reaction {
	var out []page.Reaction
	for _, r := range c.Reactions {
		content, by, _ := strings.Cut(r, " by ")
		out = append(out, page.Reaction{Content: content, By: by})
	}
	return out
}

// Text implements page.Site.
func (s Site) Text(ctx context.Context, id page.PullID, kind page.TextKind, name string) (string, error) {
	if _, err := s.find(id); err != nil {
		return "", err
	}
	return s.w.machine.Site("").Text(ctx, id, kind, name)
}
