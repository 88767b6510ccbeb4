package session

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// An Ephemeral is an ephemeral resource instance to open.
type Ephemeral struct {
	Addr     addrs.AbsResourceInstance
	Client   provider.Client
	Resource *config.Resource
	Schema   *schema.Schema
	Scope    eval.Scope
	// Defer says that something it depends on is about to change.
	Defer bool
}

// opened is an ephemeral resource instance to close at the end.
type opened struct {
	client   provider.Client
	typeName string
	private  []byte
	addr     string
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
	if ds.HasErrors() || e.Defer || !plain.IsWhollyKnown() {
		return unknown, ds
	}
	resp, more := e.Client.OpenEphemeral(ctx, e.Resource.Addr.Type, plain)
	if ds = append(ds, s.Place(more, e.Resource, e.Schema, addr)...); ds.HasErrors() {
		return unknown, ds
	}
	s.mu.Lock()
	s.opened = append(s.opened, opened{e.Client, e.Resource.Addr.Type, resp.Private, addr})
	s.mu.Unlock()
	val := MarkSensitive(resp.Result, e.Schema, sensitive)
	self := e.Scope
	self.Self = val
	more = s.Eval.Conditions(e.Resource.Postconditions, self, ResourceSubject(e.Addr), "Resource postcondition failed")
	return val.Mark(marks.Ephemeral), append(ds, more...)
}

// CloseEphemerals closes what was opened, the last one first.
func (s *Session) CloseEphemerals(ctx context.Context) diags.Diagnostics {
	s.mu.Lock()
	list := s.opened
	s.opened = nil
	s.mu.Unlock()
	var ds diags.Diagnostics
	for i := len(list) - 1; i >= 0; i-- {
		o := list[i]
		ds = append(ds, o.client.CloseEphemeral(ctx, o.typeName, o.private).At(o.addr)...)
	}
	return ds
}
