package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A Line is a pipeline.Queue together with the consumer of its queues. All queues behave in the same way.
type Line interface {
	pipeline.Queue
	// Work passes the available messages to handle, one after another, until there are no more. It does not
	// wait for new messages. If handle returns an error, the message returns to the queue.
	Work(ctx context.Context, handle func(context.Context, pipeline.Message) error) error
	// Take delivers a message to a process that dies before it has handled the message. ok is false if there is
	// no message.
	Take(ctx context.Context) (m pipeline.Message, ok bool, err error)
	// Pass ends the visibility timeout of all delivered messages, so that they can be delivered again.
	Pass(ctx context.Context) error
	// Dead returns all messages in the dead-letter queues, and deletes them.
	Dead(ctx context.Context) ([]pipeline.Message, error)
}

// TestLine tests the contract of pipeline.Queue, which is the behaviour of SQS FIFO queues. open returns a Line
// whose queues are empty. The tests run in parallel.
func TestLine(t *testing.T, open func(t *testing.T) Line) {
	hold(t, open, []contract[Line]{
		{"order", lineOrder},
		{"contents", lineContents},
		{"sent twice", lineTwice},
		{"odd names", lineNames},
		{"queues", lineQueues},
		{"failure", lineFailure},
		{"death", lineDeath},
		{"dead letters", lineDead},
		{"sent by handlers", lineHandlers},
	})
}

// message returns a message for an event of a pull request. Its group is the pull request's number.
func message(id string, number int) pipeline.Message {
	return pipeline.Message{ID: id, Pull: pipeline.Pull{Installation: 1, Repo: github.Repo{Owner: "acme", Name: "infra", ID: 5}, Number: number}, Action: "synchronize", Kind: "pushed"}
}

func send(t *testing.T, l Line, messages ...pipeline.Message) {
	t.Helper()
	for _, m := range messages {
		if err := l.Send(t.Context(), m); err != nil {
			t.Fatalf("Send(%.80s): %v", m.ID, err)
		}
	}
}

// work handles the available messages, and returns the IDs of the handled messages in order. Its handler fails
// for the messages whose IDs are in bad.
func work(t *testing.T, l Line, bad ...string) (ids []string) {
	t.Helper()
	if err := l.Work(t.Context(), func(_ context.Context, m pipeline.Message) error {
		for _, id := range bad {
			if m.ID == id {
				ids = append(ids, m.ID+" fails")
				return errors.New("it fails")
			}
		}
		ids = append(ids, m.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

func pass(t *testing.T, l Line) {
	t.Helper()
	if err := l.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// want compares the IDs got with the wanted ones. It compares each group separately, because the order between
// groups is not defined. The group of an ID is the part before the dot. what describes the case in the failure
// message.
func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	groups := func(ids []string) map[string][]string {
		m := map[string][]string{}
		for _, id := range ids {
			group, _, _ := strings.Cut(id, ".")
			m[group] = append(m[group], id)
		}
		return m
	}
	if diff := cmp.Diff(groups(want), groups(got)); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

func lineOrder(t *testing.T, l Line) {
	var all []string
	for n := range 12 { // more than nine, and more than SQS returns at once
		for group := range 3 {
			id := fmt.Sprintf("%d.%d", group, n)
			all = append(all, id)
			send(t, l, message(id, group))
		}
	}
	want(t, "handled", work(t, l), all...)
	want(t, "handled again", work(t, l))
	pass(t, l)
	want(t, "handled later", work(t, l))
}

func lineContents(t *testing.T, l Line) {
	full := message("full", 1)
	full.Merged, full.Comment, full.Actor = true, 1<<53+1, "älice"
	full.Lines = []grammar.Line{{Text: "lockstep plan \x00\x1f\u2028\ufffe\U0001f98a <&>", Problem: grammar.Problem{Kind: grammar.UnknownWord, Word: `"\`}}}
	large := message("large", 1)
	large.Lines = []grammar.Line{{Text: strings.Repeat("x", pipeline.MaxMessage-1000)}}
	send(t, l, full, large)
	var got []pipeline.Message
	if err := l.Work(t.Context(), func(_ context.Context, m pipeline.Message) error { got = append(got, m); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pipeline.Message{full, large}, got); diff != "" {
		t.Error(diff)
	}
	large.ID, large.Lines[0].Text = "too large", strings.Repeat("x", pipeline.MaxMessage)
	if err := l.Send(t.Context(), large); err == nil {
		t.Error("more than MaxMessage was sent")
	}
}

func lineTwice(t *testing.T, l Line) {
	send(t, l, message("1.a", 1), message("1.a", 1), message("1.b", 1), message("1.a", 1))
	want(t, "sent twice", work(t, l), "1.a", "1.b")
	send(t, l, message("1.a", 1), message("1.c", 1))
	want(t, "sent again when it was handled", work(t, l), "1.c")
}

// lineNames checks that IDs and groups may be any text, and that different texts are not confused.
func lineNames(t *testing.T, l Line) {
	long := strings.Repeat("x", 200)
	ids := []string{long, long + "y", strings.Repeat("z", 128), "with space", "with  space", "ä", "a/b@c", "a", "A", "\x00"}
	for i, id := range ids {
		m := message(id, 1)
		m.Kind, m.Target = "plan", ids[len(ids)-1-i]
		send(t, l, m, m)
	}
	var got []string
	if err := l.Work(t.Context(), func(_ context.Context, m pipeline.Message) error { got = append(got, m.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	less := func(s []string) map[string]int {
		count := map[string]int{}
		for _, x := range s {
			count[x]++
		}
		return count
	}
	if diff := cmp.Diff(less(ids), less(got)); diff != "" {
		t.Error(diff)
	}
}

// lineQueues checks that queues do not affect each other.
func lineQueues(t *testing.T, l Line) {
	var all []pipeline.Message
	for _, kind := range []pipeline.Kind{"pushed", "plan", "apply", "tell"} {
		m := message("same", 1)
		m.Kind, m.Target = kind, "5/7"
		all = append(all, m)
	}
	all[3].ID = "another" // has the same group as pushed
	send(t, l, all...)
	kinds := map[pipeline.Kind]int{}
	if err := l.Work(t.Context(), func(_ context.Context, m pipeline.Message) error { kinds[m.Kind]++; return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[pipeline.Kind]int{"pushed": 1, "plan": 1, "apply": 1, "tell": 1}, kinds); diff != "" {
		t.Error(diff)
	}
}

// lineFailure checks that a failed message delays its own group, and no other.
func lineFailure(t *testing.T, l Line) {
	send(t, l, message("1.a", 1), message("1.b", 1), message("2.a", 2), message("2.b", 2))
	want(t, "at first", work(t, l, "1.a"), "1.a fails", "2.a", "2.b")
	want(t, "at once", work(t, l, "1.a"))
	pass(t, l)
	want(t, "later", work(t, l), "1.a", "1.b")
}

// lineDeath checks that a message is delivered again if its process dies without reporting a failure.
func lineDeath(t *testing.T, l Line) {
	send(t, l, message("1.a", 1), message("1.b", 1))
	if m, ok, err := l.Take(t.Context()); err != nil || !ok || m.ID != "1.a" {
		t.Fatalf("%v, %v, %v", m, ok, err)
	}
	send(t, l, message("2.a", 2))
	want(t, "meanwhile", work(t, l), "2.a")
	pass(t, l)
	want(t, "later", work(t, l), "1.a", "1.b")
}

// lineDead checks that a message that fails too often goes to the dead-letter queue, and that its group then
// continues.
func lineDead(t *testing.T, l Line) {
	bad := message("1.bad", 1)
	bad.Lines = []grammar.Line{{Text: "lockstep apply"}}
	send(t, l, bad, message("1.good", 1), message("2.bad", 2), message("2.good", 2))
	var got []string
	for range pipeline.MaxReceives + 2 {
		got = append(got, work(t, l, "1.bad", "2.bad")...)
		pass(t, l)
	}
	want(t, "handled", got, "1.bad fails", "1.bad fails", "1.bad fails", "1.good", "2.bad fails", "2.bad fails", "2.bad fails", "2.good")
	dead, err := l.Dead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range dead {
		if m.ID == bad.ID {
			if diff := cmp.Diff(bad, m); diff != "" {
				t.Error(diff)
			}
		}
	}
	if len(dead) != 2 {
		t.Errorf("%d dead letters: %v", len(dead), dead)
	}
	pass(t, l)
	want(t, "at last", work(t, l))
}

// lineHandlers sends a message while another message of its group is being handled. It checks that the new
// message is handled after the other one.
func lineHandlers(t *testing.T, l Line) {
	send(t, l, message("1.a", 1))
	var got []string
	if err := l.Work(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		got = append(got, m.ID)
		if m.ID != "1.a" {
			return nil
		}
		return errors.Join(l.Send(ctx, message("1.b", 1)), l.Send(ctx, message("2.a", 2)))
	}); err != nil {
		t.Fatal(err)
	}
	want(t, "handled", got, "1.a", "1.b", "2.a")
}
