package applying

import (
	"context"
	"maps"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A keeper collects the digests to store beside the state. The nil keeper collects nothing.
type keeper struct {
	from *digests.Record // of the plan

	mu      sync.Mutex
	entries map[string]digests.Entry
}

func newKeeper(p *plans.Plan) *keeper {
	if p.Affected == nil || p.Affected.Digests == nil {
		return nil
	}
	return &keeper{from: p.Affected.Digests, entries: map[string]digests.Entry{}}
}

// add keeps the digest of an instance that was just made or read with that configuration. An instance whose
// change or postcondition failed has no digest, so the next plan reads it.
func (k *keeper) add(ctx context.Context, x *object, config cty.Value) {
	if k == nil {
		return
	}
	sum, _, ok := x.a.s.Digest(ctx, session.Digesting{Provider: x.c.Provider, Resource: x.r, Schema: x.rs, Addr: x.c.Addr.Instance, Config: config})
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries[x.c.Addr.Instance.String()] = digests.Entry{Sum: sum}
}

// record returns the digests after the apply.
func (k *keeper) record() *digests.Record {
	if k == nil {
		return nil
	}
	out := &digests.Record{FullRead: k.from.FullRead, Entries: maps.Clone(k.from.Entries)}
	if out.Entries == nil {
		out.Entries = map[string]digests.Entry{}
	}
	maps.Copy(out.Entries, k.entries)
	return out
}
