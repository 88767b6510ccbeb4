package githubtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestComments holds the limits and rights of comments in the API.
func TestComments(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1"})
	a := newAsker(t, h)
	token := a.installation(t, r, "{}")
	r.Push("alice", "topic", "One", Files{"a": "2"})
	n := r.OpenPull("alice", "Topic", "topic")
	theirs := r.Comment("bob", n, "Hello")
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "1/comments", `{"body":"ours"}`, 201}, // 2
		{"POST", "1/comments", `{"body":""}`, 422},
		{"POST", "1/comments", `{}`, 422},
		{"POST", "2/comments", `{"body":"x"}`, 404},
		{"POST", "1/comments", `{"body":"` + strings.Repeat("ü", 65537) + `"}`, 422},
		{"POST", "1/comments", `{"body":"` + strings.Repeat("ü", 65536) + `"}`, 201}, // 3
		{"PATCH", "comments/2", `{"body":"edited"}`, 200},
		{"PATCH", "comments/1", `{"body":"edited"}`, 403},
		{"PATCH", "comments/9", `{"body":"edited"}`, 404},
		{"DELETE", "comments/3", "", 204},
		{"DELETE", "comments/3", "", 404},
		{"POST", "comments/1/reactions", `{"content":"eyes"}`, 201},
		{"POST", "comments/1/reactions", `{"content":"eyes"}`, 200},
		{"POST", "comments/1/reactions", `{"content":"wink"}`, 422},
		{"POST", "comments/9/reactions", `{"content":"eyes"}`, 404},
	} {
		if got, text := a.ask(t, test.method, "/repos/acme/infra/issues/"+test.path, token, test.body); got != test.want {
			t.Errorf("%s %s %.20s: %d %.200s, want %d", test.method, test.path, test.body, got, text, test.want)
		}
	}
	var got []string
	for _, c := range r.Comments(n) {
		got = append(got, strings.Join(append([]string{c.Author, c.Body}, c.Reactions...), ", "))
	}
	if diff := cmp.Diff([]string{"bob, Hello, eyes by lockstep[bot]", "lockstep[bot], edited"}, got); diff != "" {
		t.Error(diff)
	}
	since := h.Now().Format("2006-01-02T15:04:05Z07:00")
	r.EditComment("bob", theirs, "Hello again")
	if _, text := a.ask(t, "GET", "/repos/acme/infra/issues/comments?since="+since, token, ""); strings.Count(text, `"body"`) != 1 || !strings.Contains(text, "Hello again") {
		t.Errorf("since %s: %s", since, text)
	}
	if id := r.Comment("bob", n, "More"); id != 4 {
		t.Errorf("a comment has the ID %d: it was there before, or is not the next", id)
	}
}
