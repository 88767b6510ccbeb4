package providertest

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// rule changes the behaviour of some calls, for a test.
type rule struct {
	op, target string // target: "" any, "thing", "thing.a", "thing.*"
	does       string
	text       string
	attr       string
	value      cty.Value
	once, over bool
}

// On adds a rule. line has the form of a line "on ..." in the description:
//
//	OP [TYPE[.NAME]] [once] BEHAVIOUR
//
// OP is configure, validate, upgrade, upgrade-identity, read, plan, create, update, delete, import,
// move, data, open, renew, close, call, plan-action or invoke; NAME may be "*". The behaviours:
//
//	fail "TEXT"        an error, and nothing is done
//	partial "TEXT"     an error, but everything is done
//	warn "TEXT"        a warning
//	hang               wait until stopped (or ctx ends), then fail
//	crash              the process dies; all later calls of the client fail
//	gone               read: the object does not exist; import: no object has the ID
//	bad ATTR=VALUE     the answer has another value for ATTR (an HCL expression,
//	                   in which "unknown" and "infinite" are values, too)
//	lost               the answer has no object, although everything was done
//	stays              delete: the answer still has the object; plan: the same for a deletion
//	twice              import: the answer has a second object
//	anonymous          the answer has no identity
//	says "TEXT"        invoke: a message about its progress
func (p *Provider) On(line string) {
	r, err := parseRule(words(line))
	if err != nil {
		panic(fmt.Sprintf("on %s: %s", line, err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
}

// Off removes the rules that On added. The rules of the description stay.
func (p *Provider) Off() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = p.rules[:p.described]
}

// unspeakable has the values of bad answers that HCL cannot write.
var unspeakable = &hcl.EvalContext{Variables: map[string]cty.Value{"unknown": cty.DynamicVal, "infinite": cty.PositiveInfinity}}

var behaviours = map[string]bool{
	"fail": true, "partial": true, "warn": true, "hang": true, "crash": true, "gone": true, "bad": true,
	"lost": true, "stays": true, "twice": true, "anonymous": true, "says": true,
}

func parseRule(w []string) (*rule, error) {
	r := &rule{}
	if len(w) > 0 {
		r.op, w = w[0], w[1:]
	}
	if len(w) > 0 && w[0] != "once" && !behaviours[w[0]] {
		r.target, w = w[0], w[1:]
	}
	if len(w) > 0 && w[0] == "once" {
		r.once, w = true, w[1:]
	}
	if len(w) == 0 || !behaviours[w[0]] {
		return nil, fmt.Errorf("want OP [TYPE[.NAME]] [once] BEHAVIOUR")
	}
	r.does = w[0]
	rest := strings.Join(w[1:], " ")
	switch r.does {
	case "bad":
		name, src, ok := strings.Cut(rest, "=")
		expr, hs := hclsyntax.ParseExpression([]byte(src), "value", hcl.InitialPos)
		if !ok || hs.HasErrors() {
			return nil, fmt.Errorf("want bad ATTR=VALUE")
		}
		if r.value, hs = expr.Value(unspeakable); hs.HasErrors() {
			return nil, hs
		}
		r.attr = name
	default:
		if r.text = rest; strings.HasPrefix(rest, `"`) {
			text, err := strconv.Unquote(rest)
			if err != nil {
				return nil, err
			}
			r.text = text
		}
	}
	return r, nil
}

func (r *rule) matches(op, typeName, name string) bool {
	if r.op != op || r.over {
		return false
	}
	if r.target == "" {
		return true
	}
	t, n, one := strings.Cut(r.target, ".")
	return t == typeName && (!one || n == "*" || n == name)
}

// effect is what the rules change in one call.
type effect struct {
	before diags.Diagnostics // warnings; or an error, and then nothing is done
	after  diags.Diagnostics // an error, although everything was done
	gone   bool
	lost   bool
	stays  bool
	twice  bool
	// anonymous means that the answer has no identity.
	anonymous bool
	says      []string
	bad       map[string]cty.Value
}

// begin applies the rules to a call. If record is set, it also adds the call to [Provider.Calls].
func (c *client) begin(ctx context.Context, op, typeName, name string, record bool) effect {
	p := c.p
	call := op
	if typeName != "" {
		call += " " + typeName + "." + name
	}
	p.mu.Lock()
	if record {
		p.calls = append(p.calls, call)
	}
	var rules []rule
	for _, r := range p.rules {
		if r.matches(op, typeName, name) {
			rules = append(rules, *r)
			r.over = r.once
		}
	}
	p.mu.Unlock()
	if p.Hook != nil {
		p.Hook(ctx, call)
	}
	var e effect
	if c.dead.Load() {
		e.before = crashed()
		return e
	}
	for _, r := range rules {
		c.apply(ctx, r, &e)
	}
	return e
}

func (c *client) apply(ctx context.Context, r rule, e *effect) {
	switch r.does {
	case "fail":
		e.before = append(e.before, diags.Errorf(nil, "Asked to fail", "%s", r.text)...)
	case "partial":
		e.after = append(e.after, diags.Errorf(nil, "Asked to fail", "%s", r.text)...)
	case "warn":
		e.before = append(e.before, diags.Warningf(nil, "Asked to warn", "%s", r.text)...)
	case "hang":
		select {
		case <-c.p.stopping:
			e.before = append(e.before, diags.Errorf(nil, "Stopped", "The provider was asked to stop.")...)
		case <-ctx.Done():
			e.before = append(e.before, diags.Errorf(nil, "Request cancelled", "%s", context.Cause(ctx))...)
		}
	case "crash":
		c.dead.Store(true)
		e.before = append(e.before, crashed()...)
	case "gone":
		e.gone = true
	case "lost":
		e.lost = true
	case "stays":
		e.stays = true
	case "twice":
		e.twice = true
	case "anonymous":
		e.anonymous = true
	case "says":
		e.says = append(e.says, r.text)
	case "bad":
		if e.bad == nil {
			e.bad = map[string]cty.Value{}
		}
		e.bad[r.attr] = r.value
	}
}

func crashed() diags.Diagnostics {
	return diags.Errorf(nil, "Plugin did not respond", "The plugin crashed.")
}

// spoil returns the object of an answer with the bad values in it, or without the object if the rules say so.
func (e effect) spoil(v cty.Value) cty.Value {
	if e.lost {
		return cty.NullVal(v.Type())
	}
	if len(e.bad) == 0 || v.IsNull() {
		return v
	}
	attrs := v.AsValueMap()
	for name, bad := range e.bad {
		switch attrs[name] = bad; {
		case !bad.IsKnown():
			attrs[name] = cty.UnknownVal(v.Type().AttributeType(name))
		case bad.IsNull():
			attrs[name] = cty.NullVal(v.Type().AttributeType(name))
		}
	}
	return cty.ObjectVal(attrs)
}
