package gatefacts

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// watched are the facts on which the decisions of MissingRequirements depend, while one message is handled.
type watched struct {
	watch pipeline.Watch
	turns map[string]time.Time // by requirement
}

// turnStep is how exactly Lockstep finds the time at which a decision will change by the passing of time
// alone. turnLimit is how far in the future Lockstep looks for such a time.
const (
	turnStep  = 5 * time.Minute
	turnLimit = 24 * time.Hour
)

// WatchOf returns the facts that were used to decide which requirements are missing. Lockstep watches these facts, and
// decides again when one changes. The result is false if the reader e has not called MissingRequirements.
func WatchOf(e *Reader) (pipeline.Watch, bool) {
	if e.watched == nil {
		return pipeline.Watch{}, false
	}
	w := e.watched.watch
	slices.Sort(w.Reports)
	w.Reports = slices.Compact(w.Reports)
	return w, true
}

// watches adds the facts on which a decision depends to the reader's watch.
func watches(e *Reader, in *required, q requirementrules.Question, head string) {
	if e.watched == nil {
		w := pipeline.Watch{Pull: e.Message.Pull, Head: head, Base: in.sha, At: q.Facts.Now.UTC().Truncate(time.Hour)}
		e.watched = &watched{w, map[string]time.Time{}}
	}
	w := &e.watched.watch
	key := string(pipeline.Encode(q.Requirements)) + q.Facts.Shown.String()
	turn, known := e.watched.turns[key]
	if !known {
		turn = requirementrules.NextChange(q, turnStep, turnLimit).UTC()
		e.watched.turns[key] = turn
	}
	if !turn.IsZero() && (w.Until.IsZero() || turn.Before(w.Until)) {
		w.Until = turn
	}
	for _, r := range q.Requirements {
		reports(w, q.Facts, r.Rules)
		for _, a := range r.Alternatives {
			reports(w, q.Facts, a.Rules)
		}
	}
}

// reports adds to a watch the check runs and commit statuses that conditions of requirements name.
func reports(w *pipeline.Watch, f requirementrules.Facts, r requirements.Rules) {
	for _, c := range r.Checks {
		begins, _, _ := strings.Cut(c.Pattern, "*")
		if i := strings.IndexAny(begins, `?[{\\`); i >= 0 {
			begins = begins[:i]
		}
		w.Reports = append(w.Reports, begins)
	}
	if !r.Mergeable {
		return
	}
	if !f.Merging.Known {
		w.Reports = append(w.Reports, "")
	}
	for _, c := range f.Merging.Value.Required {
		w.Reports = append(w.Reports, c.Name)
	}
}
