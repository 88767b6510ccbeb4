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

A provisioner is the only action of an apply that no plan describes: a command, with effects that nothing
records. So its rules are about the object.

The creation of an object ends when its provisioners have ended. Until then the object is stored as tainted.
So after a crash or a failure, the next plan replaces it: it may be half set up, and running the remaining
commands could do more harm than creating it again. A destruction begins with the provisioners, and if one
fails, the object stays, with its data. Several provisioners run in the order of the block. The first failure
ends the list, unless the provisioner has on_failure = continue.

The output may contain secrets that the command was given. If any argument of the provisioner is sensitive or
ephemeral, its whole output is hidden, since nobody can find the secret part of a text.

Source: https://developer.hashicorp.com/terraform/language/provisioners
*/

// refused returns errors for provisioners that would have to run but cannot, or must not. It is better to
// refuse the plan than to leave a tainted object.
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

// provisioners returns the provisioners that the change runs if there are no errors.
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

// endsOrderly reports whether provisioners run before an object is destroyed. They do not run for an object
// whose creation failed, nor for an object that already has a successor.
func (x *object) endsOrderly(addr addrs.ResourceInstanceObject, o *states.Object) bool {
	return addr.Deposed == addrs.NotDeposed && o.Status != states.Tainted
}

// ofCreation returns the creation-time provisioners of the object's block.
func (x *object) ofCreation() []*config.Provisioner {
	var out []*config.Provisioner
	for _, p := range x.r.Provisioners {
		if !p.OnDestroy {
			out = append(out, p)
		}
	}
	return out
}

// ofDestruction returns the destroy-time provisioners of an object, from its block or from the removed block
// for it, and the module that contains this block. If an object has neither block, it has no provisioners, as
// in Terraform.
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
				return m, r.Provisioners // a removed block has only destroy-time provisioners
			}
		}
	}
	return nil, nil
}

// afterCreation runs the provisioners of a new object, in the order of the block. It stops at the first
// failure, and the object stays tainted. Arguments that cannot be evaluated also count as a failure: without
// the provisioner the object may be useless.
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

// beforeDestruction runs the destroy-time provisioners of an object. They may refer only to self, count and
// each: when an object is destroyed, everything else may be destroyed already, or removed from the
// configuration. each.value is unknown, since the for_each may no longer have the key.
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

// provision runs one local-exec provisioner. No other type comes here: [applier.refused] refuses a plan that would have
// to run one.
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
	// A stopped command has not failed: on_failure does not allow continuing with a half-made object.
	if problem, stopped := x.localExec(command, val); problem != "" && (!p.Continue || stopped) {
		ds = append(ds, x.provisionError(p, "local-exec provisioner error", problem)...)
	}
	return ds
}

// provisionError returns an error about a provisioner, with its place and its object's address.
func (x *object) provisionError(p *config.Provisioner, summary, detail string) diags.Diagnostics {
	return diags.Errorf(&p.Range, summary, "%s", detail).At(x.address())
}

// localExec runs a command. A stop ends the command: it may wait without end, and it is not a provider call
// whose effect the state must record. localExec sends events, and passes the output to listeners unless it
// may contain secrets: config has the marks. It returns the error with the last part of the output, or "".
// stopped reports whether a stop is the reason.
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

// failure returns the error text for a failed command.
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
