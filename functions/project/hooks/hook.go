// Package hooks reads the hook blocks of lockstep.hcl: steps of a team's own before and after plans and applies.
//
//	hook "ticket" {
//	  on       = ["before_apply", "after_apply"]
//	  function = "arn:aws:lambda:eu-west-1:111122223333:function:lockstep-hook-ticket"
//	  projects = ["prod-*"]
//	}
//
// The package refuses to call them (package callouts does), and to know the consequences. Start at [Parse].
package hooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// An Event is an occasion of hooks.
type Event string

// The events. A hook before something can refuse it; one after something only has its say.
const (
	BeforePlan  Event = "before_plan"
	AfterPlan   Event = "after_plan"
	BeforeApply Event = "before_apply"
	AfterApply  Event = "after_apply"
)

// events are all of them, in the order of a pull request.
var events = []Event{BeforePlan, AfterPlan, BeforeApply, AfterApply}

// Before reports whether a hook on the event can refuse what comes after it.
func (e Event) Before() bool { return e == BeforePlan || e == BeforeApply }

// A Hook is one hook block.
type Hook struct {
	Name string
	On   []Event // sorted as events, each once
	// Projects are patterns of names and directories, in doublestar's notation; nil is for all.
	Projects []string
	endpoints.Endpoint
}

// kinds are those of endpoints that a hook can have.
var kinds = []string{endpoints.Function, endpoints.URL, endpoints.Program}

// maxHooks is the limit of hook blocks in a file: people wait for each.
const maxHooks = 10

// Parse reads hook blocks. If there are errors, the result lacks blocks.
func Parse(list hcl.Blocks) ([]Hook, hcl.Diagnostics) {
	return blocks.Named(list, maxHooks, "people wait for each", hook)
}

// hook reads one block.
func hook(r *blocks.Reader, b *hcl.Block) Hook {
	h := Hook{Name: b.Labels[0]}
	r.Content(b.Body, blocks.Schema(append([]string{"on", "projects"}, endpoints.Arguments(kinds...)...)))
	h.Endpoint = endpoints.Read(r, b, kinds...)
	for _, e := range blocks.Each(r, "on", parseEvent) {
		if !slices.Contains(h.On, e) {
			h.On = append(h.On, e)
		}
	}
	slices.SortFunc(h.On, func(a, b Event) int { return slices.Index(events, a) - slices.Index(events, b) })
	h.Projects = r.Projects()
	r.NotEmpty(map[string]bool{"on": h.On == nil, "projects": h.Projects == nil})
	if !r.Has("on") {
		r.Errorf(b.DefRange, "No event", "The argument \"on\" lists the events of the hook: %s.", known())
	}
	return h
}

func parseEvent(text string) (Event, error) {
	if !slices.Contains(events, Event(text)) {
		return "", fmt.Errorf("%q is no event of hooks, which are %s", text, known())
	}
	return Event(text), nil
}

// known names the events.
func known() string {
	var names []string
	for _, e := range events {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}
