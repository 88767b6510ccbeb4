package comment

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestOngoing holds what people read about applies in progress: with 0, 1, 30 and 300 changes under way, with hostile addresses, with
// and without a time of the next update.
func TestOngoing(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, time.March, 2, 14, 2, 0, 0, time.UTC)
	underWay := func(n int) (out []ChangeUnderWay) {
		for i := range n {
			action := []Doing{Creating, Updating, Destroying, Invoking}[i%4]
			out = append(out, ChangeUnderWay{fmt.Sprintf("aws_db_instance.main[%d]", i), action, began.Add(time.Duration(n-i) * 7 * time.Second / 10)})
		}
		return out
	}
	at := func(p Progress, after time.Duration, list []ChangeUnderWay) Ongoing {
		return Ongoing{Progress: p, Began: began, At: began.Add(after)}.ListUnderWay(list)
	}
	slow := at(Progress{34, 200}, 75*time.Minute, []ChangeUnderWay{{"aws_db_instance.main", Creating, began}, {"aws_s3_bucket.logs", Destroying, began.Add(71*time.Minute + 30*time.Second)}})
	slow.Next, slow.Ends = slow.At.Add(5*time.Minute), slow.At.Add(6*time.Minute+20*time.Second)
	days := at(Progress{1, 2}, 30*time.Hour, nil)
	days.Ends = days.At.Add(20 * time.Second)
	hostile := at(Progress{0, 9}, time.Minute, []ChangeUnderWay{
		{"x.a[\"`@everybody` <b> [x](http://a) \\n# h\u202e\"]", Creating, began}, {"x.b[\"" + strings.Repeat("é", 300) + "\"]", "<script>", began},
		{"x.c[\"" + strings.Repeat("é", 300) + "\"]", Updating, began.Add(time.Hour)}, {"x.d[\"hunter2\"]", Updating, began},
	})
	hostile.Done, hostile.More, hostile.Ends = 99, 1<<40, began.Add(1<<60)
	hostile = hostile.Bounded(hostile.At, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") })
	var text strings.Builder
	for _, o := range []Ongoing{
		{}, at(Progress{}, 6*time.Second, nil), at(Progress{0, 1}, 6*time.Second, underWay(1)), at(Progress{2, 30}, 40*time.Second, underWay(30)), at(Progress{34, 300}, 4*time.Minute, underWay(300)), slow, days, hostile,
	} {
		fmt.Fprintln(&text, Answer{"33", []Reply{Done{Project: "app", Counts: counting.Counts{Add: 2}}, WithOngoing(Pending{Project: "net", Verb: Apply}, o)}}.Markdown(65536))
	}
	var many []Reply
	for i, o := range []Ongoing{slow, at(Progress{2, 30}, 40*time.Second, underWay(30)), at(Progress{}, 6*time.Second, nil), hostile, at(Progress{7, 8}, 75*time.Minute, underWay(2))} {
		o.At, o.Next = slow.At, time.Time{}
		if i == 4 {
			o.Next = slow.Next
		}
		many = append(many, WithOngoing(Pending{Project: fmt.Sprintf("p%d|<b>", i), Verb: Apply}, o), WithOngoing(Pending{Project: fmt.Sprintf("later%d", i), Verb: Apply}, Ongoing{}))
	}
	fmt.Fprintln(&text, Answer{"33", append(many, Done{Project: "app"})}.Markdown(65536))
	p := ProjectStatus{Name: "net", Standing: Applying, PlanSummary: PlanSummary{Counts: counting.Counts{Add: 200}, Hash: someHash}, ApplySummary: ApplySummary{Progress: slow.Progress}, Ongoing: slow}
	fmt.Fprint(&text, Check{ProjectStatus: p}.Title(255)+"\n=====\n"+Check{ProjectStatus: p}.Summary(65535)+"=====\n"+Status{Head: someSHA, Projects: []ProjectStatus{p}}.Markdown(65536))
	golden.File(t, "testdata/ongoing.md", text.String())
	golden.File(t, "testdata/answer-ongoing.md", Answer{"33", []Reply{WithOngoing(Pending{Project: "network", Verb: Apply}, slow)}}.Markdown(65536))

	if got := WithOngoing(Pending{Project: "net", Verb: Plan}, slow); got.(Pending).Ongoing.Of != 0 {
		t.Error("a plan has the progress of an apply")
	}
	slow.Planning = true
	if got := WithOngoing(Pending{Project: "net", Verb: Apply}, slow); got.(Pending).Ongoing.Of != 0 {
		t.Error("an apply has the progress of a plan")
	}
	if got, is := WithOngoing(Done{Project: "net"}, slow).(Done); !is || got.Project != "net" {
		t.Error("a result is replaced")
	}
}

// TestOngoingPlans holds what people read about plans in progress: in an answer, in the status comment with 1, 3, 30 and 300 projects, and in the
// check; before the state is read, with and without a number of objects and an estimate, and if no more updates are available.
func TestOngoingPlans(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, time.March, 2, 14, 2, 0, 0, time.UTC)
	at := func(done, of int, after time.Duration, addresses ...string) Ongoing {
		o := Ongoing{Planning: true, Progress: Progress{done, of}, Began: began, At: began.Add(after)}
		var list []ChangeUnderWay
		for _, a := range addresses {
			list = append(list, ChangeUnderWay{a, Reading, o.At.Add(-12 * time.Second)})
		}
		return o.ListUnderWay(list).Bounded(o.At, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") })
	}
	estimated := at(120, 400, 90*time.Second, "aws_db_instance.main", `data.x.y["hunter2 <b> |"]`)
	estimated.Ends = estimated.At.Add(4 * time.Minute)
	early := at(0, 0, 6*time.Second)
	early.Ends = early.At.Add(80 * time.Second)
	without := at(3, 0, 40*time.Second)
	without.NoNext = true
	later := at(1, 1, 40*time.Second)
	later.Next = later.At.Add(100 * time.Second)
	var text strings.Builder
	for _, o := range []Ongoing{{}, at(0, 0, 6*time.Second), early, estimated, without, later, at(1, 0, time.Minute)} {
		fmt.Fprintln(&text, Answer{"33", []Reply{WithOngoing(Pending{Project: "net", Verb: Plan}, o)}}.Markdown(65536))
	}
	of := func(i int, o Ongoing) ProjectStatus {
		return ProjectStatus{Name: fmt.Sprintf("p%d|<b>", i), Standing: Planning, Ongoing: o}
	}
	for _, n := range []int{1, 3, 30, 300} {
		s := Status{Head: someSHA}
		var replies []Reply
		for i := range n {
			o := []Ongoing{estimated, without, early, {}}[i%4]
			s.Projects = append(s.Projects, of(i, o))
			replies = append(replies, WithOngoing(Pending{Project: fmt.Sprintf("p%d", i), Verb: Plan}, o))
		}
		fmt.Fprintf(&text, "===== status of %d\n%s", n, s.Markdown(65536))
		if n <= 30 {
			fmt.Fprintf(&text, "===== answer about %d\n%s\n", n, Answer{"33", replies}.Markdown(65536))
		}
	}
	c := Check{ProjectStatus: of(0, estimated)}
	fmt.Fprintf(&text, "===== check\n%s\n%s", c.Title(255), c.Summary(65535))
	golden.File(t, "testdata/ongoing-plans.md", text.String())
	if o := (Ongoing{Planning: true, Progress: Progress{1 << 60, 0}, More: 1 << 60}).Bounded(began, strings.ToUpper); o.Done != maxCounted || o.More != maxCounted {
		t.Errorf("%+v", o)
	}
}

// TestOngoingTableIsCut holds that an answer about 500 applies has a line for some of them, and the number of the rest.
func TestOngoingTableIsCut(t *testing.T) {
	t.Parallel()
	var many []Reply
	now := time.Date(2026, time.March, 2, 14, 2, 0, 0, time.UTC)
	for i := range 500 {
		o := Ongoing{Progress: Progress{1, 2}, Began: now, At: now.Add(time.Minute)}
		many = append(many, WithOngoing(Pending{Project: fmt.Sprintf("p%d", i), Verb: Apply}, o.ListUnderWay([]ChangeUnderWay{{strings.Repeat("x", 150), Creating, now}})))
	}
	text := Answer{"33", many}.Markdown(65536)
	if n := strings.Count(text, "| `p"); n != maxOngoing || !strings.Contains(text, "| and 450 more | | |") || !strings.Contains(text, "500 of 1000 changes are done") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

// TestOngoingIsBounded holds that nothing that a hostile process reports is large, or is shown with a secret.
func TestOngoingIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 2, 14, 2, 0, 0, time.UTC)
	o := Ongoing{Progress: Progress{-3, -1}, More: -7}
	for range 100_000 {
		o.UnderWay = append(o.UnderWay, ChangeUnderWay{"x.a[\"hunter2\xff\"]" + strings.Repeat("é", 150), Creating, now.Add(time.Hour)})
	}
	o = o.Bounded(now, func(s string) string { return strings.ReplaceAll(s, "hunter2", "") })
	if o.Done != 0 || o.Of != 0 || o.More != 0 || len(o.UnderWay) != MaxUnderWay {
		t.Errorf("%+v", o.Progress)
	}
	for _, c := range o.UnderWay {
		if len(c.Address) > maxUnderWayAddress || !utf8.ValidString(c.Address) || strings.Contains(c.Address, "hunter2") || c.Since.After(now) {
			t.Errorf("%q since %s", c.Address, c.Since)
		}
	}
}
