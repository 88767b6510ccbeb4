package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Store has the stores of the pipeline. It implements [pipeline.Records] and [pipeline.Queue], and
// [Store.Artifacts] returns the artifacts. The zero value is empty and ready for use. It is safe for concurrent
// use.
type Store struct {
	mu        sync.Mutex
	records   map[string]pipeline.Record
	version   int
	artifacts map[string][]byte
	waiting   []*Message
}

// do calls f while the store is locked. If ctx has ended, it returns an error with the name of the call
// instead.
func (m *Store) do(ctx context.Context, call string, f func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

// Value returns the value of a record; nil if it does not exist.
func (m *Store) Value(key string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key].Value
}

// Get implements [pipeline.Records].
func (m *Store) Get(ctx context.Context, key string) (rec pipeline.Record, err error) {
	pipeline.SplitKey(key)
	err = m.do(ctx, "get "+key, func() error {
		rec = m.records[key]
		rec.Key, rec.Value = key, slices.Clone(rec.Value)
		return nil
	})
	return rec, err
}

// Put implements [pipeline.Records].
func (m *Store) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (v pipeline.Version, err error) {
	pipeline.SplitKey(key)
	err = m.do(ctx, "put "+key, func() error {
		if len(value) > pipeline.MaxRecord {
			return fmt.Errorf("put %s: %d bytes are too many", key, len(value))
		}
		if m.records[key].Version != prev {
			return fmt.Errorf("put %s: %w", key, pipeline.ErrConflict)
		}
		if m.records == nil {
			m.records = map[string]pipeline.Record{}
		}
		m.version++
		v = pipeline.Version(fmt.Sprint("v", m.version))
		m.records[key] = pipeline.Record{Key: key, Value: slices.Clone(value), Version: v}
		return nil
	})
	if err != nil {
		return "", err
	}
	return v, nil
}

// Delete implements [pipeline.Records].
func (m *Store) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	pipeline.SplitKey(key)
	return m.do(ctx, "delete "+key, func() error {
		if m.records[key].Version != prev {
			return fmt.Errorf("delete %s: %w", key, pipeline.ErrConflict)
		}
		delete(m.records, key)
		return nil
	})
}

// List implements [pipeline.Records].
func (m *Store) List(ctx context.Context, dir string) (out []pipeline.Record, err error) {
	pipeline.CheckDir(dir)
	err = m.do(ctx, "list "+dir, func() error {
		out = m.list(dir)
		return nil
	})
	return out, err
}

// Peek is like List, but needs no context.
func (m *Store) Peek(dir string) []pipeline.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list(dir)
}

// Lines describes each record and artifact in a line.
func (m *Store) Lines() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, rec := range m.records {
		out = append(out, fmt.Sprintf("record %s %s", key, rec.Value))
	}
	for key, data := range m.artifacts {
		out = append(out, fmt.Sprintf("artifact %s %s", key, data))
	}
	slices.Sort(out)
	return out
}

func (m *Store) list(dir string) (out []pipeline.Record) {
	for key, rec := range m.records {
		if strings.HasPrefix(key, dir) && path.Dir(key) == dir {
			rec.Value = slices.Clone(rec.Value)
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b pipeline.Record) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// A Message is a message that waits, or is being handled.
type Message struct {
	pipeline.Message
	Receives int
	Reason   string // the last failure, if the message is to be given up
}

// Send implements [pipeline.Queue].
func (m *Store) Send(ctx context.Context, x pipeline.Message) error {
	return m.do(ctx, "send "+x.ID, func() error {
		data, err := json.Marshal(x)
		if err != nil {
			return err
		}
		var copied Message
		if err := json.Unmarshal(data, &copied.Message); err != nil {
			return err
		}
		m.waiting = append(m.waiting, &copied)
		return nil
	})
}

// Next removes and returns the first waiting message; nil if none waits.
func (m *Store) Next() *Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 {
		return nil
	}
	x := m.waiting[0]
	m.waiting = m.waiting[1:]
	return x
}

// Back puts a message at the beginning of the queue.
func (m *Store) Back(x *Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = slices.Insert(m.waiting, 0, x)
}

// Artifacts returns the artifacts.
func (m *Store) Artifacts() pipeline.Artifacts { return artifacts{m} }

type artifacts struct{ m *Store }

// Put implements [pipeline.Artifacts].
func (a artifacts) Put(ctx context.Context, x pipeline.Artifact, data []byte) error {
	pipeline.SplitKey(x.Key)
	return a.m.do(ctx, "store "+x.Key, func() error {
		if a.m.artifacts == nil {
			a.m.artifacts = map[string][]byte{}
		}
		a.m.artifacts[x.Key] = slices.Clone(data)
		return nil
	})
}

// Get implements [pipeline.Artifacts].
func (a artifacts) Get(ctx context.Context, x pipeline.Artifact) (data []byte, err error) {
	pipeline.SplitKey(x.Key)
	err = a.m.do(ctx, "load "+x.Key, func() error {
		stored, ok := a.m.artifacts[x.Key]
		if !ok {
			return fmt.Errorf("load %s: %w", x.Key, pipeline.ErrNoArtifact)
		}
		data = slices.Clone(stored)
		return nil
	})
	return data, err
}

// Delete implements [pipeline.Artifacts].
func (a artifacts) Delete(ctx context.Context, x pipeline.Artifact) error {
	pipeline.SplitKey(x.Key)
	return a.m.do(ctx, "drop "+x.Key, func() error {
		delete(a.m.artifacts, x.Key)
		return nil
	})
}

// Tamper changes or removes an artifact, as an attacker could. Tests use it to check that Lockstep notices
// that.
func (m *Store) Tamper(key string, remove bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.artifacts[key]; !ok {
		panic(fmt.Sprintf("memory: there is no artifact %s", key))
	}
	if delete(m.artifacts, key); !remove {
		m.artifacts[key] = []byte(`{"exchanged": true}`)
	}
}
