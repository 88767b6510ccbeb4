package applying_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A disk keeps the journal of a story. Once dead, it keeps nothing more: so a process leaves it that
// dies.
type disk struct {
	fullAt string   // the call from which on nothing can be written
	dieAt  string   // the call in which the process dies
	after  []string // the rules for the next process
	dead   bool
	full   bool
	lines  [][]byte
}

// Append implements [journaling.Writer].
func (s *story) Append(_ bool, records ...[]byte) func(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disk.dead || s.disk.full {
		return func(context.Context) error { return errors.New("the disk is full") }
	}
	for _, r := range records {
		s.disk.lines = append(s.disk.lines, slices.Clone(r))
	}
	return func(context.Context) error { return nil }
}

// journal returns the journal of the next process, with the progress of the one before it, if there
// was one.
func (s *story) journal(plan *plans.Plan) (*journaling.Journal, *journaling.Progress) {
	s.t.Helper()
	start := journaling.Start{Plan: "the plan", Stored: plan.PriorState, Prior: plan.PriorState, Sum: "the sum"}
	j := journaling.New(fmt.Sprintf("process%d", len(s.disk.lines)), s)
	if len(s.disk.lines) == 0 {
		if err := j.Begin(start); err != nil {
			s.t.Fatal(err)
		}
		return j, nil
	}
	p, err := journaling.Resume(start, s.disk.lines)
	if err != nil || p == nil {
		s.t.Fatal("the journal cannot be resumed: ", err)
	}
	return j, p
}

// goOn applies the plan in another process, and logs by what people may find the object of the call
// that nobody knows the outcome of.
func (s *story) goOn(plan *plans.Plan) (*states.State, diags.Diagnostics) {
	s.t.Helper()
	s.log = append(s.log, "intent: "+s.lastIntent(), "the process died")
	s.disk.dead, s.disk.dieAt = false, ""
	for _, rule := range s.disk.after {
		s.rule(rule)
	}
	return s.apply(s.parts["config"], plan)
}

// lastIntent returns the last intent in the journal, without the key of an object that it deposes.
func (s *story) lastIntent() string {
	var last string
	for _, line := range s.disk.lines {
		var r struct {
			Intent *journaling.Intent `json:"intent"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			s.t.Fatal(err)
		}
		if r.Intent != nil {
			last = fmt.Sprintf("%s %s %v", r.Intent.Action, r.Intent.Address, r.Intent.Known)
			if r.Intent.Deposes != "" {
				last += " deposes an object"
			}
		}
	}
	return last
}

// earlier writes the journal of the part "journal", as a process that died has left it, with one line
// each:
//
//	intent create t_x.a      a call begins; the lines that follow are about it
//	is broken                its text in the state is none of an object
//	is ready, is tainted     the state gets the object of the call, named as in its address
//	is gone                  the state has it no more
//	outcome [TEXT]           the call ends, with a problem
func (s *story) earlier(plan *plans.Plan) {
	text := s.parts["journal"]
	if text == "" {
		return
	}
	j, _ := s.journal(plan)
	ctx := s.t.Context()
	var id string
	var addr addrs.ResourceInstanceObject
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch word {
		case "intent":
			action, address, _ := strings.Cut(rest, " ")
			if addr.Instance, err = addrs.ParseAbsResourceInstance(address); err == nil {
				id, err = j.Intent(ctx, journaling.Intent{Address: address, Action: action})
			}
		case "is":
			var o *states.Object
			name := addr.Instance.Resource.Resource.Name
			if rest != "gone" {
				o = &states.Object{Status: map[string]states.Status{"ready": states.Ready, "broken": states.Ready, "tainted": states.Tainted}[rest],
					AttrsJSON: fmt.Appendf(nil, `{"color":null,"id":"%[1]s-1","name":"%[1]s","note":"%[1]s"}`, name), Private: []byte("private of " + name + "-1")}
			}
			if rest == "broken" {
				o.AttrsJSON = []byte(`{"name":[]}`)
			}
			j.Edit(addr, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, plan.PriorState.Object(addr), o)
			err = j.Flush(ctx)
		case "outcome":
			err = j.Outcome(ctx, id, rest)
		default:
			err = fmt.Errorf("unknown word %q", word)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}
