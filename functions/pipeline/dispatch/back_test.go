package dispatch_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestTransferredAndBack is the story of a repository that is transferred and back within seconds of the last writes of an apply: GitHub
// has none of it for one request. It holds that each check and comment tells the outcome all the same.
func TestTransferredAndBack(t *testing.T) {
	t.Parallel()
	last := func(method string, parts ...string) func(*http.Request, string) bool {
		return func(r *http.Request, body string) bool {
			if r.Method != method {
				return false
			}
			for _, p := range parts {
				if !strings.Contains(r.URL.Path+body, p) {
					return false
				}
			}
			return true
		}
	}
	for name, away := range map[string]func(*http.Request, string) bool{
		"the check of the project": last(http.MethodPatch, "/check-runs/", `"conclusion":"success"`, "Applied – 2 added"),
		"the check of the head":    last(http.MethodPatch, "/check-runs/", `"conclusion":"success"`, "1 project applied – 2 added"),
		"the comment":              last(http.MethodPatch, "/issues/comments/", "applied by"),
	} {
		for _, looked := range []bool{false, true} {
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			gone, happened := 0, false
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				body := read(r)
				if !happened && away(r, body) {
					happened, gone = true, 1
					if looked {
						gone = 2 // the pull request is asked for next
					}
				}
				if gone == 0 {
					return false
				}
				gone--
				http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
				return true
			}
			s.say("alice", n, "lockstep apply")
			s.settle()
			if !happened {
				t.Errorf("%s: it was not written", name)
			}
			s.expect(name+": the status", s.status(n), "applied by", "applied by `alice`")
			s.expect(name+": the check of the project", s.check("b"), "success Applied – 2 added")
			s.headIs(name, "b", "success 1 project applied – 2 added, 0 changed, 0 destroyed")
		}
	}
}

// read returns the body of a request, which can be read again.
func read(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}
