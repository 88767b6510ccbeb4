package page

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is a Site in memory: one pull request, by somebody who wants to do harm.
type memory struct {
	mu      sync.Mutex
	pull    Pull
	actions []Action
	bell    Changes
	fault   error
}

const harm = `"><script>alert(1)</script>`

func newMemory() *memory {
	return &memory{pull: Pull{
		PullID: PullID{"acme", "infra", 7}, Title: "Two subnets" + harm, Author: "alice" + harm, Standing: "open",
		From: "subnets" + harm, Into: "main", Head: strings.Repeat("ab", 20), URL: "javascript:alert(1)", Words: "It cannot be read" + harm, Tone: Bad, Report: "**Line 3** is wrong" + harm,
		Projects: []Project{{
			Name: "network", Dir: "network" + harm, Workspace: "default", Standing: "waits for apply", Tone: Waiting,
			Summary: "2 to add", By: "bob" + harm, Report: "**Plan:** 2 to add" + harm, Plan: "network", HasPlan: true, HasSteps: true, State: "# x:" + harm, Log: "14:02:03 INFO aws: " + harm,
		}},
		Checks: []Check{{Name: "lockstep/network", Status: "completed", Conclusion: "success", Title: "2 to add" + harm, Summary: "**fine**" + harm, Text: "more" + harm}},
		Files:  []File{{Path: "network/a.tf" + harm, Diff: "@@ -1 +1 @@\n-old" + harm + "\n+new" + harm + "\n"}},
		Entries: []Entry{
			{ID: "push-1", Who: "alice", At: time.Unix(0, 0), Event: "pushed subnets" + harm},
			{ID: "comment-2", Who: "lockstep[bot]", Bot: true, At: time.Unix(60, 0), Body: "### Plan\n\n```diff\n+ " + harm + "\n```\n", Edited: true},
			{ID: "comment-3", Who: "mallory", At: time.Unix(120, 0), Body: "lockstep apply " + harm, Reactions: []Reaction{{"eyes", "lockstep[bot]"}, {"confused", "lockstep[bot]"}, {"eyes", "bob" + harm}, {harm, "x"}}},
		},
		Speakers: []Speaker{{"alice", "may write"}, {"mallory", "may read"}},
		Offers:   []Offer{{"merge", "Merge" + harm, false}, {"close", "Close", true}},
	}}
}

func (m *memory) Pulls(ctx context.Context) ([]Pull, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return []Pull{m.pull}, m.fault
}

func (m *memory) Pull(ctx context.Context, id PullID) (Pull, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != m.pull.PullID {
		return Pull{}, ErrNotFound
	}
	return m.pull, m.fault
}

func (m *memory) Text(ctx context.Context, id PullID, kind TextKind, project string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != m.pull.PullID || project != "network" {
		return "", ErrNotFound
	}
	if kind == StepOutputs {
		return "lint (before_plan): failed\n\n    - a " + harm + "\n", m.fault
	}
	return "  # a will be created\n  + a " + harm + "\n", m.fault
}

func (m *memory) Changed(ctx context.Context, since uint64) uint64 { return m.bell.Wait(ctx, since) }

// change changes the site.
func (m *memory) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	m.bell.Changed()
}

// talker is a memory that people can act on.
type talker struct{ *memory }

func (t talker) Act(ctx context.Context, d Action) error {
	if t.fault != nil {
		return t.fault
	}
	if d.Name == "merge" {
		return &RefusedError{"It has conflicts" + harm}
	}
	t.change(func() { t.actions = append(t.actions, d) })
	return nil
}

// serve serves a site as at this machine.
func serve(t *testing.T, h Handler) *httptest.Server {
	t.Helper()
	if h.Log == nil {
		h.Log = func(err error) { t.Errorf("logged: %v", err) }
	}
	s := httptest.NewServer(h.Server())
	t.Cleanup(s.Close)
	return s
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask makes a request, and does not follow where it sends us.
func ask(t *testing.T, method, address string, form url.Values, change func(*http.Request)) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, res.Body); err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, b.String()}
}
