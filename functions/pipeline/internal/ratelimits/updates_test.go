package ratelimits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAsk tells the questions of an installation's processes, in seconds from the beginning, and what becomes of each: the extent of the
// update, or "-", and the second from which the next question is useful. "a@0" is an apply of the pull request a that began at 0, "plan:a@0" a
// plan, and "push:a@0" a plan that no command asked for.
func TestAsk(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	for name, story := range map[string]string{
		"rarer and rarer":        "a@0 5 answer 15, a@0 10 - 15, a@0 15 checks 35, a@0 35 checks 75, a@0 75 checks 135, a@0 135 checks 195, a@0 200 checks 260",
		"two projects of one":    "a@0 5 answer 15, a@3 8 - 15, a@3 15 checks 35, a@0 15 - 35, a@0 36 checks 76",
		"another apply":          "a@0 5 answer 15, a@0 15 checks 35, a@0 35 checks 75, a@50 55 answer 65, a@50 65 checks 85",
		"another apply, before":  "a@0 5 answer 15, a@4 9 - 15",
		"nobody came":            "a@0 5 answer 15, a@0 134 checks 154, a@0 300 answer 310",
		"a plan":                 "plan:a@0 5 answer 15, plan:a@0 15 checks 35, plan:a@0 35 checks 75, plan:a@0 75 checks 135",
		"a plan of a push":       "push:a@0 5 comments 15, push:a@0 15 checks 35, push:a@0 35 checks 75",
		"one plan after another": "push:a@0 5 comments 15, push:a@6 11 - 15, push:a@6 15 checks 35, push:a@30 35 checks 75, push:a@200 205 comments 215",
		"plans yield":            "push:a@0 5 comments 15, push:b@0 5 comments 15, push:c@0 5 comments 15, push:d@0 5 - 17.857142857, push:e@0 5 - 43.571428571, push:f@0 5 - 69.285714285, push:g@0 5 - 94.999999999, push:h@0 5 - 120.714285713, push:i@0 5 - 65, j@0 6 answer 16",
		"several at once":        "a@0 5 answer 15, b@0 5 answer 15, c@0 5 answer 15, d@0 5 answer 15, e@0 5 answer 15, f@0 5 answer 15, a@0 15 checks 35, d@0 15 checks 35, e@0 15 - 60, f@0 15 - 60, a@0 35 answer 75, e@0 60 comments 80",
	} {
		var u Updates
		for _, step := range strings.Split(story, ", ") {
			var who, want string
			var at, next float64
			if _, err := fmt.Sscan(step, &who, &at, &want, &next); err != nil {
				t.Fatal(name, step, err)
			}
			kind, who, is := strings.Cut(who, ":")
			if !is {
				kind, who = "", kind
			}
			pull, began, _ := strings.Cut(who, "@")
			b, err := time.ParseDuration(began + "s")
			if err != nil {
				t.Fatal(err)
			}
			var got Extent
			var then time.Time
			u, got, then = u.Ask(pull, Work{start.Add(b), kind != "", kind == "push"}, start.Add(time.Duration(at*float64(time.Second))))
			if want == "-" {
				want = ""
			}
			if string(got) != want || then.Sub(start).Seconds() != next {
				t.Errorf("%s: %s: %q, then %v", name, step, got, then.Sub(start).Seconds())
			}
		}
	}
}

// A crowd is a number of applies at once. Each process asks every 5 s, as applies report, at a second of its own.
type crowd struct {
	pulls, projects int // projects of each pull request
	lasts           time.Duration
	again           time.Duration // each apply begins again after this time; 0 for never
}

// play plays an hour and a half, and returns the most writes within a minute and within an hour, the longest time between two updates
// of a pull request that readers did not know of, and the longest time at all.
func (c crowd) play() (minute, hour int, unknown, longest time.Duration) {
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	type process struct {
		pull        string
		begins, due time.Time
	}
	var all []*process
	for i := range c.pulls {
		for range c.projects {
			p := &process{pull: fmt.Sprint(i), begins: start.Add(time.Duration(r.IntN(5000)) * time.Millisecond)}
			all = append(all, p)
		}
	}
	var u Updates
	var writes []time.Time
	read := map[string]time.Time{} // the time of the last update
	next := map[string]time.Time{} // what it said of the next one
	for at := start; at.Before(start.Add(90 * time.Minute)); at = at.Add(time.Second) {
		for _, p := range all {
			if c.again > 0 && at.Sub(p.begins) >= c.again {
				p.begins, p.due = p.begins.Add(c.again), time.Time{}
			}
			far := at.Sub(p.begins)
			if far < FirstUpdate || far >= c.lasts || int(far/time.Second)%5 != 0 || at.Before(p.due) {
				continue
			}
			var x Extent
			u, x, p.due = u.Ask(p.pull, Work{Began: p.begins}, at)
			if x == "" {
				continue
			}
			for range x.writes() {
				writes = append(writes, at)
			}
			last := read[p.pull]
			if last.Before(p.begins) {
				last = p.begins
			}
			longest = max(longest, at.Sub(last))
			if said := next[p.pull]; said.Before(p.begins) {
				unknown = max(unknown, at.Sub(last))
			} else {
				unknown = max(unknown, min(at.Sub(last), at.Sub(said)))
			}
			read[p.pull], next[p.pull] = at, p.due
		}
	}
	most := func(within time.Duration) (n int) {
		for i, x := range writes {
			j, _ := slices.BinarySearchFunc(writes, x.Add(within), time.Time.Compare)
			n = max(n, j-i)
		}
		return n
	}
	return most(time.Minute), most(time.Hour), unknown, longest
}

// TestUpdatesStayWithinTheBudget holds, for crowds of applies, that GitHub gets at most 60 writes in any minute and 400 in any hour; and
// that each reader sees progress within 60 s, or knows when it comes.
func TestUpdatesStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		crowd
		unknown, longest time.Duration
	}{
		"one":                              {crowd{1, 1, 30 * time.Minute, 0}, time.Minute, 65 * time.Second},
		"3":                                {crowd{3, 1, 30 * time.Minute, 0}, time.Minute, 65 * time.Second},
		"20 of one pull request":           {crowd{1, 20, 30 * time.Minute, 0}, time.Minute, 65 * time.Second},
		"20 of 20 pull requests":           {crowd{20, 1, 30 * time.Minute, 0}, time.Minute, 10 * time.Minute},
		"20 of 20 pull requests, for ever": {crowd{20, 1, 24 * time.Hour, 0}, time.Minute, 10 * time.Minute},
		"40 short ones, again and again":   {crowd{40, 1, 20 * time.Second, 40 * time.Second}, 20 * time.Second, time.Minute},
		"200":                              {crowd{200, 1, 24 * time.Hour, 0}, 90 * time.Minute, 90 * time.Minute},
	} {
		minute, hour, unknown, longest := c.play()
		t.Logf("%s: %d writes in a minute and %d in an hour at most; a reader waits up to %v, and up to %v without knowing", name, minute, hour, longest, unknown)
		if minute > 60 || hour > 400 || unknown > c.unknown || longest > c.longest {
			t.Errorf("%s: that is too much", name)
		}
	}
}

// TestPlansYield has 300 pull requests be planned at once, all the time, while 5 are applied: the plans take no update of the applies, and all
// of them together stay within the budget.
func TestPlansYield(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	play := func(plans int) (applies string, writes []time.Time, told int) {
		var u Updates
		due := map[string]time.Time{}
		for at := start; at.Before(start.Add(2 * time.Hour)); at = at.Add(5 * time.Second) {
			ask := func(pull string, w Work) Extent {
				if at.Before(due[pull]) {
					return ""
				}
				var x Extent
				u, x, due[pull] = u.Ask(pull, w, at)
				for range x.writes() {
					writes = append(writes, at)
				}
				return x
			}
			for i := range plans {
				if ask(fmt.Sprint("plan", i), Work{start.Add(-FirstUpdate), true, true}) != "" {
					told++
				}
			}
			for i := range 5 {
				if begins := start.Add(30 * time.Minute); at.Sub(begins) >= FirstUpdate && ask(fmt.Sprint("apply", i), Work{Began: begins}) != "" {
					applies += fmt.Sprint(i, " ", at.Sub(begins).Round(time.Minute), ", ")
				}
			}
		}
		return applies, writes, told
	}
	alone, _, _ := play(0)
	applies, writes, told := play(300)
	if n, all := strings.Count(applies, ","), strings.Count(alone, ","); n < all*9/10 {
		t.Errorf("%d updates about applies, and %d without the plans", n, all)
	}
	for _, x := range []struct {
		within time.Duration
		limit  int
	}{{time.Minute, 60}, {time.Hour, 400}} {
		for i, at := range writes {
			if j, _ := slices.BinarySearchFunc(writes, at.Add(x.within), time.Time.Compare); j-i > x.limit {
				t.Fatalf("%d writes within %v", j-i, x.within)
			}
		}
	}
	t.Logf("%d updates about applies, %d without the plans; %d about plans", strings.Count(applies, ","), strings.Count(alone, ","), told)
	if told < 30 {
		t.Errorf("%d updates about plans", told)
	}
}

// TestPause holds that a pause delays the reserved update of each pull request, and all that are reserved later: first updates and others.
func TestPause(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	until := start.Add(10 * time.Minute)
	var u Updates
	u, _, _ = u.Ask("a", Work{Began: start}, start)
	before := u
	u = u.Pause(until)
	if p := u.Pulls["a"]; p.Next.Before(until) || before.Pulls["a"].Next.Equal(p.Next) {
		t.Errorf("the reserved update is at %s, and was at %s", p.Next, before.Pulls["a"].Next)
	}
	_, extent, next := u.Ask("b", Work{Began: start}, start.Add(time.Minute))
	if extent != "" || next.Before(until) {
		t.Errorf("a first update: %q, and then at %s", extent, next)
	}
	u.Pulls["c"] = PullUpdates{Next: start, Extent: AnswerOnly, Made: 3, Last: start}
	if _, _, next := u.Ask("c", Work{Began: start.Add(-time.Hour)}, start.Add(time.Minute)); next.Before(until) {
		t.Errorf("the update after that of a pull request that asks now is at %s", next)
	}
	if again := u.Pause(start); !again.NextFull.Equal(u.NextFull) || !again.FirstFull.Equal(u.FirstFull) || !again.Pulls["a"].Next.Equal(u.Pulls["a"].Next) {
		t.Error("a shorter pause ends a longer one")
	}
}

// TestUpdatesAreFew holds that the record keeps nothing of pull requests whose applies have ended, and does not grow without end.
func TestUpdatesAreFew(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	var u Updates
	for i := range 2 * maxUpdatedPulls {
		u, _, _ = u.Ask(fmt.Sprint(i), Work{Began: start}, start)
	}
	if len(u.Pulls) != maxUpdatedPulls {
		t.Errorf("%d pull requests are kept", len(u.Pulls))
	}
	if _, extent, next := u.Ask("one more", Work{Began: start}, start); extent != "" || !next.After(start) {
		t.Errorf("one more: %q, at %s", extent, next)
	}
	later := start.Add(12 * time.Hour)
	u, extent, _ := u.Ask("7", Work{Began: start}, later)
	if extent == "" || len(u.Pulls) != 1 || u.Pulls["7"].Made != 1 {
		t.Errorf("12 hours later: %q, and %d pull requests are kept", extent, len(u.Pulls))
	}
}
