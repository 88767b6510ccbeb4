package demo

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/page"
)

var second = page.PullID{Owner: "acme", Name: "infrastructure", Number: 2}

// Who may do what, and when, is as on GitHub.
func TestActing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ as, do, refused string }{
		{"nobody", page.Comment, "nobody called"},
		{"alice", "destroy", "cannot be done"},
		{"mallory", merge, "may only read"},
		{"mallory", push, "may only read"},
		{"mallory", closing, "may only read"},
		{"mallory", page.Comment, ""},
		{"alice", approve, "cannot approve it"},
		{"bob", approve, ""},
		{"alice", reopen, "is open by now"},
		{"alice", push, ""},
		{"alice", update, ""},
		{"bob", closing, ""},
		{"bob", closing, "is closed by now"},
		{"alice", merge, "is closed by now"},
		{"alice", reopen, ""},
		{"bob", merge, ""},
		{"bob", merge, "is merged by now"},
		{"alice", page.Comment, ""},
	} {
		err := w.Site().Act(t.Context(), page.Action{Pull: second, As: c.as, Name: c.do, Text: "Hello."})
		var refused *page.RefusedError
		if errors.As(err, &refused) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s, %s: %v, want %q", c.as, c.do, err, c.refused)
		}
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	third := page.PullID{Owner: "acme", Name: "other", Number: 2}
	if err := w.Site().Act(t.Context(), page.Action{Pull: third, As: "alice", Name: merge}); !errors.Is(err, page.ErrNotFound) {
		t.Errorf("elsewhere: %v", err)
	}
}

// All prepared changes can be pushed, and do what their buttons say.
func TestPreparedChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"ready to apply", "failed to plan", "ready to apply", "ready to apply"} {
		if err := w.Site().Act(t.Context(), page.Action{Pull: second, As: "alice", Name: push}); err != nil {
			t.Fatal(err)
		}
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		p, err := w.Site().Pull(t.Context(), second)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range p.Projects {
			if x.Name == "network" && x.Standing != want {
				t.Errorf("%s: network %s, want %s", prepared[i].label, x.Standing, want)
			}
		}
	}
	if err := w.Site().Act(t.Context(), page.Action{Pull: second, As: "alice", Name: push}); err == nil {
		t.Error("there is more to push")
	}
}

// What the page is shown when everything has begun.
func TestSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := w.Site()
	pulls, err := s.Pulls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pulls {
		got = append(got, p.Standing+" "+p.Title)
	}
	want := []string{
		"open A cluster of 40 machines", "open Ranges by name", "open No zone any more", "open A larger database", "open All services log as JSON",
		"open Release 2026.11", "open Peering with the office", "open Two subnets, and flow logs", "merged Build what is there",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	p, err := s.Pull(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range p.Entries {
		kinds = append(kinds, e.Who+" "+e.Event)
	}
	if d := cmp.Diff([]string{"alice pushed “Two subnets, and flow logs”", "alice opened this pull request", "lockstep[bot] "}, kinds); d != "" {
		t.Error(d)
	}
	if len(p.Files) != 2 || !strings.Contains(p.Files[0].Diff, "\n+    logs  = true\n") {
		t.Errorf("files %v", p.Files)
	}
	if len(p.Projects) != 1 || !strings.Contains(p.Projects[0].State, `resource "terraform_data" "vpc"`) {
		t.Errorf("projects %v", p.Projects)
	}
	if _, err := s.Pull(t.Context(), page.PullID{Owner: "acme", Name: "infrastructure", Number: 99}); !errors.Is(err, page.ErrNotFound) {
		t.Errorf("#99: %v", err)
	}
	if version := s.Changed(t.Context(), 0); version == 0 {
		t.Error("nothing has changed")
	}
}

// The page opens on an apply under way. Whoever kills its process sees another one go on with it: at most the change of that moment is in doubt.
func TestKilledOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, cluster := w.Site(), page.PullID{Owner: "acme", Name: "infrastructure", Number: 9}
	look := func() page.Pull {
		t.Helper()
		p, err := s.Pull(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	offers := func(p page.Pull) bool {
		return slices.ContainsFunc(p.Offers, func(o page.Offer) bool { return o.Name == kill })
	}
	before := look()
	if before.Projects[0].Tone != page.Busy || !offers(before) {
		t.Fatalf("%+v %+v", before.Projects[0], before.Offers)
	}
	if err := s.Act(t.Context(), page.Action{Pull: cluster, As: "alice", Name: kill}); err != nil {
		t.Fatal(err)
	}
	p := look()
	for p.Projects[0].Tone == page.Busy {
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // until nobody has a claim on the message of the dead process
		p = look()
	}
	if p.Projects[0].Tone != page.Bad || offers(p) {
		t.Errorf("%+v", p.Projects[0])
	}
	if said := p.Entries[len(p.Entries)-1].Body; !strings.Contains(said, "39 added") && !strings.Contains(said, "terraform_data.machine[") {
		t.Error(said)
	}
	if err := s.Act(t.Context(), page.Action{Pull: cluster, As: "alice", Name: kill}); err == nil {
		t.Error("it was killed twice")
	}
}

// The buttons of a check's page do what they do on GitHub: for whom the permission suffices.
func TestButtonsOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := w.Site()
	press := func(as, label string) (standing string) {
		t.Helper()
		p, err := s.Pull(t.Context(), second)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Checks {
			for _, b := range c.Buttons {
				if c.Name != "lockstep/network" || b.Label != label {
					continue
				}
				if err := s.Act(t.Context(), page.Action{Pull: second, As: as, Name: page.Press, Check: c.ID, Button: b.Identifier}); err != nil {
					t.Fatal(err)
				}
				if err := w.Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				if p, err = s.Pull(t.Context(), second); err != nil {
					t.Fatal(err)
				}
				return string(p.Projects[0].Tone)
			}
		}
		t.Fatalf("no button %q", label)
		return ""
	}
	if got := press("mallory", "Apply"); got != string(page.Waiting) {
		t.Errorf("mallory: %s", got)
	}
	if got := press("alice", "Apply"); got != string(page.Good) {
		t.Errorf("alice: %s", got)
	}
	var refused *page.RefusedError
	if err := s.Act(t.Context(), page.Action{Pull: second, As: "alice", Name: page.Press, Check: 1, Button: "apply"}); !errors.As(err, &refused) {
		t.Errorf("a button that is not there: %v", err)
	}
}
