package githubtest

import (
	"strings"
	"testing"
)

// TestProposals is a table of requests that make a branch, a file on it, and a pull request, one after the other, with GitHub's
// answers.
func TestProposals(t *testing.T) {
	h := New(Options{})
	h.Accepts("contents", "write")
	r := h.AddRepository("acme", "infra", Files{"a": "1", "d/b": "2"})
	main := r.Head("main")
	a := newAsker(t, h)
	token := a.installation(t, r, "{}")
	file := func(sha string) string {
		return `{"message":"m","content":"eA==","branch":"new"` + sha + `}`
	}
	pull := `{"title":"T","body":"B","head":"new","base":"main"}`
	for _, test := range []struct {
		method, path, body string
		status             int
		words              string
	}{
		{"PUT", "contents/x", file(""), 404, "Branch new not found"},
		{"POST", "git/refs", `{"ref":"refs/heads/new","sha":"` + strings.Repeat("0", 40) + `"}`, 422, "Object does not exist"},
		{"POST", "git/refs", `{"ref":"refs/heads/..","sha":"` + main + `"}`, 422, "invalid"},
		{"POST", "git/refs", `{"ref":"refs/heads/new","sha":"` + main + `"}`, 201, "refs/heads/new"},
		{"POST", "git/refs", `{"ref":"refs/heads/new","sha":"` + main + `"}`, 422, "Reference already exists"},
		{"POST", "pulls", pull, 422, "No commits between main and new"},
		{"PUT", "contents/d/x", file(""), 201, `"path":"d/x"`},
		{"PUT", "contents/d/x", file(""), 422, "wasn't supplied"},
		{"PUT", "contents/d/x", file(`,"sha":"` + strings.Repeat("0", 40) + `"`), 409, "does not match"},
		{"PUT", "contents/d/x", file(`,"sha":"11f6ad8ec52a2984abaafd7c3b516503785c2072"`), 200, `"path":"d/x"`},
		{"PUT", "contents/a/x", file(""), 422, "malformed"},
		{"POST", "pulls", `{"title":"","head":"new","base":"main"}`, 422, "Validation Failed"},
		{"POST", "pulls", pull, 201, `"number":1`},
		{"POST", "pulls", pull, 422, "A pull request already exists for acme:new."},
	} {
		if status, text := a.ask(t, test.method, "/repos/acme/infra/"+test.path, token, test.body); status != test.status || !strings.Contains(text, test.words) {
			t.Errorf("%s %s %s: %d %.200s, want %d %s", test.method, test.path, test.body, status, text, test.status, test.words)
		}
	}
	if p := r.Pulls()[0]; p.Author != "lockstep[bot]" || p.Body != "B" || r.Files("new")["d/x"] != "x" {
		t.Errorf("%+v, %v", p, r.Files("new"))
	}
	h.Withdraw("contents")
	for _, request := range []string{"PUT contents/x", "POST git/refs"} {
		method, path, _ := strings.Cut(request, " ")
		if status, _ := a.ask(t, method, "/repos/acme/infra/"+path, a.installation(t, r, "{}"), "{}"); status != 403 {
			t.Errorf("%s without the permission: %d", request, status)
		}
	}
}
