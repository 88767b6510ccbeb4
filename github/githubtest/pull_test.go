package githubtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// shown asks for a pull request and returns "mergeable" and the parents of the trial merge.
func (a asker) shown(t *testing.T, r *Repository, token string) string {
	t.Helper()
	_, text := a.ask(t, "GET", "/repos/"+r.String()+"/pulls/1", token, "")
	var p struct {
		Mergeable *bool
		Merge     string `json:"merge_commit_sha"`
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	out := "null"
	if p.Mergeable != nil {
		out = fmt.Sprint(*p.Mergeable)
	}
	if c := a.hub.history[p.Merge]; c != nil {
		for _, parent := range c.Parents {
			out += " " + a.hub.history[parent].Message
		}
	}
	return out
}

// TestTrials follows the trial merge of a pull request, through pushes and delays.
func TestTrials(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1", "b": "1"})
	a := newAsker(t, h)
	token := a.installation(t, r, "{}")
	r.Push("alice", "topic", "One", Files{"a": "2"})
	r.OpenPull("alice", "Topic", "topic")
	look := func(want string) {
		t.Helper()
		if got := a.shown(t, r, token); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	look("true First commit One")
	r.Push("bob", "main", "Base", Files{"b": "2"})
	r.LagMerges(2)
	look("null First commit One")
	look("null First commit One")
	look("true Base One")
	r.Push("bob", "main", "Conflict", Files{"a": "3"})
	look("false Base One")
	r.ForcePush("alice", "topic", "Anew", Files{"c": "1"})
	r.LagMerges(-1)
	for range 3 {
		look("null Base One")
	}
	r.LagMerges(0)
	look("true Conflict Anew")
	r.Close("alice", 1)
	look("null Conflict Anew")
}

// TestPulls holds the lists of pull requests and of their files.
func TestPulls(t *testing.T) {
	h := New(Options{})
	r := h.AddRepository("acme", "infra", Files{"a": "1", "b": "1"})
	a := newAsker(t, h)
	token := a.installation(t, r, "{}")
	r.Push("alice", "one", "One", Files{"a": Deleted, "b": "2", "c": "3"})
	r.OpenPull("alice", "First", "one")
	r.Push("alice", "two", "Two", Files{"d": "1"})
	r.OpenDraft("alice", "Second", "two")
	r.Close("alice", 2)
	for path, want := range map[string]string{
		"pulls":                         "First",
		"pulls?state=closed":            "Second",
		"pulls?state=all":               "Second First",
		"pulls?state=all&per_page=1":    "Second",
		"pulls/1/files":                 "a=removed b=modified c=added",
		"pulls/2/files":                 "d=added",
		"pulls/3/files":                 "Not Found",
		"issues/3/comments":             "Not Found",
		"pulls/3":                       "Not Found",
		"git/ref/pull/1/head":           "refs/pull/1/head",
		"git/ref/pull/3/head":           "Not Found",
		"git/ref/heads/two":             "refs/heads/two",
		"git/ref/two":                   "Not Found",
		"collaborators/acme/permission": "admin",
		"collaborators/eve/permission":  "Not Found",
	} {
		_, text := a.ask(t, "GET", "/repos/acme/infra/"+path, token, "")
		var list []struct{ Title, Filename, Status string }
		var got []string
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			var one struct{ Message, Ref, Permission string }
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				t.Fatal(err)
			}
			got = append(got, one.Message+one.Ref+one.Permission)
		}
		for _, x := range list {
			if x.Filename != "" {
				x.Filename += "=" + x.Status
			}
			got = append(got, x.Title+x.Filename)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
