package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// TestHandler holds that dead letters and the schedule's events each come to where they
// belong, that what is not handled stays in its queue, and that a round which fails is an
// error of the function, for which there is an alarm.
func TestHandler(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event, did, answer, err string
	}{
		"dead letters":     {`{"Records":[{"messageId":"a"},{"messageId":"b"}]}`, "a b", `{"batchItemFailures":[{"itemIdentifier":"b"}]}`, ""},
		"the schedule":     {`{"source":"aws.scheduler","detail":{}}`, "round", "null", "no round"},
		"something broken": {`{"Records":`, "", "null", "from neither a queue nor the schedule"},
	} {
		var did []string
		handle := handler(func(_ context.Context, e events.SQSEvent) (out events.SQSEventResponse, err error) {
			for _, r := range e.Records {
				did = append(did, r.MessageId)
			}
			out.BatchItemFailures = []events.SQSBatchItemFailure{{ItemIdentifier: "b"}}
			return out, nil
		}, func(context.Context) error {
			did = append(did, "round")
			return errors.New("no round")
		})
		got, err := handle(t.Context(), json.RawMessage(test.event))
		answer, e := json.Marshal(got)
		if e != nil || string(answer) != test.answer || strings.Join(did, " ") != test.did {
			t.Errorf("%s: did %q, answers %s %v", name, did, answer, e)
		}
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
