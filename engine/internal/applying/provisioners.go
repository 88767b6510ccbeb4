package applying

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/states"
)

/*
# Provisioners

A provisioner is the one action of an apply that no plan describes: a command, with effects that
nobody records. So the rules around it are about the object.

A creation with provisioners is over when they are. Until then the object is stored as tainted, so that a crash
or a failure leaves one that the next plan replaces: it may be half set up, and running the rest
on it could do more harm than making it anew. A destruction begins with them, and one that fails
keeps the object, with its data. The order of several is that of the block, and the first that
fails ends the list, unless it has on_failure = continue.

Output may hold secrets that the command was given. If any argument of the provisioner is sensitive or
ephemeral, its whole output is kept back, since nobody can tell the secret part of a text.

Source: https://developer.hashicorp.com/terraform/language/provisioners
*/

// refused reports the provisioners that would have to run, but cannot or must not: better
// before anything has happened than behind an object that is tainted by it.
func (a *applier) refused() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, c := range a.in.Plan.Changes {
		x := a.of(c)
		for _, p := range x.provisioners() {
			if p.Type != "local-exec" || a.in.LocalExec == nil {
				ds = append(ds, provisioning.Refused(p.Type, &p.Range, x.address())...)
			}
		}
	}
	return ds
}

// provisioners returns those that the change will run if all goes well.
func (x *object) provisioners() []*config.Provisioner {
	var out []*config.Provisioner
	if x.r != nil && (x.c.Action == plans.Create || x.c.Action.IsReplace()) {
		out = append(out, x.ofCreation()...)
	}
	if x.c.Action == plans.Delete || x.c.Action == plans.DeleteThenCreate {
		if o := x.a.record.object(x.c.Addr); o != nil && x.endsOrderly(x.c.Addr, o) {
			_, list := x.ofDestruction()
			out = append(out, list...)
		}
	}
	return out
}

// endsOrderly reports whether provisioners run before the destruction of an object: not
// for one whose creation did not succeed, nor for one that has a successor already.
func (x *object) endsOrderly(addr addrs.ResourceInstanceObject, o *states.Object) bool {
	return addr.Deposed == addrs.NotDeposed && o.Status != states.Tainted
}

// ofCreation returns the provisioners that an object of the block has for its beginning.
func (x *object) ofCreation() []*config.Provisioner {
	var out []*config.Provisioner
	for _, p := range x.r.Provisioners {
		if !p.OnDestroy {
			out = append(out, p)
		}
	}
	return out
}

// ofDestruction returns the provisioners that an object has for its end, by its block or
// by the removed block that speaks of it, and the module that they are written in. An object whose block is
// gone without a removed block has none any more, as in Terraform.
func (x *object) ofDestruction() (*config.Module, []*config.Provisioner) {
	if x.r != nil {
		var out []*config.Provisioner
		for _, p := range x.r.Provisioners {
			if p.OnDestroy {
				out = append(out, p)
			}
		}
		return x.a.in.Config.Modules[x.cr.Module], out
	}
	for _, m := range x.a.in.Config.Order {
		for _, r := range m.Removed {
			if mod, res := r.Static(m.Addr); mod == x.cr.Module && res == x.cr.Resource {
				return m, r.Provisioners // a removed block has no others
			}
		}
	}
	return nil, nil
}

// afterCreation runs the provisioners that a new object has, in the order of the block. The first that
// fails ends it, and the object stays tainted. So does the first whose arguments cannot be evaluated:
// nobody can tell whether the object is of use without it.
func (x *object) afterCreation(self cty.Value) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, p := range x.ofCreation() {
		scope, more := x.a.values.scope(x.c.Addr.Instance, x.r)
		if ds = append(ds, more...); ds.HasErrors() {
			return ds
		}
		scope.Self = self
		ctx, more := x.a.s.Eval.BlockContext(p, scope)
		if ds = append(ds, more...); ds.HasErrors() {
			return ds
		}
		if ds = append(ds, x.provision(p, ctx)...); ds.HasErrors() {
			return ds
		}
	}
	return ds
}

// beforeDestruction runs the provisioners that an object has for its end. They may refer to self,
// count and each only: by the time of a destruction, anything else may be destroyed, or out of
// the configuration. each.value is unknown, since the for_each may have lost the key.
func (x *object) beforeDestruction(self cty.Value) diags.Diagnostics {
	m, list := x.ofDestruction()
	var ds diags.Diagnostics
	for _, p := range list {
		ctx := x.a.s.Eval.Detached(m, eval.Scope{Module: x.c.Addr.Instance.Module, Instance: session.Undeclared(x.c.Addr.Instance.Resource.Key), Self: self})
		if ds = append(ds, x.provision(p, ctx)...); ds.HasErrors() {
			return ds
		}
	}
	return ds
}

// provision runs one provisioner, which is a local-exec: see [applier.refused].
func (x *object) provision(p *config.Provisioner, ctx *hcl.EvalContext) diags.Diagnostics {
	val, ds := provisioning.Schema(p.Type).Decode(p.Body, ctx)
	if ds.HasErrors() {
		return ds.At(x.address())
	}
	plain := marks.Plain(val)
	if !plain.IsWhollyKnown() {
		return append(ds, x.provisionError(p, "Invalid provisioner configuration", "The provisioner's arguments depend on values that are not known.")...)
	}
	command, err := provisioning.LocalExec(plain)
	if err != nil {
		return append(ds, x.provisionError(p, "Invalid local-exec provisioner command", "In the local-exec provisioner, "+err.Error()+".")...)
	}
	// A command that a stop ended has not failed: on_failure is no permission to go on with an object half made.
	if problem, stopped := x.localExec(command, val); problem != "" && (!p.Continue || stopped) {
		ds = append(ds, x.provisionError(p, "local-exec provisioner error", problem)...)
	}
	return ds
}

// provisionError is an error about a provisioner, with its place and its object's address.
func (x *object) provisionError(p *config.Provisioner, summary, detail string) diags.Diagnostics {
	return diags.Errorf(&p.Range, summary, "%s", detail).At(x.address())
}

// localExec runs a command, which ends at a stop: it may wait without end, and is no provider call
// whose effect the state would have to know. It sends events, and passes its output on to
// listeners unless that may hold secrets:
// config has the marks. It returns the error, with the last part of the output, or "", and whether the
// stop is the reason.
func (x *object) localExec(c provisioning.Command, config cty.Value) (problem string, stopped bool) {
	hidden := ""
	switch {
	case marks.Contains(config, marks.Ephemeral):
		hidden = "(output suppressed due to ephemeral value in config)"
	case marks.Contains(config, marks.Sensitive):
		hidden = "(output suppressed due to sensitive value in config)"
	}
	ev := events.Event{Kind: events.ProvisionStart, Addr: x.c.Addr, Provisioner: "local-exec"}
	x.a.in.Events.Send(ev)
	say := func(line string) {
		out := ev
		if out.Kind, out.Text = events.ProvisionOutput, line; hidden != "" {
			out.Text = hidden
		}
		x.a.in.Events.Send(out)
	}
	if c.Quiet {
		say("local-exec: Executing: Suppressed by quiet=true")
	} else {
		say(fmt.Sprintf("Executing: %q", c.Args))
	}
	var tail provisioning.Tail
	start := time.Now()
	err := x.a.in.LocalExec(x.a.ctx, c, func(line string) { tail.Add(line); say(line) })
	ev.Kind, ev.Elapsed = events.ProvisionDone, time.Since(start)
	if err != nil {
		ev.Kind = events.ProvisionFailed
		problem = failure(c, err, tail.String(), hidden)
	}
	x.a.in.Events.Send(ev)
	return problem, err != nil && errors.Is(err, context.Cause(x.a.ctx))
}

// failure returns the error text for a command.
func failure(c provisioning.Command, err error, output, hidden string) string {
	var b strings.Builder
	if b.WriteString("Error running command"); !c.Quiet && hidden == "" {
		fmt.Fprintf(&b, " '%s'", c.Text)
	}
	fmt.Fprintf(&b, ": %s.", err)
	switch {
	case hidden != "":
		b.WriteString(" " + hidden)
	case output != "":
		b.WriteString(" Output: " + output)
	}
	return b.String()
}
