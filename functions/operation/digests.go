package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// Affected returns the option for a plan that reads only the objects that its changes can affect: the digests beside
// the state, or the reason why they cannot be used. Call it after OpenState and OpenProviders. data applies the same
// to data sources.
func (o *Operation) Affected(ctx context.Context, data bool) *engine.Affected {
	record, why := o.digests(ctx)
	return &engine.Affected{Record: record, Why: why, Data: data}
}

// AllRead returns the warning that a plan with this option reads all objects, although somebody has asked for those
// that its changes can affect.
func AllRead(option string) diags.Diagnostics {
	return diags.Warningf(nil, "All objects are read", "A plan with %s always reads all objects, so -refresh=affected has no effect. Leave it out.", option)
}

// digests reads the digests beside the state. If they cannot be used, it returns the reason, as a sentence without a
// full stop. A state without objects has no reason.
func (o *Operation) digests(ctx context.Context) (*digests.Record, string) {
	if o.State.Current.IsEmpty() {
		return nil, ""
	}
	if !o.State.Stored() {
		return nil, "the state has changes that are not stored yet"
	}
	data, err := statebackend.ReadSidecar(ctx, o.State.Workspace)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, fmt.Sprintf("the backend %q cannot keep digests beside the state; use %q or %q", o.Settings.Name(), "s3", "local")
	case err != nil:
		return nil, fmt.Sprintf("the digests beside the state cannot be read: %s", err)
	case data == nil:
		return nil, "no apply with -refresh=affected has kept digests beside the state yet"
	}
	record, err := digests.Decode(data)
	if err != nil {
		return nil, err.Error()
	}
	if why := record.Unfit(o.origin(), time.Now()); why != "" {
		return nil, why
	}
	return record, ""
}

// origin describes the state as it was last read or written, and the present providers.
func (o *Operation) origin() digests.Origin {
	out := digests.Origin{
		Lineage: o.State.Current.Lineage, Serial: o.State.Current.Serial, State: o.State.Sum(), Workspace: o.Workspace,
		Providers: map[string]string{},
	}
	for p, version := range o.Providers.Versions() {
		out.Providers[p.String()] = version
	}
	return out
}

// keepDigests stores the digests beside the state that was just stored. r is nil if the plan did not ask for
// digests. A failure costs the next plan a full refresh, and nothing else.
func (o *Operation) keepDigests(ctx context.Context, p *plans.Plan, r *digests.Record) diags.Diagnostics {
	if r == nil || p.Affected == nil || !o.State.Exists() {
		return nil
	}
	next := &digests.Record{Origin: o.origin(), FullRead: r.FullRead, Entries: r.Entries}
	err := statebackend.WriteSidecar(context.WithoutCancel(ctx), o.State.Workspace, next.Encode())
	if err == nil || errors.Is(err, errors.ErrUnsupported) { // which the plan has said
		return nil
	}
	return diags.Warningf(nil, "The digests were not kept", "%s. The state is complete. The next plan with -refresh=affected reads all objects.", err)
}
