// Package providertest has providers for tests: a fake one that a few lines of text describe ([New]), and the
// real plugins that a checkout has installed ([Find]).
//
// The fake obeys a provider's rules unless its description breaks them. It also checks the engine: it panics
// if the engine breaks a rule of package provider, for example with a value that does not conform, or a call
// before the configuration.
package providertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A Provider is a fake provider with its objects. All its clients see the same objects. It is safe for
// concurrent use.
type Provider struct {
	// Hook, if set, is called at the beginning of each call, with the call's line in [Provider.Calls]. It may
	// block. Set it before the first call.
	Hook func(ctx context.Context, call string)
	// RenewAfter is the time after which an opened ephemeral resource must be renewed; 0 means never. Set it
	// before the first call.
	RenewAfter time.Duration
	// Call, if set, implements the functions. By default a function joins its arguments as text.
	Call func(name string, args []cty.Value) (cty.Value, error)

	declared *schema.Provider
	traits   map[string]map[string]traits // of managed types, by attribute
	legacy   bool
	// described is the number of rules in the description.
	described int

	mu       sync.Mutex
	rules    []*rule // the first ones are those of the description
	calls    []string
	objects  map[objectKey]object
	ids      map[objectKey]bool // every ID that was ever used
	stopping chan struct{}      // closed by Stop
}

// objectKey identifies an object of the fake. place has the object's attributes with the trait "place".
type objectKey struct{ typeName, id, place string }

// object is an object's value, and the number of times that it was written.
type object struct {
	value    cty.Value
	revision int
}

// New returns the provider that text describes. If the text is not valid, the test fails. The notation has
// one thing on each line; "#" begins a comment:
//
//	provider legacy plan_destroy unmovable   all three words are optional
//	  region string optional
//	resource thing version=1 identity=2   both versions are optional
//	  id    string computed keep          a computed value changes with each change
//	  name  string required replace       of the object, unless "keep"; a change of a
//	  color string optional was=colour    "replace" attribute needs a new object;
//	  note  string optional computed      "was" is its name in older states; "place"
//	  zone  string required place         distinguishes objects with the same ID
//	  pass  string optional writeonly
//	  area  string required identity      belongs to the identity; "identity=optional"
//	                                      need not be set for an import
//	  rule  block(list) min=1 max=3 {     single, group, list, set, map
//	    port number required
//	  }
//	  shape nested(single) optional {     single, list, set, map
//	    width number required
//	  }
//	data thing
//	  name string required
//	ephemeral token
//	  name string required
//	list thing                            lists the objects whose attributes are equal to these
//	  color string optional
//	action notify
//	  name string required
//	function greet(who string, more... string) string
//	on create thing.a fail "no quota"     see [Provider.On]
//
// Types are type constraints without spaces outside of brackets. Objects are identified by their attribute
// "id", which is made of "name" and a number: "a-1".
func New(t testing.TB, text string) *Provider {
	t.Helper()
	p, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Client returns a new client that is not configured yet. Each client is like a new process.
func (p *Provider) Client() provider.Client { return &client{p: p} }

// Start is a [provider.Factory]. It returns [Provider.Client].
func (p *Provider) Start(context.Context, *schema.Provider) (provider.Client, error) {
	return p.Client(), nil
}

// Declared returns the schema of the provider.
func (p *Provider) Declared() *schema.Provider { return p.declared }

// Calls returns the calls so far in the order of their beginnings: "configure",
// "plan thing.a", "create thing.a", "read thing.a", "data thing.a", "import thing.a-1", "invoke notify.a".
// Schema, validation, upgrade and function calls are left out.
func (p *Provider) Calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// forgetCalls makes the list of [Provider.Calls] empty again.
func (p *Provider) forgetCalls() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = nil
}

// Objects returns the existing objects, one on each line, sorted: `thing a-1 { ... }`. Null attributes are
// left out.
func (p *Provider) Objects() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for key, obj := range p.objects {
		attrs := obj.value.AsValueMap()
		text := ""
		for _, name := range slices.Sorted(maps.Keys(attrs)) {
			if v := attrs[name]; !v.IsNull() && name != "id" {
				text += fmt.Sprintf(" %s=%s", name, hclwrite.TokensForValue(v).Bytes())
			}
		}
		out = append(out, fmt.Sprintf("%s %s {%s }", key.typeName, key.id, text))
	}
	slices.Sort(out)
	return out
}

// Object returns the object with a type and an ID, among the objects without a place; cty.NilVal if there is
// none.
func (p *Provider) Object(typeName, id string) cty.Value {
	return p.object(objectKey{typeName: typeName, id: id})
}

func (p *Provider) object(key objectKey) cty.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.objects[key].value
}

// Edit changes attributes of an object, or creates the object, as if somebody did so without the engine.
func (p *Provider) Edit(typeName, id string, attrs map[string]cty.Value) {
	s := p.declared.Managed[typeName]
	if s == nil {
		panic("no resource type " + typeName)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := objectKey{typeName: typeName, id: id}
	obj := p.objects[key]
	if obj.value == cty.NilVal {
		obj.value = s.Block.EmptyValue()
	}
	values := obj.value.AsValueMap()
	maps.Copy(values, attrs)
	if _, ok := values["id"]; ok {
		values["id"] = cty.StringVal(id)
	}
	v, err := s.Block.Coerce(cty.ObjectVal(values))
	if err != nil {
		panic(fmt.Sprintf("edit %s %s: %s", typeName, id, err))
	}
	obj.value = v
	p.objects[key] = obj
	p.ids[key] = true
}

// Drop deletes an object, as if somebody did so without the engine.
func (p *Provider) Drop(typeName, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.objects, objectKey{typeName: typeName, id: id})
}
