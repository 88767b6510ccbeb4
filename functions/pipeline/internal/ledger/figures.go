package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Delivery is an apply that has ended, as the figures of its repository need it.
type Delivery struct {
	Run    string // identifies the apply
	State  string // the name of its state in the records
	At     time.Time
	Opened time.Time `json:",omitzero"` // when the pull request was opened; zero if it is not known
	Failed bool      `json:",omitempty"`
}

// The figures are about the last applies of a repository: at most maxDeliveries, of figureTime.
const (
	maxDeliveries = 300
	figureTime    = 30 * 24 * time.Hour
)

func figuresKey(p pipeline.Pull) string { return fmt.Sprintf("figures/%d/applies", p.Repo.ID) }

// RecordDelivery records that an apply of the run has ended. It can be repeated.
func (ld Ledger) RecordDelivery(ctx context.Context, r runs.Run, opened time.Time, failed bool) error {
	x := Delivery{Run: fmt.Sprintf("%s/%d", r.Key(), r.Asked.Try), State: r.StateName(), At: time.Now().UTC(), Opened: opened, Failed: failed}
	return Edit(ctx, ld, figuresKey(r.Pull), func(have *[]Delivery) *[]Delivery {
		if have == nil {
			return &[]Delivery{x}
		}
		if slices.ContainsFunc(*have, func(d Delivery) bool { return d.Run == x.Run }) {
			return nil
		}
		all := slices.DeleteFunc(append(slices.Clone(*have), x), func(d Delivery) bool { return x.At.Sub(d.At) > figureTime })
		all = all[max(len(all)-maxDeliveries, 0):]
		return &all
	})
}

// Figures are the four figures of software delivery for a repository, each with a name and a value for people. There are none if
// nothing was applied in the last 30 days. Source: https://dora.dev/guides/dora-metrics-four-keys/
func (ld Ledger) Figures(ctx context.Context, p pipeline.Pull, now time.Time) ([][2]string, error) {
	all, err := Get[[]Delivery](ctx, ld, figuresKey(p))
	return figuresOf(all, now), err
}

// figuresOf returns the figures of deliveries, which are in the order of their ends.
func figuresOf(all []Delivery, now time.Time) [][2]string {
	begin := now
	applies, failed := 0, 0
	var leads, restores []time.Duration
	broken := map[string]time.Time{} // since when a state waits for a complete apply
	for _, d := range all {
		if now.Sub(d.At) > figureTime {
			continue
		}
		if applies++; d.At.Before(begin) {
			begin = d.At
		}
		since, wasBroken := broken[d.State]
		switch {
		case d.Failed && !wasBroken:
			broken[d.State] = d.At
			failed++
		case d.Failed:
			failed++
		default:
			if wasBroken {
				restores = append(restores, d.At.Sub(since))
				delete(broken, d.State)
			}
			if !d.Opened.IsZero() {
				leads = append(leads, d.At.Sub(d.Opened))
			}
		}
	}
	if applies == 0 {
		return nil
	}
	days := figureTime.Hours() / 24
	if len(all) == maxDeliveries { // there were more, which are forgotten
		days = max(now.Sub(begin).Hours()/24, 1)
	}
	return [][2]string{
		{"Deployment frequency", fmt.Sprintf("%.1f applies a day", float64(applies-failed)/days)},
		{"Lead time for changes", median(leads)},
		{"Change failure rate", fmt.Sprintf("%d%% (%d of %d applies)", 100*failed/applies, failed, applies)},
		{"Time to restore", median(restores)},
	}
}

// median returns the median of some times, for people. It sorts them.
func median(all []time.Duration) string {
	if len(all) == 0 {
		return "none yet"
	}
	slices.Sort(all)
	switch d := all[len(all)/2]; {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f hours", d.Hours())
	default:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
}
