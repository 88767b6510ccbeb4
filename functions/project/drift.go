package project

import (
	"regexp"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Drift is the setting by which Lockstep looks for drift.
type Drift struct {
	Every    time.Duration // between two looks at a project
	Projects []string      // patterns of names or directories; nil means all projects
	// RunTriggers is set if an apply makes Lockstep plan the projects that depend on the applied one.
	RunTriggers bool
	// Ignore are the rules for drift that does not count.
	Ignore []IgnoredDrift
}

// The shortest and the longest time between two looks at a project.
const (
	minDrift = time.Hour
	maxDrift = 31 * 24 * time.Hour
)

// ratePattern is the form of a rate, as in schedules of EventBridge. Source:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
var ratePattern = regexp.MustCompile(`^rate\((\d{1,4}) (hour|day)s?\)$`)

// drift reads the drift block.
func (p *parser) drift(blocks hcl.Blocks) {
	for i, b := range blocks {
		if i > 0 {
			p.errorf(b.DefRange, "Second drift block", "There is one at %s already: merge the two.", blocks[0].DefRange)
			continue
		}
		before := len(p.diags)
		attrs := p.arguments(grammar.Drift, b)
		out, schedule := Drift{}, "rate(1 day)"
		p.decode(attrs["schedule"], &schedule, "a text")
		var ok bool
		if out.Every, ok = rate(schedule); !ok {
			p.errorf(attrs["schedule"].Expr.Range(), "Invalid schedule", "%q is not a time between 1 hour and 31 days. Write it like \"rate(12 hours)\" or \"rate(1 day)\".", schedule)
		}
		if a := attrs["projects"]; a != nil {
			out.Projects = p.patterns(a)
		}
		for _, s := range p.list(attrs["ignore"]) {
			x, err := parseIgnoredDrift(s.text)
			if err != nil {
				p.errorf(s.at, "Invalid rule for drift", "%s.", capital(err.Error()))
				continue
			}
			if len(out.Ignore) == maxIgnored {
				p.errorf(s.at, "Too many rules for drift", "The list has more than %d rules, which is the limit. Write a rule for many resources, such as \"*.*.tags.owner\".", maxIgnored)
				break
			}
			out.Ignore = append(out.Ignore, x)
		}
		p.decode(attrs["run_triggers"], &out.RunTriggers, "true or false")
		if len(p.diags) == before {
			p.settings.Drift = &out
		}
	}
}

// rate returns the time between two events of a schedule. ok is false if text is not a valid rate.
func rate(text string) (d time.Duration, ok bool) {
	m := ratePattern.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1])
	d = time.Duration(n) * time.Hour
	if m[2] == "day" {
		d *= 24
	}
	return d, d >= minDrift && d <= maxDrift
}

// DriftBlock returns the drift block; nil if there is none. s comes from the default branch, and may be nil.
func (s *Settings) DriftBlock() *Drift {
	if s == nil {
		return nil
	}
	return s.Drift
}

// TriggersRuns reports whether an apply makes Lockstep plan the projects that depend on the applied one. s comes from
// the default branch, and may be nil.
func (s *Settings) TriggersRuns() bool {
	d := s.DriftBlock()
	return d != nil && d.RunTriggers
}

// LooksForDrift returns how often Lockstep looks for drift of a project; 0 for never. base are all projects of the
// default branch. s comes from that branch, and may be nil.
func (s *Settings) LooksForDrift(p Project, base []Project) time.Duration {
	if s == nil || s.Drift == nil || s.Shadows(p, base) {
		return 0
	}
	if names, _ := s.names(p, base); !requirements.Selects(s.Drift.Projects, names, false) {
		return 0
	}
	return s.Drift.Every
}
