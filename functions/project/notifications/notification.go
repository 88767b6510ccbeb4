// Package notifications reads the notify blocks of lockstep.hcl: who is told of what becomes of plans and applies.
//
//	notify "network" {
//	  on       = ["apply_failed", "applied"]
//	  slack    = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:lockstep-call/slack-network"
//	  projects = ["net/**"]
//	}
//
// The package refuses to know how somebody is told. Start at [Parse].
package notifications

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// An Outcome is what became of a plan or an apply.
type Outcome string

// The outcomes.
const (
	Planned      Outcome = "planned"
	Unchanged    Outcome = "unchanged" // planned, and there is nothing to do
	PlanFailed   Outcome = "plan_failed"
	Applied      Outcome = "applied"
	ApplyFailed  Outcome = "apply_failed"
	ApplyStopped Outcome = "apply_stopped"
	NotApplied   Outcome = "not_applied" // though it is merged
)

var outcomes = []Outcome{Planned, Unchanged, PlanFailed, Applied, ApplyFailed, ApplyStopped, NotApplied}

// A Notification is one notify block.
type Notification struct {
	Name string
	On   []Outcome
	// Projects are patterns of names and directories, in doublestar's notation; nil is for all.
	Projects []string
	endpoints.Endpoint
}

// maxNotifications is the limit of notify blocks in a file.
const maxNotifications = 20

// kinds are those of endpoints that can be told.
var kinds = []string{endpoints.Slack, endpoints.Topic, endpoints.URL, endpoints.Function, endpoints.Program}

// Parse reads notify blocks. If there are errors, the result lacks blocks.
func Parse(list hcl.Blocks) ([]Notification, hcl.Diagnostics) {
	return blocks.Named(list, maxNotifications, "one can be for many projects", notification)
}

// notification reads one block.
func notification(r *blocks.Reader, b *hcl.Block) Notification {
	n := Notification{Name: b.Labels[0]}
	r.Content(b.Body, blocks.Schema(append([]string{"on", "projects"}, endpoints.Arguments(kinds...)...)))
	n.Endpoint = endpoints.Read(r, b, kinds...)
	n.On, n.Projects = blocks.Each(r, "on", parseOutcome), r.Projects()
	r.NotEmpty(map[string]bool{"on": n.On == nil, "projects": n.Projects == nil})
	if !r.Has("on") {
		r.Errorf(b.DefRange, "No outcome", "The argument \"on\" lists the outcomes to tell of: %s.", known())
	}
	return n
}

func parseOutcome(text string) (Outcome, error) {
	if !slices.Contains(outcomes, Outcome(text)) {
		return "", fmt.Errorf("%q is no outcome, which are %s", text, known())
	}
	return Outcome(text), nil
}

// known names the outcomes.
func known() string {
	var names []string
	for _, o := range outcomes {
		names = append(names, string(o))
	}
	return strings.Join(names, ", ")
}
