//go:build linux

package lambdatest_test

import (
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

// TestMapping holds that what a function did not do comes again, and that what it never
// does ends among the dead letters.
func TestMapping(t *testing.T) {
	client := lambdatest.SQS(lambdatest.StartQueues(t))
	dead := lambdatest.MakeQueue(t, client, "dead.fifo", nil)
	queue := lambdatest.MakeQueue(t, client, "work.fifo", &dead)
	m := &lambdatest.Mapping{Queue: client, QueueURL: queue.URL, QueueName: "work.fifo", Function: probe(t, lambdatest.FunctionSpec{}), BatchSize: 10}
	send := func(id, group, body string) {
		t.Helper()
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &queue.URL, MessageBody: &body, MessageGroupId: &group, MessageDeduplicationId: &id,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	step := func(want int) lambdatest.Invocation {
		t.Helper()
		n, got, err := m.Step(t.Context())
		if err != nil || n != want {
			t.Fatalf("%d messages, want %d: %+v, %v", n, want, got, err)
		}
		return got
	}
	send("1", "a", "fine")
	send("1", "a", "fine") // a duplicate
	send("2", "b", "fail: one of two")
	step(2)
	step(0)
	for range 2 {
		if n, err := m.Expire(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d messages are left, %v", n, err)
		}
		step(1)
	}
	if _, err := m.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	step(0) // it came three times
	in, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &dead.URL})
	if err != nil || len(in.Messages) != 1 || aws.ToString(in.Messages[0].Body) != "fail: one of two" {
		t.Errorf("dead letters: %+v, %v", in, err)
	}
	for n := range 3 {
		send("in order "+strconv.Itoa(n), "c", "fine")
	}
	for total := 0; total < 3; {
		n, _, err := m.Step(t.Context())
		if err != nil || n == 0 {
			t.Fatalf("%d of 3 came, %v", total, err)
		}
		total += n
	}
}
