package memory

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// An Effect is one call of the pipeline to its environment. Its name is "get", "put", "delete" or "list" with
// the key of a record; "store", "load" or "drop" with the key of an artifact; "send" with the ID of a message;
// or a name that a test defines.
type Effect struct {
	Call  string
	Reads bool // the call changes nothing
	With  any  // the argument: the []byte of a put, or the message that is sent
}

// A Gate decides about one call of the pipeline to its environment. It carries out the call by calling do. It
// may do something else before, after, or instead.
type Gate func(ctx context.Context, x Effect, do func(context.Context) error) error

// A Verdict says whether an Effect is carried out, and which error its caller gets. The zero value means that
// it is carried out, without an error.
type Verdict struct {
	Undone error // returned instead of the effect
	Done   error // returned after the effect
}

// Deciding returns a gate that acts as the verdict of decide says.
func Deciding(decide func(Effect) Verdict) Gate {
	return func(ctx context.Context, x Effect, do func(context.Context) error) error {
		v := decide(x)
		if v.Undone != nil {
			return fmt.Errorf("%s: %w", x.Call, v.Undone)
		}
		if err := do(ctx); err != nil || v.Done == nil {
			return err
		}
		return fmt.Errorf("%s: %w", x.Call, v.Done)
	}
}

// Pass passes a call f, which has a result, through a gate. It returns the result of f, and the error of the
// gate.
func Pass[T any](ctx context.Context, g Gate, x Effect, f func(context.Context) (T, error)) (out T, err error) {
	err = g(ctx, x, func(ctx context.Context) (err error) {
		out, err = f(ctx)
		return err
	})
	return out, err
}

// Read is like [Pass], for a call that changes nothing.
func Read[T any](ctx context.Context, g Gate, call string, f func(context.Context) (T, error)) (T, error) {
	return Pass(ctx, g, Effect{Call: call, Reads: true}, f)
}

// Records returns records whose calls pass through the gate before they reach r.
func (g Gate) Records(r pipeline.Records) pipeline.Records { return gatedRecords{r, g} }

// Artifacts returns artifacts whose calls pass through the gate before they reach a.
func (g Gate) Artifacts(a pipeline.Artifacts) pipeline.Artifacts { return gatedArtifacts{a, g} }

// Queue returns a queue whose calls pass through the gate before they reach q.
func (g Gate) Queue(q pipeline.Queue) pipeline.Queue { return gatedQueue{q, g} }

type gatedRecords struct {
	pipeline.Records
	gate Gate
}

func (r gatedRecords) Get(ctx context.Context, key string) (pipeline.Record, error) {
	return Read(ctx, r.gate, "get "+key, func(ctx context.Context) (pipeline.Record, error) { return r.Records.Get(ctx, key) })
}

func (r gatedRecords) List(ctx context.Context, dir string) ([]pipeline.Record, error) {
	return Read(ctx, r.gate, "list "+dir, func(ctx context.Context) ([]pipeline.Record, error) { return r.Records.List(ctx, dir) })
}

func (r gatedRecords) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	v, err := Pass(ctx, r.gate, Effect{Call: "put " + key, With: value}, func(ctx context.Context) (pipeline.Version, error) {
		return r.Records.Put(ctx, key, value, prev)
	})
	if err != nil {
		return "", err
	}
	return v, nil
}

func (r gatedRecords) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	return r.gate(ctx, Effect{Call: "delete " + key}, func(ctx context.Context) error { return r.Records.Delete(ctx, key, prev) })
}

type gatedArtifacts struct {
	pipeline.Artifacts
	gate Gate
}

func (a gatedArtifacts) Put(ctx context.Context, x pipeline.Artifact, data []byte) error {
	call := fmt.Sprintf("store %s of %s#%d", x.Key, x.Repo, x.Number)
	return a.gate(ctx, Effect{Call: call}, func(ctx context.Context) error { return a.Artifacts.Put(ctx, x, data) })
}

func (a gatedArtifacts) Get(ctx context.Context, x pipeline.Artifact) ([]byte, error) {
	return Read(ctx, a.gate, "load "+x.Key, func(ctx context.Context) ([]byte, error) { return a.Artifacts.Get(ctx, x) })
}

func (a gatedArtifacts) Delete(ctx context.Context, x pipeline.Artifact) error {
	return a.gate(ctx, Effect{Call: "drop " + x.Key}, func(ctx context.Context) error { return a.Artifacts.Delete(ctx, x) })
}

type gatedQueue struct {
	pipeline.Queue
	gate Gate
}

func (q gatedQueue) Send(ctx context.Context, m pipeline.Message) error {
	call := fmt.Sprintf("send %s #%d", m.ID, m.Pull.Number)
	for _, word := range []string{m.Target, m.Answer, m.Actor} {
		call = strings.TrimSpace(call + " " + word)
	}
	return q.gate(ctx, Effect{Call: call, With: m}, func(ctx context.Context) error { return q.Queue.Send(ctx, m) })
}
