//go:build linux

package lambdatest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2]) / float64(time.Millisecond)
}

// BenchmarkColdStart is the time from the start of a function's process until it asks for
// its first event.
func BenchmarkColdStart(b *testing.B) {
	r := newRoad(b, githubtest.Files{"net/main.tf": project(netState)})
	for _, name := range []string{"webhook", "plan", "apply", "janitor"} {
		b.Run(name, func(b *testing.B) {
			var init []time.Duration
			for b.Loop() {
				r.stack.Functions[name].Kill()
				got, err := r.stack.Functions[name].Invoke(events.SQSEvent{Records: []events.SQSMessage{}})
				if err != nil || got.Error != nil {
					b.Fatal(got.Error, err)
				}
				init = append(init, got.Init)
			}
			b.ReportMetric(median(init), "median-ms")
		})
	}
}

// BenchmarkWebhook is the time from a signed webhook to its answer, and until the plan is
// in the comment, with functions that are warm.
func BenchmarkWebhook(b *testing.B) {
	r := newRoad(b, githubtest.Files{"net/main.tf": project(netState, thing("vpc", "1"))})
	r.repo.Push("alice", "subnet", "Change", githubtest.Files{"net/subnet.tf": thing("subnet", "2")})
	r.repo.OpenPull("alice", "Change", "subnet")
	r.settle()
	var answers, comments []time.Duration
	for n := 0; b.Loop(); n++ {
		r.repo.Push("alice", "subnet", "Change", githubtest.Files{"net/subnet.tf": thing("subnet", time.Duration(n).String())})
		begin := time.Now()
		if _, err := r.hub.Deliver(b.Context()); err != nil {
			b.Fatal(err)
		}
		answers = append(answers, time.Since(begin))
		r.settle()
		comments = append(comments, time.Since(begin))
	}
	b.ReportMetric(median(answers), "answer-median-ms")
	b.ReportMetric(median(comments), "comment-median-ms")
}
