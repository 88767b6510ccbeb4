package admission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestCheck is the table of verdicts: the facts about a plan that was made again, the verdict, and the
// types of its reasons.
func TestCheck(t *testing.T) {
	t.Parallel()
	now := runs.StateID{Lineage: "l", Serial: 4, Version: "v4"}
	facts := map[string]func(*Request){
		"state":    func(q *Request) { q.Run.Plan.State.Serial, q.Run.Plan.Parts = 3, nil },
		"lineage":  func(q *Request) { q.Run.Plan.State.Lineage, q.Run.Plan.Parts = "else", nil },
		"differs":  func(q *Request) { q.Again.Equal = false },
		"blocks":   func(q *Request) { q.Blocks = []string{"a.tf"} },
		"files":    func(q *Request) { q.Differ = []string{"a.txt"} },
		"around":   func(q *Request) { q.Around = []string{"b.txt"} },
		"commands": func(q *Request) { q.Around, q.Provisioners = []string{"b.txt"}, true },
		"modules":  func(q *Request) { q.Modules = []string{"net"} },
		"version":  func(q *Request) { q.OtherVersion = true },
		"provider": func(q *Request) { q.Providers = "it is newer" },
		"place":    func(q *Request) { q.Run.Address.Place = "s3://states/else" },
		"outputs": func(q *Request) {
			q.Run.Plan.Parts = &runs.PlanParts{State: q.Run.Plan.State, PlannedOn: map[string]string{"dns@default": "h"}}
			q.PlannedOn, q.Saved = map[string]string{"dns@default": ""}, ""
			q.Run.Plan.Hash = q.Run.Plan.Parts.Hash()
			q.OnGitHub = &q.Run.Plan.Hash
		},
		"applied": func(q *Request) {
			q.Run.Plan.Reads, q.Applied = map[string]int{"dns@default": 1}, map[string]int{"dns@default": 2}
		},
		"none":      func(q *Request) { q.Again = nil },
		"elsewhere": func(q *Request) { q.Again.State.Serial++ },
		"saved":     func(q *Request) { q.Saved = "another" },
		"shown":     func(q *Request) { other := "another"; q.OnGitHub = &other },
		"kept":      func(q *Request) { q.Kept = "they differ" },
	}
	seen := map[string]bool{}
	for _, test := range []struct{ facts, want string }{
		{"", "the same"},
		{"state", "the same: StateMoved"},
		{"state blocks around version provider", "the same: ConfigMoved OthersMoved ProvidersMoved OtherVersion StateMoved"},
		{"outputs", "the same: OutputsPlanned"},
		{"outputs differs", "another one: OutputsPlanned"},
		{"applied", "the same: OutputsMoved"},
		{"applied differs", "another one: OutputsMoved"},
		{"differs", "another one"},
		{"state differs", "another one: StateMoved"},
		{"lineage", "another one: StateMoved"},
		{"files", "another one: InputsMoved"},
		{"state files", "another one: InputsMoved StateMoved"},
		{"commands", "another one: InputsMoved"},
		{"modules", "another one: ModulesMoved"},
		{"place", "another one: PlaceMoved"},
		{"none", "not checked"},
		{"elsewhere", "not checked"},
		{"saved", "not checked: SavedExchanged"},
		{"shown differs", "not checked: ShownExchanged"},
		{"kept state", "not checked: KeptExchanged"},
	} {
		hash := "hash"
		q := Request{
			Command: Command{Verb: comment.Plan},
			Run:     runs.Run{ID: runs.ID{Project: "net", Workspace: "default"}, Plan: runs.Plan{State: now, PlanSummary: comment.PlanSummary{Hash: hash}}},
			Stored:  Stored{Saved: hash, OnGitHub: &hash},
			State:   &now,
			Again:   &Again{State: now, Equal: true},
			Placing: &Placing{},
		}
		for name := range strings.FieldsSeq(test.facts) {
			seen[name] = true
			facts[name](&q)
		}
		f := Check(q)
		got := string(f.Verdict)
		for i, r := range f.Reasons {
			got += map[bool]string{true: ": ", false: " "}[i == 0] + strings.TrimPrefix(fmt.Sprintf("%T", r), "reasons.")
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.facts, got, test.want)
		}
	}
	for name := range facts {
		if !seen[name] {
			t.Errorf("no row has %q", name)
		}
	}
}
