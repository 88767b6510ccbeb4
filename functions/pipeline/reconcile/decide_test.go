package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

func TestMissed(t *testing.T) {
	at := func(id int64, guid, event string, ok bool) github.DeliveryInfo {
		return github.DeliveryInfo{ID: id, GUID: guid, Event: event, OK: ok}
	}
	for _, test := range []struct {
		name string
		list []github.DeliveryInfo
		want []int64
	}{
		{"none", nil, nil},
		{"arrived", []github.DeliveryInfo{at(1, "a", "pull_request", true)}, nil},
		{"not arrived", []github.DeliveryInfo{at(1, "a", "pull_request", false)}, []int64{1}},
		{"arrived later", []github.DeliveryInfo{at(2, "a", "issue_comment", true), at(1, "a", "issue_comment", false)}, nil},
		{"arrived before", []github.DeliveryInfo{at(2, "a", "issue_comment", false), at(1, "a", "issue_comment", true)}, nil},
		{"missed twice", []github.DeliveryInfo{at(2, "a", "check_run", false), at(1, "a", "check_run", false)}, []int64{2}},
		{"oldest first", []github.DeliveryInfo{at(2, "b", "pull_request", false), at(1, "a", "pull_request", false)}, []int64{1, 2}},
		{"of no interest", []github.DeliveryInfo{at(1, "a", "ping", false), at(2, "b", "push", false)}, nil},
	} {
		var got []int64
		for _, d := range missed(test.list) {
			got = append(got, d.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestDead(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	all := []ledger.Lease{
		{Message: pipeline.Message{ID: "over"}, HardStop: now.Add(-time.Second)},
		{Message: pipeline.Message{ID: "just now"}, HardStop: now},
		{Message: pipeline.Message{ID: "alive"}, HardStop: now.Add(time.Minute)},
	}
	if got := dead(all, now); len(got) != 1 || got[0].Message.ID != "over" {
		t.Errorf("%+v", got)
	}
}

func TestUnseen(t *testing.T) {
	p := github.PullRequest{Open: true, Head: github.Branch{SHA: "b"}}
	p.Base.Ref = "main"
	for _, test := range []struct {
		open bool
		seen ledger.Look
		want bool
	}{
		{true, ledger.Look{}, true}, {true, ledger.Look{Head: "a"}, true}, {false, ledger.Look{Head: "a"}, false},
		{true, ledger.Look{Head: "b", Into: "main"}, false}, {true, ledger.Look{Head: "b", Into: "release"}, true},
		{true, ledger.Look{Head: "b", Into: "main", Discovery: ledger.Discovery{Asked: true}}, true}, {false, ledger.Look{Head: "b", Into: "main", Discovery: ledger.Discovery{Asked: true}}, false},
		{true, ledger.Look{Head: "b", Into: "main", Ending: ledger.Ending{Closed: true}}, true}, {false, ledger.Look{Head: "b", Into: "main", Ending: ledger.Ending{Closed: true}}, false},
	} {
		p.Open = test.open
		if got := unseen(p, test.seen); got != test.want {
			t.Errorf("open %v, seen %+v: %v", test.open, test.seen, got)
		}
	}
}

func TestEnded(t *testing.T) {
	looks := []ledger.Look{{Pull: pipeline.Pull{Number: 1}}, {Pull: pipeline.Pull{Number: 2}, Ending: ledger.Ending{Closed: true}}, {Pull: pipeline.Pull{Number: 3}}, {Pull: pipeline.Pull{Number: 4}, Ending: ledger.Ending{Closed: true}}}
	open := []github.PullRequest{{Number: 1}, {Number: 4}, {Number: 5}}
	if diff := cmp.Diff([]int{3}, ended(looks, open)); diff != "" {
		t.Error(diff)
	}
}

func TestMisnamed(t *testing.T) {
	other := ledger.Look{Obstacles: ledger.Obstacles{Refused: "other base", Problem: "other base"}}
	for _, test := range []struct {
		seen          ledger.Look
		named, stands bool
		want          bool
	}{
		{other, true, false, true}, {other, false, false, false}, {other, false, true, true},
		{ledger.Look{}, true, true, false}, {ledger.Look{}, false, true, true}, {ledger.Look{}, false, false, false},
		{ledger.Look{Obstacles: ledger.Obstacles{Refused: "a fork"}}, true, false, false}, {ledger.Look{Obstacles: ledger.Obstacles{Problem: "broken"}}, true, false, false},
	} {
		if got := misnamed(test.seen, test.named, test.stands); got != test.want {
			t.Errorf("%+v", test)
		}
	}
}

func TestFaulty(t *testing.T) {
	for _, test := range []struct {
		seen ledger.Look
		want bool
	}{
		{ledger.Look{}, false}, {ledger.Look{Obstacles: ledger.Obstacles{Problem: "broken"}}, true}, {ledger.Look{Obstacles: ledger.Obstacles{Policies: "broken"}}, true}, {ledger.Look{Obstacles: ledger.Obstacles{Problem: "other base", Refused: "other base"}}, false},
		{ledger.Look{Obstacles: ledger.Obstacles{Refused: "a fork"}}, false}, {ledger.Look{Discovery: ledger.Discovery{Conflict: true}}, false},
	} {
		if got := faulty(test.seen); got != test.want {
			t.Errorf("%+v", test)
		}
	}
}

func TestUntangled(t *testing.T) {
	for _, test := range []struct {
		conflict bool
		tip      string
		want     bool
	}{{true, "a", false}, {true, "b", true}, {false, "a", false}, {false, "b", false}} {
		if got := untangled(ledger.Look{Discovery: ledger.Discovery{Conflict: test.conflict}, Base: "a"}, test.tip); got != test.want {
			t.Errorf("conflict %v, tip %s: %v", test.conflict, test.tip, got)
		}
	}
}

func TestUnanswered(t *testing.T) {
	list := []github.Comment{
		{ID: 1, Author: "alice", Body: "lockstep apply"},
		{ID: 2, Author: "alice", Body: "fine"},
		{ID: 3, Author: "lockstep[bot]", Bot: true, Body: "lockstep apply"},
		{ID: 4, Author: "alice", Body: "lockstep apply", Edited: true},
		{ID: 5, Body: "lockstep apply"},
		{ID: 6, Author: "bob", Body: "lockstep aply"},
	}
	var got []int64
	for _, c := range unanswered(list) {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff([]int64{1, 6}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBehind(t *testing.T) {
	itself := func(s string) string { return s }
	for _, test := range []struct {
		name string
		want []string
	}{{"", []string{"a", "b", "c"}}, {"a", []string{"b", "c", "a"}}, {"b", []string{"c", "a", "b"}}, {"c", []string{"a", "b", "c"}}, {"gone", []string{"a", "b", "c"}}} {
		if diff := cmp.Diff(test.want, behind([]string{"a", "b", "c"}, test.name, itself)); diff != "" {
			t.Errorf("behind %q: %s", test.name, diff)
		}
	}
}

// TestInTurn holds that no round has more than some, and that all have their turn.
func TestInTurn(t *testing.T) {
	all := []int{0, 1, 2, 3, 4}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if diff := cmp.Diff(all, inTurn(all, 5, now)); diff != "" {
		t.Error(diff)
	}
	had := map[int]bool{}
	for i := range 5 {
		got := inTurn(all, 2, now.Add(time.Duration(i)*time.Minute))
		if len(got) != 2 || got[0] == got[1] {
			t.Errorf("%d of the round %d", got, i)
		}
		for _, x := range got {
			had[x] = true
		}
	}
	if len(had) != 5 || all[4] != 4 {
		t.Errorf("%v had their turn, of %v", had, all)
	}
}
