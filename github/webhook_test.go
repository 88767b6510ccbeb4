package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const pullPayload = `{"action":"opened","number":7,
	"pull_request":{"number":7,"merged":false,"head":{"sha":"1111111111111111111111111111111111111111"},"base":{"sha":"2222222222222222222222222222222222222222"}},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},
	"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

const commentPayload = `{"action":"created","issue":{"number":7,"pull_request":{"url":"x"}},
	"comment":{"id":33,"created_at":"2026-03-02T09:00:00Z","body":"lockstep plan","user":{"login":"alice"}},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},
	"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

const reviewPayload = `{"action":"submitted","review":{"state":"approved","commit_id":"1111111111111111111111111111111111111111","user":{"login":"alice"}},
	"pull_request":{"number":7},"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},
	"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

const linePayload = `{"action":"created","pull_request":{"number":7},
	"comment":{"id":33,"created_at":"2026-03-02T09:00:00Z","body":"lockstep plan","user":{"login":"alice"}},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},
	"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

const threadPayload = `{"action":"resolved","pull_request":{"number":7,"head":{"sha":"1111111111111111111111111111111111111111"}},"thread":{"comments":[]},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

const statusPayload = `{"sha":"1111111111111111111111111111111111111111","context":"ci/build","state":"success","commit":{},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

const rerunPayload = `{"action":"rerequested","check_run":{"name":"lockstep/a","external_id":"7/a","head_sha":"1111111111111111111111111111111111111111",
	"pull_requests":[{"number":7},{"number":8}],"app":{"created_at":"2018-04-25 20:42:10"}},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},"sender":{"login":"alice"},"installation":{"id":9}}`

const groupPayload = `{"action":"checks_requested","merge_group":{"head_sha":"1111111111111111111111111111111111111111",
	"head_ref":"refs/heads/gh-readonly-queue/main/pr-7-2222222222222222222222222222222222222222","base_ref":"refs/heads/main","base_sha":"2222222222222222222222222222222222222222"},
	"repository":{"id":5,"name":"infra","owner":{"login":"acme"}},"sender":{"login":"alice","type":"User"},"installation":{"id":9}}`

var buttonPayload = strings.Replace(rerunPayload, `"action":"rerequested"`, `"action":"requested_action","requested_action":{"identifier":"plan"}`, 1)

func signed(event, body string, s Secret) http.Header {
	h := http.Header{}
	h.Set(EventHeader, event)
	h.Set(DeliveryHeader, "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	h.Set(SignatureHeader, Sign(s, []byte(body)))
	return h
}

// TestTheDocumentedSignature is the example in GitHub's documentation on validating
// webhook deliveries.
func TestTheDocumentedSignature(t *testing.T) {
	got := Sign(NewSecret("It's a Secret to Everybody"), []byte("Hello, World!"))
	if want := "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReadDelivery(t *testing.T) {
	at := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	about := Subject{Installation: 9, Repo: Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 7, Sender: "alice"}
	without := func(s, part string) string {
		if !strings.Contains(s, part) {
			t.Fatalf("the payload has no %s", part)
		}
		return strings.Replace(s, part, "", 1)
	}
	tests := []struct {
		name, event, body string
		want              Event
		fails             string
	}{
		{"pull request", "pull_request", pullPayload,
			PullRequestEvent{about, "opened", "", strings.Repeat("1", 40), strings.Repeat("2", 40), false, false, time.Time{}}, ""},
		{"comment", "issue_comment", commentPayload, CommentEvent{about, 33, 0, "lockstep plan", at, false, false}, ""},
		{"comment of a bot", "issue_comment", strings.Replace(commentPayload, `"type":"User"`, `"type":"Bot"`, 1), CommentEvent{about, 33, 0, "lockstep plan", at, true, false}, ""},
		{"edited comment", "issue_comment", strings.Replace(commentPayload, `"action":"created"`, `"action":"edited","changes":{"body":{"from":"lockstep apply"}}`, 1), CommentGoneEvent{about, "lockstep apply"}, ""},
		{"comment on an issue", "issue_comment", without(commentPayload, `,"pull_request":{"url":"x"}`), CommentEvent{about, 33, 0, "lockstep plan", at, false, true}, ""},
		{"edited comment on an issue", "issue_comment", strings.Replace(without(commentPayload, `,"pull_request":{"url":"x"}`), "created", "edited", 1), OtherEvent{"issue_comment", "edited"}, ""},
		{"another base", "pull_request", strings.Replace(pullPayload, `"action":"opened"`, `"action":"edited","changes":{"base":{"ref":{"from":"x"}}}`, 1),
			PullRequestEvent{about, "edited", "", strings.Repeat("1", 40), strings.Repeat("2", 40), false, true, time.Time{}}, ""},
		{"another title", "pull_request", strings.Replace(pullPayload, `"action":"opened"`, `"action":"edited","changes":{"title":{"from":"x"}}`, 1),
			PullRequestEvent{about, "edited", "", strings.Repeat("1", 40), strings.Repeat("2", 40), false, false, time.Time{}}, ""},
		{"deleted comment", "issue_comment", strings.Replace(commentPayload, "created", "deleted", 1), CommentGoneEvent{about, "lockstep plan"}, ""},
		{"review", "pull_request_review", reviewPayload,
			ReviewEvent{about, 0, "submitted", Review{Author: "alice", State: Approved, SHA: strings.Repeat("1", 40)}, "", false}, ""},
		{"review with a text", "pull_request_review", strings.Replace(reviewPayload, `"state"`, `"body":"lockstep plan","state"`, 1),
			ReviewEvent{about, 0, "submitted", Review{Author: "alice", State: Approved, SHA: strings.Repeat("1", 40)}, "lockstep plan", false}, ""},
		{"somebody else's review", "pull_request_review", strings.Replace(reviewPayload, `"user":{"login":"alice"}`, `"body":"lockstep plan","user":{"login":"bob"}`, 1), nil, "not its author"},
		{"dismissed review", "pull_request_review", strings.Replace(strings.Replace(reviewPayload, `"state"`, `"body":"lockstep plan","state"`, 1), "submitted", "dismissed", 1),
			ReviewEvent{about, 0, "dismissed", Review{Author: "alice", State: Approved, SHA: strings.Repeat("1", 40)}, "", false}, ""},
		{"comment on a line", "pull_request_review_comment", linePayload, CommentEvent{about, 0, 33, "lockstep plan", at, false, false}, ""},
		{"edited comment on a line", "pull_request_review_comment", strings.Replace(linePayload, "created", "edited", 1), OtherEvent{"pull_request_review_comment", "edited"}, ""},
		{"somebody else's comment on a line", "pull_request_review_comment", strings.Replace(linePayload, `"user":{"login":"alice"}`, `"user":{"login":"bob"}`, 1), nil, "not its author"},
		{"comment on a line as one on an issue", "issue_comment", linePayload, nil, "is not that of"},
		{"edited review", "pull_request_review", strings.Replace(reviewPayload, "submitted", "edited", 1), OtherEvent{"pull_request_review", "edited"}, ""},
		{"review of nothing", "pull_request_review", without(reviewPayload, `"number":7`), nil, "names no pull request"},
		{"merge group", "merge_group", groupPayload, GroupEvent{about, strings.Repeat("1", 40), false}, ""},
		{"end of a merge group", "merge_group", strings.Replace(groupPayload, "checks_requested", `destroyed","reason":"dequeued`, 1), GroupEvent{about, strings.Repeat("1", 40), true}, ""},
		{"merge of a merge group", "merge_group", strings.Replace(groupPayload, "checks_requested", `destroyed","reason":"merged`, 1), OtherEvent{"merge_group", "destroyed"}, ""},
		{"merge group of another branch", "merge_group", strings.Replace(groupPayload, "gh-readonly-queue/main/pr-7", "main/pr-7", 1), nil, "names no pull request"},
		{"merge group without a commit", "merge_group", strings.Replace(groupPayload, strings.Repeat("1", 40), "HEAD", 1), nil, "not the full name of a commit"},
		{"merge group as a review", "pull_request_review", groupPayload, nil, "is not that of"},
		{"rerun", "check_run", rerunPayload,
			RerunEvent{9, about.Repo, "alice", strings.Repeat("1", 40), "lockstep/a", "7/a", []int{7, 8}}, ""},
		{"button", "check_run", buttonPayload,
			ButtonEvent{9, about.Repo, "alice", strings.Repeat("1", 40), "lockstep/a", "7/a", "plan", []int{7, 8}}, ""},
		{"button without a name", "check_run", strings.Replace(buttonPayload, `"identifier":"plan"`, `"identifier":""`, 1), nil, "names no button"},
		{"button without sender", "check_run", without(buttonPayload, `"login":"alice"`), nil, "names no sender"},
		{"button of a suite", "check_suite", strings.Replace(buttonPayload, "check_run", "check_suite", 1), OtherEvent{"check_suite", "requested_action"}, ""},
		{"rerun of all", "check_suite", strings.Replace(rerunPayload, "check_run", "check_suite", 1),
			RerunEvent{9, about.Repo, "alice", strings.Repeat("1", 40), "lockstep/a", "7/a", []int{7, 8}}, ""},
		{"completed check run", "check_run", strings.Replace(rerunPayload, "rerequested", "completed", 1), ReportEvent{9, about.Repo, strings.Repeat("1", 40), "lockstep/a"}, ""},
		{"new check run", "check_run", strings.Replace(rerunPayload, "rerequested", "created", 1), OtherEvent{"check_run", "created"}, ""},
		{"completed check suite", "check_suite", strings.Replace(strings.Replace(rerunPayload, "check_run", "check_suite", 1), "rerequested", "completed", 1), OtherEvent{"check_suite", "completed"}, ""},
		{"commit status", "status", statusPayload, ReportEvent{9, about.Repo, strings.Repeat("1", 40), "ci/build"}, ""},
		{"commit status of a path", "status", strings.Replace(statusPayload, strings.Repeat("1", 40), "../x", 1), nil, "not the full name of a commit"},
		{"commit status without installation", "status", without(statusPayload, `,"installation":{"id":9}`), nil, "names no installation"},
		{"conversation", "pull_request_review_thread", threadPayload, ThreadEvent{about, "resolved", strings.Repeat("1", 40)}, ""},
		{"conversation about nothing", "pull_request_review_thread", without(threadPayload, `"number":7,`), nil, "names no pull request"},
		{"conversation as a review", "pull_request_review", threadPayload, nil, "is not that of"},
		{"rerun without sender", "check_run", without(rerunPayload, `"login":"alice"`), nil, "names no sender"},
		{"rerun without installation", "check_run", without(rerunPayload, `,"installation":{"id":9}`), nil, "names no installation"},
		{"rerun of a path", "check_run", strings.Replace(rerunPayload, "1111111111111111111111111111111111111111", "../x", 1), nil, "not the full name of a commit"},
		{"installed", "installation", `{"action":"created","installation":{"id":9,"account":{"login":"acme"}},"repositories":[{"id":5,"name":"infra","full_name":"acme/infra"}]}`,
			InstallationEvent{9, "acme", "created", []Repo{about.Repo}, nil}, ""},
		{"uninstalled", "installation", `{"action":"deleted","installation":{"id":9,"account":{"login":"acme"}},"repositories":[{"id":5,"name":"infra","full_name":"acme/infra"}]}`,
			InstallationEvent{9, "acme", "deleted", nil, []Repo{about.Repo}}, ""},
		{"repositories", "installation_repositories", `{"action":"removed","installation":{"id":9,"account":{"login":"acme"}},"repositories_removed":[{"id":5,"name":"infra","full_name":"acme/infra"}]}`,
			InstallationEvent{9, "acme", "removed", nil, []Repo{about.Repo}}, ""},
		{"a repository that is a path", "installation", `{"action":"created","installation":{"id":9},"repositories":[{"id":5,"name":"..","full_name":"acme/.."}]}`, nil, "is not the name of a repository"},
		{"ping", "ping", `{"zen":"."}`, OtherEvent{Name: "ping"}, ""},
		{"event of the future", "teleport", `[]`, OtherEvent{Name: "teleport"}, ""},
		{"no JSON", "pull_request", `{`, nil, "not readable"},
		{"no installation", "pull_request", without(pullPayload, `,"installation":{"id":9}`), nil, "names no installation"},
		{"no number", "pull_request", without(pullPayload, `"number":7,`), nil, "names no pull request"},
		{"no sender", "pull_request", without(pullPayload, `"login":"alice",`), nil, "names no sender"},
		{"no ID", "pull_request", without(pullPayload, `"id":5,`), nil, "has no ID"},
		{"a name that is a path", "pull_request", strings.Replace(pullPayload, `"infra"`, `"../x"`, 1), nil, "is not the name of a repository"},
		{"a name of dots", "pull_request", strings.Replace(pullPayload, `"infra"`, `".."`, 1), nil, "is not the name of a repository"},
		{"somebody else's comment", "issue_comment", strings.Replace(commentPayload, `"user":{"login":"alice"}`, `"user":{"login":"bob"}`, 1), nil, "not its author"},
		{"no event", "", pullPayload, nil, "X-GitHub-Event"},
	}
	s := NewSecret("hush")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := ReadDelivery(signed(test.event, test.body, s), []byte(test.body), s)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) || errors.Is(err, ErrSignature) {
					t.Fatalf("error: %v, want %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, d.Event); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForgedDeliveries(t *testing.T) {
	old, now, other := NewSecret("old"), NewSecret("now"), NewSecret("other")
	true_ := signed("pull_request", pullPayload, now)
	with := func(name, value string) http.Header {
		h := true_.Clone()
		h.Set(name, value)
		return h
	}
	tests := []struct {
		name    string
		header  http.Header
		body    string
		secrets []Secret
		ok      bool
	}{
		{"true", true_, pullPayload, []Secret{now}, true},
		{"while the secret is changed", true_, pullPayload, []Secret{old, now}, true},
		{"the first of two", signed("pull_request", pullPayload, old), pullPayload, []Secret{old, now}, true},
		{"another secret", signed("pull_request", pullPayload, other), pullPayload, []Secret{old, now}, false},
		{"another body", true_, strings.Replace(pullPayload, "7", "8", 1), []Secret{now}, false},
		{"one space more", true_, pullPayload + " ", []Secret{now}, false},
		{"no signature", with(SignatureHeader, ""), pullPayload, []Secret{now}, false},
		{"SHA-1", with(SignatureHeader, "sha1=757107ea0eb2509fc211221cce984b8a37570b6d"), pullPayload, []Secret{now}, false},
		{"half a signature", with(SignatureHeader, true_.Get(SignatureHeader)[:39]), pullPayload, []Secret{now}, false},
		{"no hexadecimal", with(SignatureHeader, "sha256=xyz"), pullPayload, []Secret{now}, false},
		{"we have no secret", true_, pullPayload, nil, false},
		{"our secret is empty", signed("pull_request", pullPayload, Secret{}), pullPayload, []Secret{{}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadDelivery(test.header, []byte(test.body), test.secrets...)
			if test.ok != (err == nil) || !test.ok && !errors.Is(err, ErrSignature) {
				t.Errorf("error: %v", err)
			}
		})
	}
	for _, id := range []string{"", "../../x", strings.Repeat("a", 65)} {
		if _, err := ReadDelivery(with(DeliveryHeader, id), []byte(pullPayload), now); err == nil {
			t.Errorf("delivery ID %q was taken", id)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestOversizedPayload(t *testing.T) {
	if _, err := ReadPayload(endless{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error: %v", err)
	}
	if b, err := ReadPayload(strings.NewReader("{}")); err != nil || string(b) != "{}" {
		t.Errorf("%q, %v", b, err)
	}
}

// FuzzDecode holds that no payload, even a signed one, makes decoding panic, nor an
// event that lacks what acting on it needs.
func FuzzDecode(f *testing.F) {
	f.Add("pull_request", pullPayload)
	f.Add("issue_comment", commentPayload)
	f.Add("issue_comment", `{"action":"created"}`)
	f.Add("pull_request_review", reviewPayload)
	f.Add("pull_request_review_comment", linePayload)
	f.Add("pull_request_review_thread", threadPayload)
	f.Add("status", statusPayload)
	f.Add("check_run", rerunPayload)
	f.Add("check_run", buttonPayload)
	f.Add("check_suite", `{"action":"rerequested"}`)
	f.Add("installation_repositories", `{"installation":{"id":1},"repositories_added":[null]}`)
	f.Add("ping", "{}")
	f.Fuzz(func(t *testing.T, name, body string) {
		e, err := decode(name, []byte(body))
		if err != nil {
			return
		}
		var s Subject
		switch e := e.(type) {
		case PullRequestEvent:
			s = e.Subject
		case CommentEvent:
			s = e.Subject
		case ReviewEvent:
			s = e.Subject
		case ThreadEvent:
			s = e.Subject
			if checkSHA(e.Head) != nil {
				t.Errorf("%+v", e)
			}
		case ReportEvent:
			s = Subject{e.Installation, e.Repo, 1, "x"}
			if checkSHA(e.SHA) != nil {
				t.Errorf("%+v", e)
			}
		case RerunEvent:
			s = Subject{e.Installation, e.Repo, 1, e.Sender}
			if checkSHA(e.SHA) != nil {
				t.Errorf("%+v", e)
			}
		case ButtonEvent:
			s = Subject{e.Installation, e.Repo, 1, e.Sender}
			if checkSHA(e.SHA) != nil {
				t.Errorf("%+v", e)
			}
		default:
			return
		}
		if s.Installation <= 0 || s.Number <= 0 || s.Sender == "" || s.Repo.check() != nil {
			t.Errorf("%+v", e)
		}
	})
}
