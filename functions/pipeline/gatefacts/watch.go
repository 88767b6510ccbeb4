package gatefacts

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// watched are the facts behind the decisions of MissingRequirements, for one message.
type watched struct {
	watch pipeline.Watch
	turns map[string]time.Time // by requirement
}

// turnStep is the precision of the time at which the clock changes a decision. turnLimit is how far ahead such
// a time is searched.
const (
	turnStep  = 5 * time.Minute
	turnLimit = 24 * time.Hour
)

// WatchOf returns the watch over the reader's decisions in MissingRequirements. It returns false if the reader
// has made no such decision.
func WatchOf(e *Reader) (pipeline.Watch, bool) {
	if e.watched == nil {
		return pipeline.Watch{}, false
	}
	w := e.watched.watch
	slices.Sort(w.Reports)
	w.Reports = slices.Compact(w.Reports)
	return w, true
}

// watches adds to the reader's watch the facts that a decision depends on.
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

// reports adds the check runs and commit statuses that conditions name.
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
