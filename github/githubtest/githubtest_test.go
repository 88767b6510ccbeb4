package githubtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

// tell plays a little story and returns its lines.
func tell() []string {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1\n", "b": "1\n"})
	r.Push("alice", "one", "Change a", Files{"a": "2\n", "c": "new\n"})
	r.Push("bob", "two", "Change b", Files{"b": Deleted})
	one, two := r.OpenPull("alice", "One", "one"), r.OpenPull("bob", "Two", "two")
	id := r.Comment("carol", one, "Well done.\nReally.")
	r.EditComment("carol", id, "Well done!")
	r.Merge("alice", one)
	r.UpdateBranch("bob", two)
	r.Close("bob", two)
	return append(h.Lines(), r.Head("main"), r.Head("two"))
}

// TestStoriesRepeat holds that the same story is told in the same words.
func TestStoriesRepeat(t *testing.T) {
	first := tell()
	if diff := cmp.Diff(first, tell()); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"push by alice: one: Change a",
		"push by bob: two: Change b",
		"pull request #1 by alice: One",
		"pull request #2 by bob: Two",
		"comment #1 on #1 by carol: Well done.",
		"edit #1 on #1 by carol: Well done!",
		"merge #1 by alice",
		"push by bob: two: Merge branch 'main' into two",
		"close #2 by bob",
	}
	if diff := cmp.Diff(want, first[:len(first)-2]); diff != "" {
		t.Error(diff)
	}
}

func TestMerges(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1", "b": "1", "same": "1", "gone": "1"})
	r.Push("alice", "one", "One", Files{"a": "2", "same": "2", "gone": Deleted, "new": "1"})
	r.Push("bob", "two", "Two", Files{"b": "2", "same": "2", "gone": Deleted})
	r.Push("bob", "three", "Three", Files{"a": "3", "gone": "changed"})
	one := r.OpenPull("alice", "One", "one")
	two := r.OpenPull("bob", "Two", "two")
	three := r.OpenPull("bob", "Three", "three")
	r.Merge("alice", one)
	merged := r.Merge("alice", two)
	if diff := cmp.Diff(Files{"a": "2", "b": "2", "same": "2", "new": "1"}, h.commits[merged].files); diff != "" {
		t.Error(diff)
	}
	defer func() {
		if s, _ := recover().(string); !strings.Contains(s, "conflicts in a, gone") {
			t.Errorf("a conflict: %q", s)
		}
	}()
	r.UpdateBranch("bob", three)
}

// TestIdentity holds that the Hub is as strict as GitHub about who asks.
func TestIdentity(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	server := httptest.NewServer(h)
	defer server.Close()
	ask := func(method, path, auth, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", auth)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	now := time.Now()
	sign := func(issuer string, issued, expires time.Time, key any, method jwt.SigningMethod) string {
		t.Helper()
		s, err := jwt.NewWithClaims(method, jwt.RegisteredClaims{Issuer: issuer, IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(expires)}).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + s
	}
	rs := jwt.SigningMethodRS256
	for name, test := range map[string]struct {
		auth string
		want int
	}{
		"good":           {sign("4711", now.Add(-time.Minute), now.Add(9*time.Minute), h.key, rs), 200},
		"none":           {"", 401},
		"another App":    {sign("4712", now.Add(-time.Minute), now.Add(9*time.Minute), h.key, rs), 401},
		"for too long":   {sign("4711", now.Add(-time.Minute), now.Add(11*time.Minute), h.key, rs), 401},
		"over":           {sign("4711", now.Add(-time.Hour), now.Add(-time.Minute), h.key, rs), 401},
		"of the future":  {sign("4711", now.Add(time.Minute), now.Add(9*time.Minute), h.key, rs), 401},
		"another method": {sign("4711", now.Add(-time.Minute), now.Add(9*time.Minute), []byte("x"), jwt.SigningMethodHS256), 401},
	} {
		if got, text := ask("GET", "/app", test.auth, ""); got != test.want {
			t.Errorf("%s: %d %s", name, got, text)
		}
	}
	good := sign("4711", now.Add(-time.Minute), now.Add(9*time.Minute), h.key, rs)
	if got, _ := ask("POST", "/app/installations/1/access_tokens", good, "{}"); got != 404 {
		t.Errorf("no installation: %d", got)
	}
	for _, auth := range []string{"", "token x", good} {
		if got, _ := ask("GET", "/repos/"+r.String()+"/pulls/1", auth, ""); got != 401 {
			t.Errorf("%.10s: %d", auth, got)
		}
	}
}
