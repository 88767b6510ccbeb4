package endpoints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// A HookEvent is an occasion of hooks, in hook blocks of lockstep.hcl:
//
//	hook "ticket" {
//	  on       = ["before_apply", "after_apply"]
//	  function = "arn:aws:lambda:eu-west-1:111122223333:function:lockstep-hook-ticket"
//	  projects = ["prod-*"]
//	}
type HookEvent string

// These are the events. A hook before something can refuse it. A hook after something cannot refuse anything.
const (
	BeforePlan  HookEvent = "before_plan"
	AfterPlan   HookEvent = "after_plan"
	BeforeApply HookEvent = "before_apply"
	AfterApply  HookEvent = "after_apply"
)

// hookEvents are all events, in the order of a pull request.
var hookEvents = []HookEvent{BeforePlan, AfterPlan, BeforeApply, AfterApply}

// Before reports whether a hook on the event can refuse what comes after it.
func (e HookEvent) Before() bool { return e == BeforePlan || e == BeforeApply }

// A Hook is one hook block: an endpoint that is called on events.
type Hook struct {
	Name string
	On   []HookEvent // sorted as events, each once
	// Projects are patterns of names and directories, in doublestar's notation; nil means all.
	Projects []string
	Endpoint
}

// hookKinds are the kinds of endpoints that a hook can have.
var hookKinds = []string{Function, URL, Program}

// maxHooks is the maximum number of hook blocks in a file. People wait for each hook.
const maxHooks = 10

// ParseHooks parses hook blocks. With errors, some blocks are missing.
func ParseHooks(list hcl.Blocks) ([]Hook, hcl.Diagnostics) {
	return blocks.Named(list, maxHooks, "people wait for each", readHook)
}

// readHook reads one block.
func readHook(r *blocks.Reader, b *hcl.Block) Hook {
	h := Hook{Name: b.Labels[0]}
	r.Content(b.Body, blocks.Schema(append([]string{"on", "projects"}, Arguments(hookKinds...)...)))
	h.Endpoint = Read(r, b, hookKinds...)
	for _, e := range blocks.Each(r, "on", parseEvent) {
		if !slices.Contains(h.On, e) {
			h.On = append(h.On, e)
		}
	}
	slices.SortFunc(h.On, func(a, b HookEvent) int { return slices.Index(hookEvents, a) - slices.Index(hookEvents, b) })
	h.Projects = r.Projects()
	r.NotEmpty(map[string]bool{"on": h.On == nil, "projects": h.Projects == nil})
	if !r.Has("on") {
		r.Errorf(b.DefRange, "No event", "The argument \"on\" lists the events of the hook: %s.", knownEvents())
	}
	return h
}

func parseEvent(text string) (HookEvent, error) {
	if !slices.Contains(hookEvents, HookEvent(text)) {
		return "", fmt.Errorf("%q is no event of hooks, which are %s", text, knownEvents())
	}
	return HookEvent(text), nil
}

// knownEvents returns the names of all events, for an error.
func knownEvents() string {
	var names []string
	for _, e := range hookEvents {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}
