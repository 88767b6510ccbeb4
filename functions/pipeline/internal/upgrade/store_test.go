package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A store has the sockets of the pipeline, and all that is in them can be written down. It is
// [pipeline.Records] and [pipeline.Queue]; artifacts is the third.
type store struct {
	mu        sync.Mutex
	version   int
	records   map[string]pipeline.Record
	artifacts map[string][]byte
	waiting   []*waiting
	seen      map[string]bool // IDs of messages
	// dies is a part of the effect with whose nth the process ends; "" for none. Nothing that it does after that has an effect.
	dies string
	nth  int
	dead bool
}

// A waiting message is the JSON that was sent.
type waiting struct {
	Body     json.RawMessage
	Queue    pipeline.QueueName
	Group    string
	Receives int       `json:",omitempty"`
	Ready    time.Time `json:",omitzero"`
	Reason   string    `json:",omitempty"` // of its dead letter
}

var errDied = errors.New("the process is dead")

func newStore() *store {
	return &store{records: map[string]pipeline.Record{}, artifacts: map[string][]byte{}, seen: map[string]bool{}}
}

// do is an effect of the process.
func (s *store) do(call string, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return errDied
	}
	if err := f(); err != nil {
		return err
	}
	if s.dies != "" && strings.Contains(call, s.dies) {
		if s.nth--; s.nth <= 0 {
			s.dead, s.dies = true, ""
			return errDied
		}
	}
	return nil
}

func (s *store) Get(_ context.Context, key string) (rec pipeline.Record, err error) {
	pipeline.SplitKey(key)
	err = s.do("get "+key, func() error {
		rec = s.records[key]
		rec.Key, rec.Value = key, slices.Clone(rec.Value)
		return nil
	})
	return rec, err
}

func (s *store) Put(_ context.Context, key string, value []byte, prev pipeline.Version) (v pipeline.Version, err error) {
	pipeline.SplitKey(key)
	pipeline.Retention(key)
	err = s.do("put "+key, func() error {
		if s.records[key].Version != prev {
			return fmt.Errorf("put %s: %w", key, pipeline.ErrConflict)
		}
		s.version++
		v = pipeline.Version(fmt.Sprint("v", s.version))
		s.records[key] = pipeline.Record{Key: key, Value: slices.Clone(value), Version: v}
		return nil
	})
	return v, err
}

func (s *store) Delete(_ context.Context, key string, prev pipeline.Version) error {
	return s.do("delete "+key, func() error {
		if s.records[key].Version != prev {
			return fmt.Errorf("delete %s: %w", key, pipeline.ErrConflict)
		}
		delete(s.records, key)
		return nil
	})
}

func (s *store) List(_ context.Context, dir string) (out []pipeline.Record, err error) {
	err = s.do("list "+dir, func() error {
		for _, key := range slices.Sorted(maps.Keys(s.records)) {
			if path.Dir(key) == dir {
				out = append(out, s.records[key])
			}
		}
		return nil
	})
	return out, err
}

func (s *store) Send(_ context.Context, m pipeline.Message) error {
	return s.do("send "+m.ID, func() error {
		if id := string(m.Queue()) + " " + m.ID; !s.seen[id] {
			s.seen[id] = true
			s.waiting = append(s.waiting, &waiting{Body: pipeline.Encode(m), Queue: m.Queue(), Group: m.Group()})
		}
		return nil
	})
}

type artifacts struct{ *store }

func (a artifacts) Put(_ context.Context, x pipeline.Artifact, data []byte) error {
	return a.do("store "+x.Key, func() error {
		a.artifacts[x.Key] = slices.Clone(data)
		return nil
	})
}

func (a artifacts) Get(_ context.Context, x pipeline.Artifact) (data []byte, err error) {
	err = a.do("load "+x.Key, func() error {
		stored, ok := a.artifacts[x.Key]
		if data = slices.Clone(stored); !ok {
			return fmt.Errorf("load %s: %w", x.Key, pipeline.ErrNoArtifact)
		}
		return nil
	})
	return data, err
}

func (a artifacts) Delete(_ context.Context, x pipeline.Artifact) error {
	return a.do("drop "+x.Key, func() error {
		delete(a.artifacts, x.Key)
		return nil
	})
}

// next takes the first message that is ready, of a group of which none before it waits, and whose kind nobody holds back.
// until is the time at which another one is ready, if there is none now.
func (s *store) next(held map[pipeline.Kind]bool) (w *waiting, m pipeline.Message, until time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	blocked := map[string]bool{}
	for i, x := range s.waiting {
		group := string(x.Queue) + " " + x.Group
		if blocked[group] {
			continue
		}
		blocked[group] = true
		m = pipeline.Message{}
		if err := json.Unmarshal(x.Body, &m); err != nil {
			return nil, m, until, fmt.Errorf("read a message: %w", err)
		}
		if held[m.Kind] {
			continue
		}
		if x.Ready.After(time.Now()) {
			if until.IsZero() || x.Ready.Before(until) {
				until = x.Ready
			}
			continue
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return x, m, until, nil
	}
	return nil, m, until, nil
}

// back puts a message before all others.
func (s *store) back(w *waiting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.Insert(s.waiting, 0, w)
}

// revive begins another process, and reports whether the last one has died.
func (s *store) revive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.dead
	s.dead = false
	return was
}
