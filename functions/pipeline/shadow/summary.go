package shadow

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Summary is a report about many comparisons.
type Summary struct {
	// Since is the beginning of the time that the report covers; zero for all records.
	Since time.Time `json:",omitzero"`
	Tally
	// Projects are sorted: those with differences first, then by repository and name.
	Projects []ProjectSummary
	// Causes are the kinds of differences, the most frequent first.
	Causes []CauseSummary `json:",omitempty"`
	// Unknowns says for how many plans there is no verdict, by the reason.
	Unknowns map[string]int `json:",omitempty"`
	// Differing are the plans that differ, the newest first.
	Differing []Record `json:",omitempty"`
	// Seconds is how long Lockstep's plans took together, and Requests how many requests to GitHub they cost.
	Seconds  float64
	Requests int
}

// A Tally counts verdicts. Ours and Theirs are the medians of the times from the push to the plans, in seconds; 0 if no
// time is known.
type Tally struct {
	Plans, Agree, Differ, Unknown int
	Ours, Theirs                  float64 `json:",omitempty"`
}

// Share returns how many of the comparisons agree, in percent, rounded down. ok is false if there are none.
func (t Tally) Share() (percent int, ok bool) {
	if t.Agree+t.Differ == 0 {
		return 0, false
	}
	return 100 * t.Agree / (t.Agree + t.Differ), true
}

// A ProjectSummary is the part of a report about one project.
type ProjectSummary struct {
	Repo, Project string
	Tally
}

// A CauseSummary says how many differences have a cause.
type CauseSummary struct {
	Cause  Cause
	Count  int
	Advice string
}

// Summarize makes a report of records. Plans that are not made yet do not count.
func Summarize(all []Record, since time.Time) Summary {
	s := Summary{Since: since}
	type key struct{ repo, project string }
	projects, times := map[key]*ProjectSummary{}, map[key]*[2][]float64{}
	kinds := map[Cause]int{}
	var every [2][]float64
	for _, r := range all {
		if r.Planned.IsZero() || r.Queued.Before(since) {
			continue
		}
		k := key{r.Repo, r.Label()}
		if projects[k] == nil {
			projects[k], times[k] = &ProjectSummary{Repo: k.repo, Project: k.project}, new([2][]float64)
		}
		for _, t := range []*Tally{&s.Tally, &projects[k].Tally} {
			t.count(r.Verdict)
		}
		if d, ok := r.OurTime(); ok {
			every[0], times[k][0] = append(every[0], d.Seconds()), append(times[k][0], d.Seconds())
		}
		if d, ok := r.TheirTime(); ok {
			every[1], times[k][1] = append(every[1], d.Seconds()), append(times[k][1], d.Seconds())
		}
		if !r.Began.IsZero() {
			s.Seconds += r.Planned.Sub(r.Began).Seconds()
		}
		s.Requests += r.Requests
		if r.Verdict == Differ {
			s.Differing = append(s.Differing, r)
		}
		for _, d := range r.Differences {
			kinds[d.Cause]++
		}
	}
	s.Ours, s.Theirs = median(every[0]), median(every[1])
	for k, p := range projects {
		p.Ours, p.Theirs = median(times[k][0]), median(times[k][1])
		s.Projects = append(s.Projects, *p)
	}
	slices.SortFunc(s.Projects, func(a, b ProjectSummary) int {
		return cmp.Or(b.Differ-a.Differ, b.Unknown-a.Unknown, strings.Compare(a.Repo, b.Repo), strings.Compare(a.Project, b.Project))
	})
	for _, r := range all {
		if r.Verdict == Unknown && !r.Planned.IsZero() && !r.Queued.Before(since) {
			if s.Unknowns == nil {
				s.Unknowns = map[string]int{}
			}
			s.Unknowns[r.Why]++
		}
	}
	for c, n := range kinds {
		s.Causes = append(s.Causes, CauseSummary{c, n, c.Sentence()})
	}
	slices.SortFunc(s.Causes, func(a, b CauseSummary) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(string(a.Cause), string(b.Cause)))
	})
	slices.SortStableFunc(s.Differing, func(a, b Record) int { return b.Planned.Compare(a.Planned) })
	return s
}

// count counts a verdict.
func (t *Tally) count(v Verdict) {
	t.Plans++
	switch v {
	case Agree:
		t.Agree++
	case Differ:
		t.Differ++
	default:
		t.Unknown++
	}
}

// median returns the median of numbers; 0 if there are none.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
