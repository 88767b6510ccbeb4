package intake

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
)

// TestAffected holds that what requirements are about has comments and checks made again, of the pull requests with a watch
// alone, and that our own checks, which follow from that, do not.
func TestAffected(t *testing.T) {
	repo := github.Repo{ID: 5, Owner: "acme", Name: "infra"}
	serves, err := ParseServes("acme/infra")
	if err != nil {
		t.Fatal(err)
	}
	store := new(memory.Store)
	in := Intake{Records: store, Serves: serves}
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for _, w := range []pipeline.Watch{
		{Pull: pipeline.Pull{Repo: repo, Number: 7}, Head: a, Reports: []string{"build", "ci/"}},
		{Pull: pipeline.Pull{Repo: repo, Number: 8}, Head: a, Reports: []string{""}},
		{Pull: pipeline.Pull{Repo: repo, Number: 9}, Head: b},
		{Pull: pipeline.Pull{Repo: github.Repo{ID: 6}, Number: 9}, Head: b, Reports: []string{""}},
	} {
		if _, err := store.Put(t.Context(), w.Key(), pipeline.Encode(w), ""); err != nil {
			t.Fatal(err)
		}
	}
	of := func(number int, r github.Repo) github.Subject {
		return github.Subject{Installation: 3, Repo: r, Number: number, Sender: "bob"}
	}
	pull := func(action string, number int, head string) github.Event {
		return github.PullRequestEvent{Subject: of(number, repo), Action: action, Head: head}
	}
	report := func(name, sha string) github.Event {
		return github.ReportEvent{Installation: 3, Repo: repo, SHA: sha, Name: name}
	}
	stranger := github.Repo{ID: 6, Owner: "mallory", Name: "infra"}
	var effective []string
	for _, test := range []struct {
		name  string
		event github.Event
		want  []int
	}{
		{"pull_request", pull("labeled", 9, b), []int{9}},
		{"pull_request", pull("unlabeled", 9, b), []int{9}},
		{"pull_request", pull("ready_for_review", 9, b), []int{9}},
		{"pull_request", pull("converted_to_draft", 9, b), []int{9}},
		{"pull_request", pull("assigned", 9, b), nil},
		{"pull_request", pull("labeled", 9, a), nil},
		{"pull_request", pull("labeled", 6, b), nil},
		{"pull_request", github.PullRequestEvent{Subject: of(9, stranger), Action: "labeled", Head: b}, nil},
		{"pull_request_review_thread", github.ThreadEvent{Subject: of(7, repo), Action: "resolved", Head: a}, []int{7}},
		{"status", report("build", a), []int{7, 8}},
		{"status", report("docs", a), []int{8}},
		{"status", report("ci/unit", a), []int{7, 8}},
		{"status", report("build", b), nil},
		{"status", report("lockstep", a), nil},
		{"status", report("lockstep/net", a), nil},
		{"status", report("lockstep (other)/net@x", a), nil},
		{"status", report("lockstepping", a), []int{8}},
		{"status", github.ReportEvent{Installation: 3, Repo: stranger, SHA: b, Name: "ci"}, nil},
		{"push", github.OtherEvent{Name: "push"}, nil},
	} {
		got, err := in.affected(t.Context(), github.Delivery{Digest: strings.Repeat("d", 64), Event: test.event})
		if err != nil {
			t.Fatal(err)
		}
		var numbers []int
		var names []string
		for _, m := range got {
			numbers, names = append(numbers, m.Pull.Number), append(names, m.ID)
			if m.Kind != pipeline.Told || m.At.IsZero() || m.Pull.Installation != 3 || m.Pull.Repo != repo {
				t.Errorf("%s %+v: %+v", test.name, test.event, m)
			}
		}
		if diff := cmp.Diff(test.want, numbers); diff != "" || len(slices.Compact(names)) != len(got) {
			t.Errorf("%s %+v: %s %s", test.name, test.event, diff, names)
		}
		if len(got) > 0 {
			effective = append(effective, test.name)
		}
	}
	for _, name := range effective {
		if !CanBecomeMessage(name) {
			t.Errorf("a lost %s is not delivered again", name)
		}
	}
	if _, err := store.Put(t.Context(), fmt.Sprintf("%s/10", pipeline.WatchDir(5, a)), []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := in.affected(t.Context(), github.Delivery{Digest: strings.Repeat("d", 64), Event: report("ci", a)}); err == nil {
		t.Error("a damaged record was read")
	}
}

// TestCommentsOnIssues holds that only comments with commands on issues of Lockstep's own record become messages.
func TestCommentsOnIssues(t *testing.T) {
	t.Parallel()
	repo := github.Repo{ID: 5, Owner: "acme", Name: "infra"}
	serves, err := ParseServes("acme/infra")
	if err != nil {
		t.Fatal(err)
	}
	store := new(memory.Store)
	in := Intake{Records: store, Queue: store, Serves: serves}
	if _, err := store.Put(t.Context(), pipeline.IssueKey(pipeline.Pull{Repo: repo, Number: 12}), []byte(`{"Target":"net@default"}`), ""); err != nil {
		t.Fatal(err)
	}
	for i, x := range []struct {
		repo   github.Repo
		number int
		body   string
		bot    bool
		want   string
	}{
		{repo, 12, "lockstep drift accept", false, Accepted},
		{repo, 12, "lockstep drift acept", false, Accepted}, // it is answered
		{repo, 12, "looks bad", false, "nothing to do"},
		{repo, 12, "<!-- lockstep:status -->\nlockstep apply", true, "nothing to do"},
		{repo, 13, "lockstep drift accept", false, "nothing to do"},
		{github.Repo{ID: 6, Owner: "mallory", Name: "infra"}, 12, "lockstep drift accept", false, "nothing to do"},
	} {
		e := github.CommentEvent{Subject: github.Subject{Installation: 3, Repo: x.repo, Number: x.number, Sender: "bob"}, Comment: 7, Body: x.body, Bot: x.bot, Issue: true}
		got, err := in.Receive(t.Context(), github.Delivery{ID: fmt.Sprint(i), Digest: fmt.Sprintf("%064d", i), Event: e})
		if err != nil || got != x.want {
			t.Errorf("%q on #%d of %s: %q, %v", x.body, x.number, x.repo, got, err)
		}
	}
}
