package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// An Ephemeral is an ephemeral resource instance to open.
type Ephemeral struct {
	Addr     addrs.AbsResourceInstance
	Provider addrs.AbsProviderConfig
	Client   provider.Client
	Resource *config.Resource
	Schema   *schema.Schema
	Scope    eval.Scope
}

// doing sends the event that an operation on an ephemeral resource instance begins. operation is "open",
// "renew" or "close". The caller calls done when the operation has ended, and says whether it has failed.
func (s *Session) doing(operation string, addr addrs.AbsResourceInstance) (done func(failed bool)) {
	begun := time.Now()
	e := events.Event{Kind: events.EphemeralStart, Addr: addrs.ResourceInstanceObject{Instance: addr}, Text: operation}
	s.Events.Send(e)
	return func(failed bool) {
		if e.Kind, e.Elapsed = events.EphemeralDone, time.Since(begun); failed {
			e.Kind = events.EphemeralFailed
		}
		s.Events.Send(e)
	}
}

// opened is an open ephemeral resource instance. It is renewed when needed, and closed at the end.
type opened struct {
	s    *Session
	e    Ephemeral
	stop func() // stops the renewals

	private []byte            // private data for the next call
	found   diags.Diagnostics // diagnostics of renewals
}

// shortestRenewal is the shortest time between two renewals of an instance. Without it, Lockstep would call a
// provider without a pause if it asks for renewal at a time in the past.
const shortestRenewal = time.Second

// renew renews an instance. It returns when to renew again; the zero time means never.
func (o *opened) renew(ctx context.Context) time.Time {
	done := o.s.doing("renew", o.e.Addr)
	resp, ds := o.e.Client.RenewEphemeral(ctx, o.e.Resource.Addr.Type, o.private)
	done(ds.HasErrors())
	if o.found = append(o.found, ds...); ds.HasErrors() {
		return time.Time{}
	}
	o.private = resp.Private
	if soonest := time.Now().Add(shortestRenewal); !resp.RenewAt.IsZero() && resp.RenewAt.Before(soonest) {
		return soonest
	}
	return resp.RenewAt
}

// OpenEphemeral opens an ephemeral resource instance and returns its value, which is marked ephemeral as a
// whole. If the configuration is unknown, nothing is opened, and the value is unknown.
// [Session.CloseEphemerals] closes the instance.
func (s *Session) OpenEphemeral(ctx context.Context, e Ephemeral) (cty.Value, diags.Diagnostics) {
	addr := e.Addr.String()
	unknown := cty.UnknownVal(e.Schema.Block.ImpliedType()).Mark(marks.Ephemeral)
	ds := s.Eval.Conditions(e.Resource.Preconditions, e.Scope, ResourceSubject(e.Addr), "Resource precondition failed")
	if ds.HasErrors() {
		return unknown, ds
	}
	config, more := s.ResourceConfig(e.Resource, e.Schema, e.Scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return unknown, ds
	}
	s.recordEphemeral(e, config)
	plain, sensitive := marks.Paths(config, marks.Sensitive)
	ds = append(ds, s.Place(e.Client.ValidateEphemeral(ctx, e.Resource.Addr.Type, plain), e.Resource, e.Schema, addr)...)
	if ds.HasErrors() || !plain.IsWhollyKnown() {
		return unknown, ds
	}
	done := s.doing("open", e.Addr)
	resp, more := e.Client.OpenEphemeral(provider.WithInstance(ctx, e.Addr), e.Resource.Addr.Type, plain)
	done(more.HasErrors())
	if ds = append(ds, s.Place(more, e.Resource, e.Schema, addr)...); ds.HasErrors() {
		return unknown, ds
	}
	s.keepOpen(ctx, &opened{s: s, e: e, private: resp.Private}, resp.RenewAt)
	val := MarkSensitive(resp.Result, e.Schema, sensitive)
	self := e.Scope
	self.Self = val
	more = s.Eval.Conditions(e.Resource.Postconditions, self, ResourceSubject(e.Addr), "Resource postcondition failed")
	return val.Mark(marks.Ephemeral), append(ds, more...)
}

// keepOpen renews an opened instance when needed, until [Session.CloseEphemerals] closes it.
func (s *Session) keepOpen(ctx context.Context, o *opened, renewAt time.Time) {
	o.stop = func() {}
	if !renewAt.IsZero() {
		ctx = context.WithoutCancel(ctx)
		o.stop = walk.At(renewAt, func() time.Time { return o.renew(ctx) })
	}
	s.mu.Lock()
	s.opened = append(s.opened, o)
	s.mu.Unlock()
}

// CloseEphemerals closes all opened instances. It closes resources in the reverse order of their opening, and
// the instances of one resource in the order of their addresses.
func (s *Session) CloseEphemerals(ctx context.Context) diags.Diagnostics {
	s.mu.Lock()
	list := s.opened
	s.opened = nil
	s.mu.Unlock()
	last := map[addrs.ConfigResource]int{}
	for i, o := range list {
		last[o.e.Addr.Config()] = i
	}
	slices.SortFunc(list, func(a, b *opened) int {
		return cmp.Or(cmp.Compare(last[b.e.Addr.Config()], last[a.e.Addr.Config()]), a.e.Addr.Compare(b.e.Addr))
	})
	var ds diags.Diagnostics
	for _, o := range list {
		o.stop()
		done := s.doing("close", o.e.Addr)
		more := o.e.Client.CloseEphemeral(ctx, o.e.Resource.Addr.Type, o.private)
		done(more.HasErrors())
		ds = append(ds, s.Place(append(o.found, more...), o.e.Resource, o.e.Schema, o.e.Addr.String())...)
	}
	return ds
}
