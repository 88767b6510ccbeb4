package endpoints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// An Outcome is the result of a plan, an apply or a look for drift, in notify blocks of lockstep.hcl:
//
//	notify "network" {
//	  on       = ["apply_failed", "applied"]
//	  slack    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:lockstep-call/slack-network"
//	  projects = ["net/**"]
//	}
type Outcome string

// These are the outcomes that a notify block can name.
const (
	OutcomePlanned      Outcome = "planned"
	OutcomeUnchanged    Outcome = "unchanged" // planned without changes
	OutcomePlanFailed   Outcome = "plan_failed"
	OutcomeApplied      Outcome = "applied"
	OutcomeApplyFailed  Outcome = "apply_failed"
	OutcomeApplyStopped Outcome = "apply_stopped"
	OutcomeNotApplied   Outcome = "not_applied" // merged, and not applied
	OutcomeDrift        Outcome = "drift"       // a look has found drift
	OutcomeDriftOver    Outcome = "drift_over"  // a later look has found none
	OutcomeOutOfDate    Outcome = "out_of_date" // a project has changes to apply since the apply of another project
)

var outcomes = []Outcome{OutcomePlanned, OutcomeUnchanged, OutcomePlanFailed, OutcomeApplied, OutcomeApplyFailed, OutcomeApplyStopped, OutcomeNotApplied, OutcomeDrift, OutcomeDriftOver, OutcomeOutOfDate}

// A Notification is one notify block.
type Notification struct {
	Name string
	On   []Outcome
	// Projects are patterns of names and directories, in doublestar's notation; nil means all.
	Projects []string
	Endpoint
}

// maxNotifications is the maximum number of notify blocks in a file.
const maxNotifications = 20

// notifyKinds are the kinds of endpoints that can be notified.
var notifyKinds = []string{Slack, Topic, URL, Function, Program}

// ParseNotifications parses notify blocks. With errors, some blocks are missing.
func ParseNotifications(list hcl.Blocks) ([]Notification, hcl.Diagnostics) {
	return blocks.Named(list, maxNotifications, "one can be for many projects", readNotification)
}

// readNotification reads one block.
func readNotification(r *blocks.Reader, b *hcl.Block) Notification {
	n := Notification{Name: b.Labels[0]}
	r.Content(b.Body, blocks.Schema(append([]string{"on", "projects"}, Arguments(notifyKinds...)...)))
	n.Endpoint = Read(r, b, notifyKinds...)
	n.On, n.Projects = blocks.Each(r, "on", parseOutcome), r.Projects()
	r.NotEmpty(map[string]bool{"on": n.On == nil, "projects": n.Projects == nil})
	if !r.Has("on") {
		r.Errorf(b.DefRange, "No outcome", "The argument \"on\" lists the outcomes to tell of: %s.", knownOutcomes())
	}
	return n
}

func parseOutcome(text string) (Outcome, error) {
	if !slices.Contains(outcomes, Outcome(text)) {
		return "", fmt.Errorf("%q is no outcome, which are %s", text, knownOutcomes())
	}
	return Outcome(text), nil
}

// knownOutcomes returns the names of all outcomes, for an error.
func knownOutcomes() string {
	var names []string
	for _, o := range outcomes {
		names = append(names, string(o))
	}
	return strings.Join(names, ", ")
}
