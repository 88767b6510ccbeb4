package page

import (
	"bufio"
	"context"
	"net/http"
	"testing"
)

// A browser is told of what has changed since it was last told, and of every change
// from then on, until the request ends.
func TestEvents(t *testing.T) {
	t.Parallel()
	m := newMemory()
	s := serve(t, Handler{Site: m})
	m.change(func() {})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/events?since=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %s", got)
	}
	lines := bufio.NewScanner(res.Body)
	next := func() (event string) {
		for lines.Scan() && lines.Text() != "" {
			event += lines.Text() + "\n"
		}
		return event
	}
	if got := next(); got != "id: 2\ndata: 2\n" {
		t.Errorf("first %q", got)
	}
	m.change(func() {})
	if got := next(); got != "id: 3\ndata: 3\n" {
		t.Errorf("second %q", got)
	}
	cancel()
	if got := next(); got != "" {
		t.Errorf("after the end %q", got)
	}
}

// A browser that was away says what it has seen last.
func TestEventsGoOn(t *testing.T) {
	t.Parallel()
	m := newMemory()
	s := serve(t, Handler{Site: m})
	m.change(func() {})
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/events?since=2", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", "1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || line != "id: 2\n" {
		t.Errorf("%q %v", line, err)
	}
}
