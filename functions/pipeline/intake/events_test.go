package intake

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// TestEvents holds that each event which may become a message is in the table of those that are
// delivered again when they are lost, and no other.
func TestEvents(t *testing.T) {
	rerun := github.RerunEvent{Name: "lockstep/network", Pulls: []int{7}}
	button := func(identifier, id string, pulls ...int) github.Event {
		return github.ButtonEvent{Name: "lockstep/app", ExternalID: id, Identifier: identifier, Pulls: pulls}
	}
	var effective []string
	for _, test := range []struct {
		name  string
		event github.Event
		want  pipeline.Kind // "" for no message
	}{
		{"pull_request", github.PullRequestEvent{Action: "opened"}, pipeline.Pushed},
		{"pull_request", github.PullRequestEvent{Action: "closed"}, pipeline.Closed},
		{"pull_request", github.PullRequestEvent{Action: "labeled"}, ""},
		{"issue_comment", github.CommentEvent{Body: "lockstep plan"}, pipeline.Commanded},
		{"issue_comment", github.CommentEvent{Body: "looks good"}, ""},
		{"issue_comment", github.CommentEvent{Body: "lockstep plan", Bot: true}, pipeline.Commanded}, // if it is named
		{"issue_comment", github.CommentEvent{Body: "lockstep aply", Bot: true}, ""},
		{"issue_comment", github.CommentEvent{Body: "<!-- lockstep:status -->\nlockstep plan", Bot: true}, ""},
		{"issue_comment", github.CommentGoneEvent{Body: "lockstep override --reason x"}, pipeline.Told},
		{"issue_comment", github.CommentGoneEvent{Body: "looks good"}, ""},
		{"issue_comment", github.CommentGoneEvent{Body: "lockstep apply"}, ""},
		{"issue_comment", github.CommentGoneEvent{Body: "<!-- lockstep:status -->\nlockstep override --reason x"}, ""},
		{"merge_group", github.GroupEvent{SHA: "1"}, pipeline.Grouped},
		{"pull_request_review", github.ReviewEvent{}, pipeline.Told},
		{"pull_request_review_comment", github.CommentEvent{Body: "lockstep plan"}, pipeline.Commanded},
		{"check_run", rerun, pipeline.Commanded},
		{"check_suite", rerun, pipeline.Commanded},
		{"check_run", github.RerunEvent{Name: "lockstep", ExternalID: "head"}, pipeline.Rerun}, // of a fork
		{"check_suite", github.RerunEvent{}, pipeline.Rerun},
		{"check_run", button("plan", "7/app@default", 7), pipeline.Commanded},
		{"check_run", button("apply 1a2b3c4d5e6f", "7/app@default", 7), pipeline.Commanded},
		{"check_run", button("apply", "7/app@default", 7), ""},
		{"check_run", button("apply 1a2b3c4d5e6f -p *", "7/app@default", 7), ""},
		{"check_run", button("unlock", "7/app@default", 7), ""},
		{"check_run", button("plan", "8/app@default", 7), pipeline.Commanded}, // #7 has another check run
		{"check_run", button("plan", "7/app@default"), pipeline.Commanded},    // of a fork, or a former head
		{"check_run", button("plan", "head", 7), ""},
		{"check_run", button("plan", "0/app@default", 7), ""},
		{"check_run", button("plan", "7", 7), ""},
		{"check_run", github.ReportEvent{Name: "ci"}, ""},
		{"check_run", github.ButtonEvent{Name: "build/app", ExternalID: "7/app@default", Identifier: "plan", Pulls: []int{7}}, ""},
		{"installation", github.InstallationEvent{}, ""},
		{"push", github.OtherEvent{Name: "push"}, ""},
	} {
		var got pipeline.Kind
		if list := messages(github.Delivery{Digest: string(make([]byte, 64)), Event: test.event}); len(list) > 0 {
			got = list[0].Kind
		}
		if got != test.want {
			t.Errorf("%s %+v: %q, want %q", test.name, test.event, got, test.want)
		}
		if got != "" && !slices.Contains(effective, test.name) {
			effective = append(effective, test.name)
		}
	}
	effective = slices.Insert(effective, slices.Index(effective, "check_run"), "pull_request_review_thread") // see TestAffected
	effective = append(effective, "status")
	if diff := cmp.Diff(events, effective); diff != "" {
		t.Errorf("events in the table, and events with messages: %s", diff)
	}
	if CanBecomeMessage("push") || !CanBecomeMessage("check_suite") {
		t.Error("push is effective, or check_suite is not")
	}
}
