package audit

import (
	"fmt"
	"slices"
	"time"
)

// Delivery are the four figures of software delivery, from the records of one repository.
// Source: https://dora.dev/guides/dora-metrics-four-keys/
type Delivery struct {
	// From and To are the times between which the records were written.
	From, To time.Time
	// Applies is the number of applies that have ended, and Failed the number of those with errors. Applies that somebody
	// stopped count as failed, too.
	Applies, Failed int
	// Lead is the median of the times from the opening of a pull request to the end of its apply. Restore is the median of the times
	// from a failed apply to the next complete one of the same state. They are 0 if there is none.
	Lead, Restore time.Duration

	leads, restores []time.Duration
	opened          map[string]time.Time // of the pull requests, by the run of the apply
	broken          map[string]time.Time // since when the state of a chain waits for a complete apply
}

// Add adds a record. The records of one chain must come in their order.
func (d *Delivery) Add(r Record) {
	if d.opened == nil {
		d.opened, d.broken = map[string]time.Time{}, map[string]time.Time{}
	}
	switch {
	case r.At.Before(d.From) || !d.To.IsZero() && r.At.After(d.To):
		return
	case r.Event == ApplyAllowed:
		d.opened[r.Run] = r.Opened
		return
	case r.Event != ApplyEnded:
		return
	}
	d.Applies++
	since, wasBroken := d.broken[r.Chain]
	if r.Failed || r.Remaining > 0 {
		d.Failed++
		if !wasBroken {
			d.broken[r.Chain] = r.At
		}
		return
	}
	if wasBroken {
		d.restores = append(d.restores, r.At.Sub(since))
		delete(d.broken, r.Chain)
	}
	if opened := d.opened[r.Run]; !opened.IsZero() {
		d.leads = append(d.leads, r.At.Sub(opened))
	}
	d.Lead, d.Restore = median(d.leads), median(d.restores)
}

// median returns the median of all; 0 if there is none. It sorts all.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Lines returns the figures for people: a name and a value each.
func (d *Delivery) Lines() [][2]string {
	if d.Applies == 0 {
		return nil
	}
	days := max(d.To.Sub(d.From).Hours()/24, 1)
	lines := [][2]string{
		{"Deployment frequency", fmt.Sprintf("%.1f applies a day", float64(d.Applies-d.Failed)/days)},
		{"Lead time for changes", span(d.Lead)},
		{"Change failure rate", fmt.Sprintf("%d%%, %d of %d applies", 100*d.Failed/d.Applies, d.Failed, d.Applies)},
		{"Time to restore", span(d.Restore)},
	}
	return lines
}

// span returns a time for people, with the unit that suits it.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return "none yet"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}
