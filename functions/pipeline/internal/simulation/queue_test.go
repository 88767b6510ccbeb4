package simulation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
)

// queue is the three FIFO queues of messages with their dead letters.
type queue struct {
	letters []*letter
	sent    map[string]time.Time // by queue and ID
	// abandoned are the pull requests with a message that was given up, which people were told.
	abandoned map[int]bool
	buried    map[int]bool // those with a dead letter, told of or not
}

// A letter is one message in a queue.
type letter struct {
	pipeline.Message
	visible  time.Time
	receives int
	reason   string // of a dead letter
}

func (l *letter) group() string {
	if l.reason != "" {
		return "dead/" + l.ID
	}
	return string(l.Queue()) + "/" + l.Group()
}

// dedup is how long the ID of a message is known.
// Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
const dedup = 5 * time.Minute

// Send implements [pipeline.Queue].
func (q *queue) Send(_ context.Context, m pipeline.Message) error {
	if strings.HasSuffix(m.ID, "given-up") {
		q.abandoned[m.Pull.Number] = true
	}
	key := string(m.Queue()) + "/" + m.ID
	if at, ok := q.sent[key]; ok && time.Since(at) < dedup {
		return nil
	}
	q.sent[key] = time.Now()
	q.letters = append(q.letters, &letter{Message: m})
	return nil
}

// ready returns the letters that can be handed over: the first of each group, if it is visible.
func (q *queue) ready() []*letter {
	now, seen := time.Now(), map[string]bool{}
	var out []*letter
	for _, l := range q.letters {
		g := l.group()
		if !seen[g] && !l.visible.After(now) {
			out = append(out, l)
		}
		seen[g] = true
	}
	return out
}

// limits are the times of functions, shorter than real ones, so that applies take several.
var limits = map[pipeline.QueueName]time.Duration{
	pipeline.Events: time.Minute, pipeline.Plans: 2 * time.Minute, pipeline.Applies: 2 * time.Minute,
}

// invoke hands a letter over to a function.
func (s *simulation) invoke(l *letter) {
	if l.reason == "" && l.receives >= l.Queue().Receives() {
		l.reason, l.receives = "it was received too often", 0
		s.buried[l.Pull.Number] = true
		return // behind nothing: the next step hands it over as a dead letter
	}
	limit := limits[l.Queue()]
	l.receives++
	l.visible = time.Now().Add(limit + time.Minute)
	// Comments rely on the order of their queue; applies do not.
	if l.Kind == pipeline.ToApply && !s.calm && s.mishaps > 0 && s.IntN(4) == 0 {
		s.mishaps--
		l.visible = time.Now().Add(time.Duration(s.IntN(int(limit))))
		s.note("%s is handed over again before its time", l.ID)
	}
	s.applies = s.applies || l.Kind == pipeline.ToApply
	receipt := l.receives
	s.start(fmt.Sprintf("%s %s", l.Kind, l.ID), limit, func(ctx context.Context, p *process) {
		ctx = pipeline.WithHardStop(ctx, p.hardStop)
		handle := s.pipeline(p).Handle
		if l.reason != "" {
			handle = func(ctx context.Context, m pipeline.Message) error { return s.pipeline(p).Abandon(ctx, m, l.reason) }
		}
		err := handle(ctx, l.Message)
		p.do(context.WithoutCancel(ctx), "settle "+l.ID, func() error {
			if l.receives != receipt {
				return nil // it was received again
			}
			if err == nil {
				s.letters = slices.DeleteFunc(s.letters, func(x *letter) bool { return x == l })
				return nil
			}
			s.note("%d %s comes again: %v", p.id, l.ID, err)
			l.visible = time.Now().Add(pipeline.Redelivery(l.receives, err, time.Now()))
			return nil
		})
	})
}

// pipeline is the pipeline of one process.
func (s *simulation) pipeline(p *process) *dispatch.Pipeline {
	gate := memory.Gate(p.gate)
	own := 0
	if s.length.sharing {
		own = 1
	}
	return &dispatch.Pipeline{
		OwnChecks: own, SharedSize: 2,
		Inventory: s.app,
		Connect: func(pull pipeline.Pull) (dispatch.GitHub, error) {
			c, err := s.app.Repository(pull.Installation, pull.Repo)
			return client{c, p}, err
		},
		Hook:    s.hookOf(p),
		Records: gate.Records(s.records), Artifacts: gate.Artifacts(s.Artifacts()), Queue: gate.Queue(s.queue), Audit: audit.Trail{Chains: gate.Chains(&s.chains)}, Engine: engine{p}, Projects: reading{s}, Scratch: scratch,
		Serves: s.serves, MaxStrangers: 1000, StopBefore: 30 * time.Second,
		Share: int(s.seed % 3),   // in every third history there is no limit
		Loud:  1 + int(s.seed%2), // of three projects: in every second history two are many
		Log:   func(err error) { s.note("%d logs: %v", p.id, err) },
	}
}

// deliver sends a webhook to its function.
func (s *simulation) deliver(which int) {
	s.start("webhook", 20*time.Second, func(ctx context.Context, p *process) {
		s.receiver = &intake.Webhook{Intake: s.pipeline(p).Intake(), Secrets: []github.Secret{hush}}
		s.hub.DeliverOne(ctx, which)
	})
}

// again delivers a webhook once more.
func (s *simulation) again(guid string) {
	s.note("%s arrives again", guid)
	s.start("webhook again", 20*time.Second, func(ctx context.Context, p *process) {
		s.receiver = &intake.Webhook{Intake: s.pipeline(p).Intake(), Secrets: []github.Secret{hush}}
		s.hub.Redeliver(ctx, guid)
	})
}

// round lets the janitor go round once.
func (s *simulation) round() {
	s.start("janitor", 5*time.Minute, func(ctx context.Context, p *process) {
		j := &reconcile.Janitor{Pipeline: s.pipeline(p), App: s.app, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
			return s.app.Repository(installation, r)
		}}
		if f, err := j.Round(ctx, time.Now()); err != nil {
			s.note("%d the round: %v", p.id, err)
			return
		} else if f != (reconcile.Found{}) {
			s.note("%d the round found %+v", p.id, f)
			f.Decisions = 0 // what waits is decided again each hour
			s.found = s.found || f != (reconcile.Found{})
		}
		s.looked = true
	})
}
