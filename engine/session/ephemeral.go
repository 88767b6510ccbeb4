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
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// An Ephemeral is an ephemeral resource instance to open.
type Ephemeral struct {
	Addr     addrs.AbsResourceInstance
	Client   provider.Client
	Resource *config.Resource
	Schema   *schema.Schema
	Scope    eval.Scope
}

// opened is an ephemeral resource instance to close at the end, and to renew until then.
type opened struct {
	client   provider.Client
	typeName string
	addr     addrs.AbsResourceInstance
	resource *config.Resource
	schema   *schema.Schema
	stop     func() // ends renewing

	private []byte            // for the next call about it
	found   diags.Diagnostics // what renewing had to say
}

// shortestRenewal is how long what was just renewed is left alone, whatever time its provider
// gave: one that lies in the past would be asked for again and again.
const shortestRenewal = time.Second

// renew renews an instance, and returns when to do so again; zero is never.
func (o *opened) renew(ctx context.Context) time.Time {
	resp, ds := o.client.RenewEphemeral(ctx, o.typeName, o.private)
	if o.found = append(o.found, ds...); ds.HasErrors() {
		return time.Time{}
	}
	o.private = resp.Private
	if soonest := time.Now().Add(shortestRenewal); !resp.RenewAt.IsZero() && resp.RenewAt.Before(soonest) {
		return soonest
	}
	return resp.RenewAt
}

// OpenEphemeral opens an ephemeral resource instance and returns its value, all of
// it marked ephemeral. While the configuration is not known, neither is the value.
// [Session.CloseEphemerals] closes it.
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
	plain, sensitive := marks.Paths(config, marks.Sensitive)
	ds = append(ds, s.Place(e.Client.ValidateEphemeral(ctx, e.Resource.Addr.Type, plain), e.Resource, e.Schema, addr)...)
	if ds.HasErrors() || !plain.IsWhollyKnown() {
		return unknown, ds
	}
	resp, more := e.Client.OpenEphemeral(ctx, e.Resource.Addr.Type, plain)
	if ds = append(ds, s.Place(more, e.Resource, e.Schema, addr)...); ds.HasErrors() {
		return unknown, ds
	}
	s.keepOpen(ctx, &opened{
		client: e.Client, typeName: e.Resource.Addr.Type, addr: e.Addr, resource: e.Resource, schema: e.Schema, private: resp.Private,
	}, resp.RenewAt)
	val := MarkSensitive(resp.Result, e.Schema, sensitive)
	self := e.Scope
	self.Self = val
	more = s.Eval.Conditions(e.Resource.Postconditions, self, ResourceSubject(e.Addr), "Resource postcondition failed")
	return val.Mark(marks.Ephemeral), append(ds, more...)
}

// keepOpen notes what is to be closed, and sees that it stays good until then.
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

// CloseEphemerals closes what was opened, the resource that came last first, and of one
// resource the instances in their order.
func (s *Session) CloseEphemerals(ctx context.Context) diags.Diagnostics {
	s.mu.Lock()
	list := s.opened
	s.opened = nil
	s.mu.Unlock()
	last := map[addrs.ConfigResource]int{}
	for i, o := range list {
		last[o.addr.Config()] = i
	}
	slices.SortFunc(list, func(a, b *opened) int {
		return cmp.Or(cmp.Compare(last[b.addr.Config()], last[a.addr.Config()]), a.addr.Compare(b.addr))
	})
	var ds diags.Diagnostics
	for _, o := range list {
		o.stop()
		found := append(o.found, o.client.CloseEphemeral(ctx, o.typeName, o.private)...)
		ds = append(ds, s.Place(found, o.resource, o.schema, o.addr.String())...)
	}
	return ds
}
