package githubtest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/contract"
)

// TestWebhooks lets everything happen that causes webhooks. They are what GitHub's look
// like, and read as what happened.
func TestWebhooks(t *testing.T) {
	secret := github.NewSecret("hush")
	var got []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := github.ReadPayload(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := contract.CheckWebhook(r.Header.Get(github.EventHeader), body); err != nil {
			t.Error(err)
		}
		d, err := github.ReadDelivery(r.Header, body, secret)
		if err != nil {
			t.Error(err)
		}
		got = append(got, told(d.Event))
	}))
	defer hook.Close()
	h := githubtest.New(githubtest.Options{Secret: secret, Webhook: hook.URL})
	r := h.AddRepository("acme", "infra", githubtest.Files{"a": "1\n"})
	r.Push("alice", "release", "Release", githubtest.Files{"r": "1\n"})
	r.Push("alice", "topic", "Topic", githubtest.Files{"a": "2\n"})
	n := r.OpenDraft("alice", "Topic", "topic")
	r.Ready("alice", n)
	r.Push("alice", "topic", "More", githubtest.Files{"b": "1\n"})
	r.ForcePush("alice", "topic", "All anew", githubtest.Files{"b": "2\n"})
	r.Retarget("alice", n, "release")
	id := r.Comment("bob", n, "lockstep plan")
	r.EditComment("bob", id, "never mind")
	r.Review("bob", n, github.ChangesRequested, "No.")
	r.Review("carol", n, github.Commented, "Hm.")
	r.CommentOn("carol", n, "a", "lockstep plan")
	r.Dismiss("alice", n, "bob")
	check := r.AddCheck("lockstep", github.Check{
		Name: "plan", SHA: r.Head("topic"), ExternalID: "1/plan", Status: github.CheckCompleted, Conclusion: github.ConcludedSuccess,
		Title: "Planned", Summary: "Yes.",
	})
	r.Rerequest("bob", check)
	r.Press("bob", check, "plan")
	r.RerequestAll("bob", r.Head("topic"))
	r.Close("alice", n)
	r.Reopen("alice", n)
	fork := r.Fork("mallory")
	fork.Push("mallory", "evil", "Evil", githubtest.Files{"a": "evil\n"})
	f := r.OpenPullFrom(fork, "mallory", "Evil", "evil")
	r.Close("alice", f)
	r.Merge("bob", n)
	r.Uninstall("acme")
	if _, err := h.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"#1 opened by alice", "#1 ready_for_review by alice", "#1 synchronize by alice", "#1 synchronize by alice",
		"#1 edited by alice, another base", "#1 comment 1 by bob: lockstep plan", "github.CommentGoneEvent",
		"#1 submitted by bob: changes_requested", "#1 submitted by carol: commented", "#1 comment 0 by carol: lockstep plan", "#1 dismissed by alice: dismissed", "github.ReportEvent",
		"rerun plan 1/plan of [1] by bob", "button plan of plan 1/plan of [1] by bob", "rerun   of [1] by bob", "#1 closed by alice", "#1 reopened by alice",
		"#2 opened by mallory", "#2 closed by alice", "#1 closed by bob, merged", "acme: removed [acme/infra]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// told returns an event as a line.
func told(e github.Event) string {
	switch e := e.(type) {
	case github.PullRequestEvent:
		line := fmt.Sprintf("#%d %s by %s", e.Number, e.Action, e.Sender)
		if e.BaseChanged {
			line += ", another base"
		}
		if e.Merged {
			line += ", merged"
		}
		return line
	case github.CommentEvent:
		return fmt.Sprintf("#%d comment %d by %s: %s", e.Number, e.Comment, e.Sender, e.Body)
	case github.ReviewEvent:
		return fmt.Sprintf("#%d %s by %s: %s", e.Number, e.Action, e.Sender, e.Review.State)
	case github.RerunEvent:
		return fmt.Sprintf("rerun %s %s of %d by %s", e.Name, e.ExternalID, e.Pulls, e.Sender)
	case github.ButtonEvent:
		return fmt.Sprintf("button %s of %s %s of %d by %s", e.Identifier, e.Name, e.ExternalID, e.Pulls, e.Sender)
	case github.InstallationEvent:
		return fmt.Sprintf("%s: %s %s", e.Account, e.Action, append(e.Added, e.Removed...))
	case github.OtherEvent:
		return e.Name + " " + e.Action
	}
	return fmt.Sprintf("%T", e)
}
