// Package estimates estimates how long the rest of an apply takes, from the durations of earlier changes of the same
// types, and how long a plan takes, from earlier plans of the same state. It has data and decisions, and no effects.
// It does not know the order of changes, so an apply whose changes wait for each other takes longer. Start reading
// at [Typical.Left].
package estimates

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Limits of [Durations]: how many kinds of changes, how many durations of each, and how many bytes a kind has.
// The record of a state's durations stays below 200 KB with them.
const (
	maxKinds     = 500
	maxDurations = 20
	maxKind      = 120
)

// maxDuration is the longest duration that counts. A longer one is the mistake of a clock.
const maxDuration = 24 * time.Hour

// A Kind is a kind of changes: the type of a resource, and what happens to it, such as "aws_db_instance create".
type Kind string

// KindOf returns the kind of a change.
func KindOf(resourceType, action string) Kind { return Kind(resourceType + " " + action) }

// WholePlan is the kind of a plan of all that a project has.
const WholePlan Kind = "plan"

// Durations are how long changes took, in milliseconds, the latest last.
type Durations map[Kind][]int64

// Took adds the duration of one change to d.
func (d Durations) Took(k Kind, t time.Duration) {
	if d[k] == nil && len(d) >= maxKinds {
		return
	}
	d[k] = append(d[k], t.Milliseconds())
	if n := len(d[k]); n > maxDurations {
		d[k] = slices.Clone(d[k][n-maxDurations:])
	}
}

// With returns d with the durations in more, which come from the process of a run and may be anything. If there
// are too many kinds, kinds that are not in more are dropped.
func (d Durations) With(more Durations) Durations {
	out := Durations{}
	for _, k := range slices.Sorted(maps.Keys(more)) {
		if k == "" || len(k) > maxKind || len(out) >= maxKinds || strings.ToValidUTF8(string(k), "") != string(k) {
			continue
		}
		good := func(ms int64) bool { return ms >= 0 && ms <= maxDuration.Milliseconds() }
		list := slices.Clone(d[k])
		for _, ms := range more[k] {
			if good(ms) {
				list = append(list, ms)
			}
		}
		if len(list) > 0 {
			out[k] = slices.Clone(list[max(0, len(list)-maxDurations):])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(d)) {
		if _, has := out[k]; !has && len(out) < maxKinds {
			out[k] = d[k]
		}
	}
	return out
}

// Typical returns the median duration of each kind.
func (d Durations) Typical() Typical {
	out := Typical{}
	for k, list := range d {
		if len(list) > 0 {
			sorted := slices.Sorted(slices.Values(list))
			out[k] = time.Duration(sorted[len(sorted)/2]) * time.Millisecond
		}
	}
	return out
}

// Typical has the typical durations of kinds of changes.
type Typical map[Kind]time.Duration

// A Running is a change under way.
type Running struct {
	Kind Kind
	For  time.Duration // since its beginning
}

// Left estimates how long the rest of an apply takes: the changes that wait, and those that run. atATime is how
// many changes are made at the same time. ok is false if the durations of more than a fifth of these changes are
// not known.
func (t Typical) Left(wait []Kind, run []Running, atATime int) (left time.Duration, ok bool) {
	var sum, longest time.Duration
	known := 0
	add := func(d time.Duration) {
		known, sum, longest = known+1, sum+d, max(longest, d)
	}
	for _, k := range wait {
		if d, has := t[k]; has {
			add(d)
		}
	}
	for _, r := range run {
		if d, has := t[r.Kind]; has {
			add(max(d-r.For, 0))
		}
	}
	all := len(wait) + len(run)
	if known == 0 || known*5 < all*4 {
		return 0, false
	}
	sum += sum / time.Duration(known) * time.Duration(all-known) // the others are taken to be as the known ones
	return max(sum/time.Duration(max(min(atATime, all), 1)), longest), true
}
