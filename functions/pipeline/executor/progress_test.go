package executor

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/operation"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
)

func eventOf(t *testing.T, kind events.Kind, address string, action plans.Action) events.Event {
	t.Helper()
	r, err := addrs.ParseAbsResourceInstance(address)
	if err != nil {
		t.Fatal(err)
	}
	return events.Event{Kind: kind, Addr: addrs.ResourceInstanceObject{Instance: r}, Action: action}
}

// TestTeller plays the events of an apply, and holds what is reported of them: what has begun and not ended, with the time since when, the
// longest-running first; reads of data sources are not changes, and a failed change is not done.
func TestTeller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var told []comment.Ongoing
		tl := &teller{tell: func(o comment.Ongoing) { told = append(told, o) }, far: comment.Progress{Done: 1, Of: 9}, hide: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }}
		stop := tl.begin(t.Context())
		at := func(after time.Duration, kind events.Kind, address string, action plans.Action) {
			time.Sleep(time.Until(start.Add(after)))
			tl.listen(eventOf(t, kind, address, action))
		}
		at(1*time.Second, events.ApplyStart, "x.a", plans.Create)
		at(2*time.Second, events.ApplyStart, "x.b", plans.Delete)
		at(2*time.Second, events.ApplyStart, "data.x.read", plans.Read)
		at(3*time.Second, events.ApplyStart, `x.c["hunter2"]`, plans.Update)
		at(3*time.Second, events.ApplyStart, "x.d", plans.Update)
		at(4*time.Second, events.ApplyFailed, "x.d", plans.Update)
		at(6*time.Second, events.ApplyDone, "data.x.read", plans.Read)
		at(7*time.Second, events.ApplyDone, "x.a", plans.Create)
		at(8*time.Second, events.ApplySpared, "x.e", plans.Delete)
		time.Sleep(3 * time.Second)
		stop()
		time.Sleep(time.Minute)
		var got []string
		for _, o := range told {
			line := fmt.Sprintf("%d of %d:", o.Done, o.Of)
			for _, c := range o.UnderWay {
				line += fmt.Sprintf(" %s %s %s", c.Action, c.Address, c.Since.Sub(start))
			}
			got = append(got, line)
		}
		want := []string{"1 of 9:", "1 of 9: creating x.a 1s destroying x.b 2s updating x.c[\"[secret]\"] 3s", "3 of 9: destroying x.b 2s updating x.c[\"[secret]\"] 3s"}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestTellerOfAPlan plays the events of a plan, and holds what is reported: nothing but the time before the state is read, then the objects that
// are read, and how many are done of about how many; a plan that is made again counts anew.
func TestTellerOfAPlan(t *testing.T) {
	t.Parallel()
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": thing + `
resource "lab_thing" "more" {
  count = 3
  name  = "more-${count.index}"
}

data "terraform_remote_state" "none" {
  count   = 0
  backend = "local"
}
`})
	b.job.Grants = grants(t, allowLab, "")
	var told []comment.Ongoing
	b.job.Progress = func(o comment.Ongoing) { told = append(told, o) }
	b.plan()
	if len(told) == 0 || !told[0].Planning || told[0].Of != 0 || told[0].Done != 0 {
		t.Errorf("%+v", told)
	}
	synctest.Test(t, func(t *testing.T) {
		told = nil
		tl := &teller{tell: func(o comment.Ongoing) { told = append(told, o) }, planned: map[addrs.ResourceInstanceObject]bool{}}
		stop := tl.begin(t.Context())
		time.Sleep(6 * time.Second)
		tl.hide, tl.far.Of = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }, 3
		for _, x := range []struct {
			kind    events.Kind
			address string
			action  plans.Action
		}{
			{events.RefreshStart, `x.a["hunter2"]`, 0}, {events.RefreshStart, "x.b", 0}, {events.ApplyStart, "data.x.read", plans.Read}, {events.RefreshDone, "x.b", 0},
			{events.Planned, "x.b", plans.NoOp}, {events.ApplyDone, "data.x.read", plans.Read}, {events.Planned, "x.new[0]", plans.Create}, {events.Planned, "x.new[1]", plans.Create}, {events.Planned, "x.new[1]", plans.Create},
		} {
			tl.listenToPlan(eventOf(t, x.kind, x.address, x.action))
		}
		time.Sleep(5 * time.Second)
		stop()
		var got []string
		for _, o := range told {
			line := fmt.Sprintf("%d of %d:", o.Done, o.Of)
			for _, c := range o.UnderWay {
				line += fmt.Sprintf(" %s %s", c.Action, c.Address)
			}
			got = append(got, line)
		}
		want := []string{"0 of 0:", "0 of 0:", `4 of 4: reading x.a["[secret]"]`}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestObjects holds about how many objects a plan has: those of the state that are still read, and one of each block without any.
func TestObjects(t *testing.T) {
	t.Parallel()
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": `
resource "terraform_data" "many" {
  count = 5
}

resource "terraform_data" "single" {
}
`})
	b.apply(b.plan().Plan, true)
	for text, want := range map[string]int{
		"resource \"terraform_data\" \"many\" {\n  count = 9\n}\n":                   6, // the other one is destroyed
		"resource \"terraform_data\" \"next\" {\n  count = 9\n}\n":                   7,
		"ephemeral \"lab_secret\" \"x\" {\n}\nmodule \"m\" {\n  source = \"./m\"\n}": 7,
	} {
		b.write(map[string]string{"net/main.tf": text, "net/m/main.tf": "resource \"terraform_data\" \"inner\" {\n}\n"})
		o, ds, err := b.engine.open(t.Context(), b.job, true)
		if err != nil || ds.HasErrors() {
			t.Fatal(ds, err)
		}
		defer o.Close()
		backend, ds := o.encryptedBackend(t.Context())
		if ds = append(ds, o.readState(t.Context(), backend)...); ds.HasErrors() {
			t.Fatal(ds)
		}
		if got := objects(o.Config, o.State.Current); got != want {
			t.Errorf("%d objects, want %d, of\n%s", got, want, text)
		}
	}
}

// TestFloodOfEvents holds that a flood of events from many goroutines causes no more reports than few events do, each of a bounded size.
func TestFloodOfEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, largest := 0, 0
		tl := &teller{far: comment.Progress{Of: 2000}, hide: func(s string) string { return s }}
		tl.tell = func(o comment.Ongoing) {
			told++
			for _, c := range o.UnderWay {
				largest = max(largest, len(c.Address)*len(o.UnderWay))
			}
		}
		stop := tl.begin(t.Context())
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 500 {
					e := eventOf(t, events.ApplyStart, fmt.Sprintf("x.a[\"%d-%d-%s\"]", i, n, strings.Repeat("x", 1000)), plans.Create)
					tl.listen(e)
					time.Sleep(40 * time.Millisecond)
				}
			})
		}
		all.Wait()
		stop()
		if told < 4 || told > 1+20/5 || largest == 0 || largest > 1000 {
			t.Errorf("%d reports in 20 s, %d bytes at most", told, largest)
		}
	})
}

// TestEstimate holds that an apply reports its end by the durations of former ones, and how long its own changes took, without those that
// failed.
func TestEstimate(t *testing.T) {
	t.Parallel()
	b := newPlugins(t, false).bench(map[string]string{"net/main.tf": thing + `
resource "lab_thing" "slow" {
  name    = "slow"
  trouble = "create-300"
}

resource "terraform_data" "next" {
  input = lab_thing.slow.id
}
`})
	b.job.Grants = grants(t, allowLab, "")
	p := b.plan()
	var told []comment.Ongoing
	b.job.Progress = func(o comment.Ongoing) { told = append(told, o) }
	o := b.apply(p.Plan, true)
	if o.Failed || len(o.Took[estimates.KindOf("lab_thing", "create")]) == 0 || len(o.Took[estimates.KindOf("terraform_data", "create")]) != 1 {
		t.Fatalf("%+v", o)
	}
	if p.Calls["PlanResourceChange"].N != 2 || o.Calls["ApplyResourceChange"].N != 2 || o.Calls["ApplyResourceChange"].Seconds < 0.3 {
		t.Errorf("the calls are %v and %v", p.Calls, o.Calls)
	}
	slowest := int64(0)
	for _, ms := range o.Took[estimates.KindOf("lab_thing", "create")] {
		slowest = max(slowest, ms)
	}
	if slowest < 300 || slowest > 60_000 {
		t.Errorf("the slow one took %d ms: %v", slowest, o.Took)
	}
	for _, o := range told {
		if !o.Ends.IsZero() {
			t.Errorf("it is estimated without former applies: %+v", o)
		}
	}
}

// TestEstimateOfTheRest plays an apply of which the durations are known.
func TestEstimateOfTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tl := &teller{far: comment.Progress{Of: 2}, hide: func(s string) string { return s }, typical: estimates.Typical{"x create": time.Minute}}
		if !tl.now().Ends.IsZero() {
			t.Error("it is estimated before anything is counted")
		}
		tl.count(new(operation.Tally))
		tl.listen(eventOf(t, events.ApplyStart, "x.a", plans.Create))
		time.Sleep(20 * time.Second)
		if got := time.Until(tl.now().Ends); got != 40*time.Second {
			t.Errorf("about %v are left", got)
		}
		tl.listen(eventOf(t, events.ApplyStart, "y.b", plans.Update))
		if o := tl.now(); !o.Ends.IsZero() {
			t.Errorf("half of it is not known, and it ends in %v", time.Until(o.Ends))
		}
		tl.listen(eventOf(t, events.ApplyFailed, "y.b", plans.Update))
		tl.listen(eventOf(t, events.ApplyDone, "x.a", plans.Create))
		if got := tl.durations(); len(got) != 1 || len(got["x create"]) != 1 || got["x create"][0] != 20_000 {
			t.Errorf("they took %v", got)
		}
	})
}
