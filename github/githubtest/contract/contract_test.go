package contract

import (
	"net/url"
	"strings"
	"testing"
)

// TestCheck holds that the check finds what is wrong.
func TestCheck(t *testing.T) {
	const comments = "/repos/acme/infra/issues/1/comments"
	for _, test := range []struct {
		method, path, sent string
		status             int
		answer, want       string
	}{
		{"POST", comments, `{"body":"hello"}`, 404, `anything`, ""},
		{"POST", comments, `{"text":"hello"}`, 404, ``, `"body"`},
		{"POST", comments, ``, 404, ``, "no body"},
		{"POST", comments, `{"body":"hello"}`, 201, `{"id":1}`, `"user"`},
		{"POST", comments, `{"body":"hello"}`, 200, `{}`, "not one that GitHub gives"},
		{"PUT", comments, ``, 200, ``, "no such operation"},
		{"GET", "/repos/acme/infra/issues/1/2/comments", ``, 200, ``, "no such operation"},
		{"GET", comments, `{}`, 200, `[]`, "has a body"},
		{"GET", comments, ``, 200, `[]`, ""},
		{"GET", comments, ``, 200, `[{}]`, `"html_url"`},
		{"GET", comments, ``, 200, `[`, "no JSON"},
		{"DELETE", "/repos/acme/infra/issues/comments/7", ``, 204, ``, ""},
		{"DELETE", "/repos/acme/infra/issues/comments/7", ``, 204, `{}`, "has a body"},
		{"GET", comments + "?per_page=100&page=2", ``, 200, `[]`, ""},
		{"GET", comments + "?per_page=many", ``, 200, `[]`, "per_page"},
		{"GET", comments + "?size=100", ``, 200, `[]`, "there is no size"},
		{"GET", "/repos/acme/infra/commits/main/check-runs?filter=some", ``, 404, ``, "filter"},
		{"GET", "/repos/acme/infra/git/ref/pull/7/merge", ``, 404, ``, ""},
		{"GET", "/repos/acme/infra/contents/a/b/c.tf?ref=main", ``, 404, ``, ""},
		{"POST", "/repos/acme/infra/check-runs", `{"name":"x","head_sha":"1","status":"over"}`, 422, ``, "allowed values"},
		{"POST", "/repos/acme/infra/issues/comments/7/reactions", `{"content":"party"}`, 404, ``, "allowed values"},
	} {
		at, err := url.Parse(test.path)
		if err != nil {
			t.Fatal(err)
		}
		err = check(test.method, at, []byte(test.sent), test.status, []byte(test.answer))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s %s: %v", test.method, test.path, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s %s %s: %v, want %q", test.method, test.path, test.answer, err, test.want)
		}
	}
}
