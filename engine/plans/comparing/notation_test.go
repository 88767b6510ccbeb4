package comparing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The notation of a plan, one line a fact:
//
//	+ x.a {size = 1, id = unknown}              an action, as in plans.Action, with the value after
//	~ x.a {size = 1} -> {size = 2}              both values; with d, f and 0 the value before
//	~ x.a deposed=k from=x.b by=other import=i cbd {...} -> {...}
//	invoke action.s.n s.a AfterCreate 0.1 halt {...}   an action of a trigger, with its configuration
//	output o 1 -> 2                             "output o! ..." is sensitive
//	var v 1                                     a root variable
//	state data.d.a {...}                        an object of the prior state
//	drift ~ x.a {...} -> {...}
//	mode R, errored, target x.a, workspace w    options
//
// Values are expressions, with unknown, unknown_text, id_like (an unknown text that begins with
// "i-"), secret(v) and set(...). The type "s" has a schema, with a sensitive attribute "token".

// parsePlan reads a plan.
func parsePlan(text string) (*plans.Plan, error) {
	p := &plans.Plan{Mode: plans.NormalMode, Variables: map[string]cty.Value{}, Backend: plans.Backend{Type: "local", Workspace: "default"}}
	prior := states.Empty().Edit()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "":
		case "invoke":
			var x *plans.Invocation
			x, err = readInvocation(rest)
			p.Invocations = append(p.Invocations, x)
		case "output":
			err = readOutput(p, rest)
		case "var":
			name, expr, _ := strings.Cut(rest, " ")
			p.Variables[name], err = value(expr)
		case "state":
			err = readState(prior, rest)
		case "drift":
			var c *plans.ResourceChange
			c, err = readChange(rest)
			p.Drift = append(p.Drift, c)
		case "mode":
			p.Mode = plans.Mode(rest[0])
		case "errored":
			p.Errored = true
		case "target":
			var t addrs.Target
			t, err = addrs.ParseTarget(rest)
			p.Targets = append(p.Targets, t)
		case "workspace":
			p.Backend.Workspace = rest
		default:
			var c *plans.ResourceChange
			c, err = readChange(line)
			p.Changes = append(p.Changes, c)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	p.PriorState = prior.State()
	return p, nil
}

// secretive is the schema of the type "s".
var secretive = &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{
	"name":  {Type: cty.String, Optional: true},
	"token": {Type: cty.String, Optional: true, Sensitive: true},
}}}

func readInvocation(text string) (*plans.Invocation, error) {
	w := strings.SplitN(text, " ", 6)
	if len(w) < 6 {
		return nil, fmt.Errorf("want ACTION CALLER EVENT TRIGGER.INDEX ON_FAILURE CONFIG")
	}
	x := &plans.Invocation{Provider: provider("main"), Schema: secretive, Event: config.Event(w[2]), OnFailure: config.OnFailure(w[4])}
	var errs [4]error
	x.Addr, errs[0] = addrs.ParseAction(w[0])
	x.Caller, errs[1] = addrs.ParseAbsResourceInstance(w[1])
	_, errs[2] = fmt.Sscanf(w[3], "%d.%d", &x.Trigger, &x.Index)
	x.Config, errs[3] = value(w[5])
	return x, errors.Join(errs[:]...)
}

func readChange(line string) (*plans.ResourceChange, error) {
	word, rest, _ := strings.Cut(line, " ")
	addr, rest, _ := strings.Cut(rest, " ")
	in, err := addrs.ParseAbsResourceInstance(addr)
	if err != nil {
		return nil, err
	}
	c := &plans.ResourceChange{PrevAddr: in, Provider: provider("main")}
	c.Addr.Instance, c.Action = in, plans.Action(word[0])
	if in.Resource.Resource.Type == "s" {
		c.Schema = secretive
	}
	for rest != "" && !strings.HasPrefix(rest, "{") {
		option, after, _ := strings.Cut(rest, " ")
		name, v, _ := strings.Cut(option, "=")
		rest = after
		switch name {
		case "deposed":
			c.Addr.Deposed = addrs.DeposedKey(v)
		case "from":
			c.PrevAddr, err = addrs.ParseAbsResourceInstance(v)
		case "by":
			c.Provider = provider(v)
		case "import":
			c.Importing = &plans.Importing{ID: v, Unknown: v == "unknown"}
		case "cbd":
			c.CreateBeforeDestroy = true
		case "because":
			c.Reason = plans.Reason(v)
		default:
			err = fmt.Errorf("there is no option %q", name)
		}
		if err != nil {
			return nil, err
		}
	}
	c.Before, c.After, err = pair(rest, c.Action)
	return c, err
}

func provider(alias string) addrs.AbsProviderConfig {
	return addrs.AbsProviderConfig{Provider: addrs.Provider{Host: "registry.terraform.io", Namespace: "test", Type: "x"}, Alias: alias}
}

// pair reads the values of a change.
func pair(text string, action plans.Action) (before, after cty.Value, err error) {
	a, b, both := strings.Cut(text, " -> ")
	if a == "" {
		return cty.NilVal, cty.NilVal, nil
	}
	first, err := value(a)
	if err != nil || !both {
		nothing := cty.NullVal(cty.DynamicPseudoType)
		switch action {
		case plans.Delete, plans.Forget:
			return first, nothing, err
		case plans.NoOp:
			return first, first, err
		}
		return nothing, first, err
	}
	after, err = value(b)
	return first, after, err
}

func readOutput(p *plans.Plan, line string) error {
	name, rest, _ := strings.Cut(line, " ")
	o := &plans.OutputChange{Name: strings.TrimSuffix(name, "!"), Sensitive: strings.HasSuffix(name, "!")}
	var err error
	o.Before, o.After, err = pair(rest, plans.Create)
	switch {
	case err != nil:
	case absent(o.Before):
		o.Action = plans.Create
	case absent(o.After):
		o.Action = plans.Delete
	case o.Before.RawEquals(o.After):
		o.Action = plans.NoOp
	default:
		o.Action = plans.Update
	}
	p.Outputs = append(p.Outputs, o)
	return err
}

func readState(to *states.Editor, line string) error {
	addr, expr, _ := strings.Cut(line, " ")
	in, err := addrs.ParseAbsResourceInstance(addr)
	if err != nil {
		return err
	}
	v, err := value(expr)
	to.SetObject(addrs.ResourceInstanceObject{Instance: in}, provider("main"), &states.Object{Status: states.Ready, Value: v})
	return err
}

// value evaluates an expression of the notation.
func value(text string) (cty.Value, error) {
	e, ds := hclsyntax.ParseExpression([]byte(text), "plan", hcl.InitialPos)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	any := function.Parameter{Name: "v", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true}
	secret := function.New(&function.Spec{
		Params: []function.Parameter{any},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return args[0].Mark(marks.Sensitive), nil
		},
	})
	set := function.New(&function.Spec{
		VarParam: &any,
		Type:     func(args []cty.Value) (cty.Type, error) { return cty.Set(args[0].Type()), nil },
		Impl:     func(args []cty.Value, _ cty.Type) (cty.Value, error) { return cty.SetVal(args), nil },
	})
	list := function.New(&function.Spec{
		VarParam: &any,
		Type:     func(args []cty.Value) (cty.Type, error) { return cty.List(args[0].Type()), nil },
		Impl:     func(args []cty.Value, _ cty.Type) (cty.Value, error) { return cty.ListVal(args), nil },
	})
	mapping := function.New(&function.Spec{
		Params: []function.Parameter{any},
		Type: func(args []cty.Value) (cty.Type, error) {
			for _, ty := range args[0].Type().AttributeTypes() {
				return cty.Map(ty), nil
			}
			return cty.EmptyObject, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return cty.MapVal(args[0].AsValueMap()), nil },
	})
	v, ds := e.Value(&hcl.EvalContext{
		Variables: map[string]cty.Value{
			"unknown": cty.DynamicVal, "unknown_text": cty.UnknownVal(cty.String),
			"id_like":   cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("i-").NewValue(),
			"null_text": cty.NullVal(cty.String),
		},
		Functions: map[string]function.Function{"secret": secret, "set": set, "list": list, "map": mapping},
	})
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	return v, nil
}

// text writes a difference: "x.a after.size: 1 -> 2".
func text(d Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", d.Object, d.Aspect)
	for _, step := range d.Path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + step.Name)
		case cty.IndexStep:
			b.WriteString("[" + plainText(step.Key) + "]")
		}
	}
	if d.Sensitive {
		return b.String() + ": hidden"
	}
	return b.String() + ": " + plainText(d.Approved) + " -> " + plainText(d.Now)
}

func plainText(v cty.Value) string {
	switch {
	case v == cty.NilVal:
		return "none"
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	case v.Type() == cty.String:
		return v.AsString()
	case v.Type() == cty.Number:
		return v.AsBigFloat().String()
	case v.Type() == cty.Bool:
		return fmt.Sprint(v.True())
	}
	var parts []string
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if v.Type().IsObjectType() || v.Type().IsMapType() {
			parts = append(parts, k.AsString()+"="+plainText(e))
		} else {
			parts = append(parts, plainText(e))
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}
