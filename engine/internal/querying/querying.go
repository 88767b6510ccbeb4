// Package querying runs the list blocks of a configuration: it asks providers for existing objects. It makes
// no difference whether a state has these objects.
//
// It keeps no object: each one goes to the caller when it arrives, so that ten thousand need no more memory than one. It refuses to
// know states, plans and where results are shown. Start at [Query].
package querying

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// DefaultLimit is the number of objects that a list block without the argument limit returns at most. Source: Terraform 1.14.
const DefaultLimit = 100

// An Input is a configuration with list blocks.
type Input struct {
	session.Environment
	Variables map[string]cty.Value // the root module's, converted
	// Generate asks for whole objects, and for the blocks that import them.
	Generate bool
	// Tell is called for each step, one at a time. It returns false to end the query.
	Tell func(events.Query) bool
}

// Query runs all list blocks, in the order of the files. A block that fails does not keep the others from running.
func Query(ctx context.Context, in Input) diags.Diagnostics {
	q := newQuery(ctx, in, false)
	var ds diags.Diagnostics
	for _, l := range in.Config.Root.Lists {
		ds = append(ds, q.block(ctx, l, q.list)...)
		if q.ended || ctx.Err() != nil {
			break
		}
	}
	return append(append(ds, q.s.Diagnostics()...), q.s.Eval.Diagnostics()...).Unreported()
}

// Validate checks all list blocks, as far as this is possible without a configured provider.
func Validate(ctx context.Context, in Input) diags.Diagnostics {
	q := newQuery(ctx, in, true)
	var ds diags.Diagnostics
	for _, l := range in.Config.Root.Lists {
		ds = append(ds, q.block(ctx, l, q.validate)...)
	}
	return append(ds, q.s.Eval.Diagnostics()...).Unreported()
}

// A query is one call of [Query].
type query struct {
	Input
	s        *session.Session
	validate func(context.Context, *request) diags.Diagnostics
	static   bool // nothing is asked for: values may be unknown
	ended    bool
	names    names
}

func newQuery(ctx context.Context, in Input, static bool) *query {
	q := &query{Input: in, names: names{}, static: static, s: &session.Session{Environment: in.Environment, Known: !static}}
	q.s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: in.Variables, Unexpanded: static,
		// A query needs no state, so all resources are unknown.
		Resource: func(context.Context, addrs.AbsResource, []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
			return cty.DynamicVal, nil
		},
	})
	q.validate = func(ctx context.Context, r *request) diags.Diagnostics {
		client, ds := q.Providers.Unconfigured(ctx, r.provider.Provider)
		if ds.HasErrors() || !r.Config.IsWhollyKnown() {
			return ds
		}
		return append(ds, r.place(client.ValidateList(ctx, r.ListRequest))...)
	}
	return q
}

// A request is one instance of a list block, evaluated.
type request struct {
	provider.ListRequest
	block    *config.List
	address  string
	key      addrs.InstanceKey
	provider addrs.AbsProviderConfig
	declared *schema.Provider
	of       *schema.Schema // of the objects
	body     *schema.Bound
	shown    cty.Value // see [events.Query.Config]
}

// place adds to diagnostics of a provider the source range in the list block, and the address of the block's
// instance.
func (r *request) place(ds diags.Diagnostics) diags.Diagnostics {
	for i := range ds {
		if ds[i].Subject == nil {
			at := r.body.Locate(ds[i].Attribute)
			if r.block.Config == nil {
				at = r.block.Range
			}
			ds[i].Subject = &at
		}
		if ds[i].Address == "" {
			ds[i].Address = r.address
		}
	}
	return ds
}

// block evaluates a list block, and calls do for each of its instances.
func (q *query) block(ctx context.Context, l *config.List, do func(context.Context, *request) diags.Diagnostics) diags.Diagnostics {
	root := q.Config.Root
	r := request{block: l, provider: root.ProviderConfig(l.Provider)}
	var ds diags.Diagnostics
	if r.declared, ds = q.Providers.Schema(ctx, r.provider.Provider); ds.HasErrors() {
		return ds
	}
	list := r.declared.Resource("list", l.Type)
	if list == nil {
		return append(ds, diags.Errorf(&l.TypeRange, "Resource type cannot be listed",
			"The provider %s cannot list objects of the type %q.%s", r.provider.Provider.ForDisplay(), l.Type, diags.Suggest(l.Type, r.declared.Names("list")))...)
	}
	if r.of = r.declared.Resource("managed", l.Type); r.of == nil || r.of.Identity == nil {
		return append(ds, diags.Errorf(&l.TypeRange, "Resource type without identities",
			"The provider %s lists objects of the type %q, but declares no identities for them. This is a bug in the provider: report it there.", r.provider.Provider.ForDisplay(), l.Type)...)
	}
	instances, more := q.s.Eval.ResourceInstances(addrs.RootModuleInstance, &config.Resource{Addr: l.Resource(), Repetition: l.Repetition})
	ds = append(ds, more...)
	body := l.Config
	if body == nil {
		body = hcl.EmptyBody()
	}
	r.body = list.Block.Bind(body)
	for i := range instances {
		one := r
		one.key = instances[i].Key
		one.address = l.String() + one.key.String()
		more := q.evaluate(&one, eval.Scope{Instance: &instances[i]})
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		if ds = append(ds, do(ctx, &one)...); q.ended || ctx.Err() != nil {
			break
		}
	}
	return ds
}

// evaluate evaluates the arguments of one instance.
func (q *query) evaluate(r *request, s eval.Scope) diags.Diagnostics {
	l := r.block
	r.TypeName, r.Limit, r.Objects = l.Type, DefaultLimit, q.Generate
	ctx, ds := q.s.Eval.BlockContext(l, s)
	if ds.HasErrors() {
		return ds
	}
	v, more := r.body.Decode(ctx)
	if ds = append(ds, more...); ds.HasErrors() {
		return r.place(ds)
	}
	r.Config = marks.Plain(v)
	if !q.static && !r.Config.IsWhollyKnown() {
		return append(ds, diags.Errorf(&l.Range, "Value is not known in a query",
			"The config block of %s refers to a value that a query does not know. Use literal values, input variables and local values made of such only.", l)...)
	}
	if l.Config != nil && !marks.Any(v) {
		r.shown = r.Config
	}
	limit, more := q.argument(l.Limit, "limit", cty.Number, s)
	if ds = append(ds, more...); limit != cty.NilVal && limit.IsKnown() {
		n, _ := limit.AsBigFloat().Int64()
		if !limit.AsBigFloat().IsInt() || n < 1 {
			return append(ds, diags.Errorf(l.Limit.Range().Ptr(), "Invalid limit", "The limit is the number of objects that %s returns at most. Write a whole number from 1 on.", l)...)
		}
		r.Limit = n
	}
	whole, more := q.argument(l.IncludeResource, "include_resource", cty.Bool, s)
	if ds = append(ds, more...); whole != cty.NilVal && whole.IsKnown() {
		r.Objects = r.Objects || whole.True()
	}
	return ds
}

// argument evaluates an argument; cty.NilVal if it is absent, null or invalid.
func (q *query) argument(x hcl.Expression, name string, ty cty.Type, s eval.Scope) (cty.Value, diags.Diagnostics) {
	if x == nil {
		return cty.NilVal, nil
	}
	v, ds := q.s.Eval.Expr(x, s)
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	v, err := convert.Convert(marks.Plain(v), ty)
	switch {
	case err != nil:
		return cty.NilVal, append(ds, diags.Errorf(x.Range().Ptr(), "Incorrect value type", "The argument %q must be a %s: %s.", name, ty.FriendlyName(), err)...)
	case v.IsKnown() && v.IsNull():
		return cty.NilVal, ds
	case !v.IsKnown() && !q.static:
		return cty.NilVal, append(ds, diags.Errorf(x.Range().Ptr(), "Value is not known in a query", "The argument %q refers to a value that a query does not know. Use literal values, input variables and local values made of such only.", name)...)
	}
	return v, ds
}

// tell sends an event to the caller of [Query]. It returns false if the caller wants no more events.
func (q *query) tell(e events.Query) bool {
	q.ended = q.ended || !q.Tell(e)
	return !q.ended
}

// mostWarnings is how many warnings about objects of one list block are kept.
const mostWarnings = 20

// list asks the provider for the objects of one instance.
func (q *query) list(ctx context.Context, r *request) (ds diags.Diagnostics) {
	client, ds := q.s.Client(ctx, r.provider)
	if ds.HasErrors() {
		return ds
	}
	if ds = append(ds, r.place(client.ValidateList(ctx, r.ListRequest))...); ds.HasErrors() {
		return ds
	}
	step := events.Query{Address: r.address, Type: r.TypeName}
	start := step
	start.Kind, start.Config = events.QueryStart, r.shown
	if !q.tell(start) {
		return ds
	}
	step.Kind = events.QueryFound
	dropped, failed := 0, false
	more := client.List(ctx, r.ListRequest, func(x provider.Listed) bool {
		for _, d := range r.place(x.Diagnostics) {
			if d.Severity == diags.Warning && len(ds) >= mostWarnings {
				dropped++
				continue
			}
			ds = append(ds, d)
		}
		if failed = x.Diagnostics.HasErrors(); failed || x.Identity == cty.NilVal {
			return !failed
		}
		if !x.Identity.IsWhollyKnown() {
			ds = append(ds, diags.Errorf(&r.block.Range, "Provider produced invalid identity", "The provider %s listed an object of the type %q whose identity is not wholly known. This is a bug in the provider: report it there.", r.provider.Provider.ForDisplay(), r.TypeName)...)
			return false
		}
		if !budget.Printable(x.Identity) || x.Object != cty.NilVal && !budget.Printable(x.Object) {
			ds = append(ds, diags.Errorf(&r.block.Range, "Provider produced invalid object", "The provider %s listed an object of the type %q with a number that is out of range. This is a bug in the provider: report it there.", r.provider.Provider.ForDisplay(), r.TypeName)...)
			failed = true
			return false
		}
		var more diags.Diagnostics
		step.Found, more = q.found(ctx, client, r, x, step.Total)
		if ds = append(ds, more...); more.HasErrors() {
			failed = true
			return false
		}
		step.Total++
		return q.tell(step) && int64(step.Total) < r.Limit
	})
	if dropped > 0 {
		ds = append(ds, diags.Warningf(&r.block.Range, "Further warnings", "The provider gave %d more warnings about objects of %s.", dropped, r.address)...)
	}
	if ds = append(ds, r.place(more)...); ds.HasErrors() || q.ended {
		return ds
	}
	if r.block.Limit == nil && int64(step.Total) == r.Limit {
		ds = append(ds, diags.Warningf(&r.block.Range, "Query ended at its limit",
			"%s has returned %d objects, the most without the argument limit. There may be more: write limit = 10000, for example.", r.address, step.Total)...)
	}
	step.Kind, step.Found = events.QueryComplete, events.Found{}
	q.tell(step)
	return ds
}

// found returns the result for one object. n is the number of the object.
func (q *query) found(ctx context.Context, client provider.Client, r *request, x provider.Listed, n int) (events.Found, diags.Diagnostics) {
	f := events.Found{DisplayName: x.DisplayName, Identity: x.Identity, IdentityVersion: r.of.Identity.Version, Object: x.Object}
	if f.Object != cty.NilVal {
		f.Secrets = r.of.Block.SensitivePaths(f.Object)
	}
	if !q.Generate {
		return f, nil
	}
	if f.Object == cty.NilVal {
		return f, diags.Errorf(&r.block.Range, "Provider lists no whole object",
			"The provider %s listed %q without its attributes, so no configuration can be generated for it. Run the query without -generate-config-out, and write import blocks with the identities that it shows.", r.provider.Provider.ForDisplay(), fmt.Sprint(x.DisplayName))
	}
	value := f.Object
	var ds diags.Diagnostics
	if r.declared.GenerateConfig {
		if value, ds = client.GenerateConfig(ctx, r.TypeName, value); ds.HasErrors() {
			return f, r.place(ds)
		}
		if value.IsNull() || !value.IsWhollyKnown() || !budget.Printable(value) {
			value = f.Object
		}
	}
	f.Resource, f.Import = q.names.blocks(q.Config.Root, r, value, x.Identity, n)
	return f, r.place(ds)
}
