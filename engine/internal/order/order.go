// Package order turns planned changes into steps, and determines the order of the steps. It contains all of
// Terraform's destroy ordering, as a pure function from data to data: it evaluates nothing and calls nothing.
//
// It refuses to know what a change does to an object, why it is made, and how steps are run: package walk
// visits the graph, and package applying carries out each step. Start at [Steps], after the essay below.
package order

/*
# Why order is hard

Creating is easy: make dependencies first. Destroying is the same in reverse. An apply does both at once, on
overlapping sets of objects, and the two orders contradict each other. Every rule below is about the order of
two steps. Most are about the deletion of one object and the making of another (creating, updating or reading
it, which is all the same here), where either order may be right.

Write x -> d for "x depends on d", D(x) for the deletion of an object of x, M(x) for the making of one. A
replaced object has both. The configuration has the current dependencies of x. The state has stored the direct
and indirect dependencies that x had when it was made. They are kept apart because they are about different
objects: M(x) makes the object of the configuration, D(x) deletes the object of the state. They may contradict
each other: a -> b in the state may have become b -> a in the configuration, and both objects may be replaced.

# Necessary edges

 1. M(d) before M(x) if x -> d in the configuration: the arguments of x are unknown before. A no-op counts as
    making here: its conditions are checked again with the new values of other objects, and its dependents
    must not begin if that check fails.
 2. D(x) before M(x) of a replaced object, or after it if the object is create-before-destroy. The plan has
    chosen this order, and the result in the state depends on it, so this package must not change it.
 3. M(d) before D(x) if the configuration of x's provider needs d. Nothing is deleted without a provider, and
    a provider is configured once, with the new values.

If the configuration has no cycle, these rules cannot contradict each other: by them, only M(x) itself comes
after D(x).

# Wishes, which may be dropped

The other edges are wishes, strongest first. If not all of them can be kept, the weaker one is dropped.

 4. D(x) before D(d) if x -> d in the state. Real infrastructure enforces this: a network cannot be deleted
    while it has machines. Also if x's provider needs d, because x could not be deleted after d.
 5. M(x) before D(d) if x -> d in the state and D(d) is create-before-destroy. This is the purpose of the
    setting: the users of the old object change to the new one before the old one is deleted. Even if there is
    no new one, x stops using the old one first. A deposed object also waits for M of its own instance.
 6. D(x) before M(d) if x -> d in the state and D(x) is not create-before-destroy. The old object may prevent
    the change of d. And if both are replaced, all old objects are deleted before any new one is made.
 7. D(d) before M(x) if x -> d in the state and D(d) is not create-before-destroy: a removed dependency is
    deleted before its former dependent is updated. That is odd, but Terraform does it. The reverse of 6
    belongs here, too: M(d) before D(x) if D(x) is create-before-destroy, since then new objects come before
    old ones are deleted.
 8. As 4 to 7, in this order again, if x -> d in the configuration only. So a state that has not stored the
    dependencies of x is still destroyed in order. And when x is made, the objects of d that should be deleted
    no longer exist: a list of all objects of d is right.

 9. D(x) before d is forgotten, if x -> d in the state: while x exists, the state has its dependencies.
    Nothing comes after forgetting d, so this edge is never dropped.

D(x) is create-before-destroy in three cases: it is the old half of a change that creates first; it deletes a
deposed object, which such a change has left; or it deletes an object without a successor for which the
setting was in effect. A no-op does not count as making in 4 to 8, with one exception: it waits by 8 for the
edges of 7, so that a new x with x -> y -> d waits for D(d) through y.

# Differences from Terraform

Terraform adds these edges as if nothing were create-before-destroy. Then it inverts the edges between a
create-before-destroy deletion and the steps that make objects. To avoid cycles, it must force the setting on
everything that a create-before-destroy object depends on. Otherwise M(x) < D(x) < D(d) < M(x). It forces the
setting by the configuration, but deletes objects of older configurations, which only states have. This
package forces nothing. In that cycle, 7 is the weakest and is dropped, with the same result.

Terraform refuses some of its own plans because of a cycle (tried with 1.11.4):

  - a -> b in the state, b -> a in the configuration, both replaced;
  - x -> d -> e in the state, d create-before-destroy and removed from the configuration, e replaced, x
    updated: D(d) after M(x), M(x) after M(e), M(e) after D(e), D(e) after D(d).

Here a wish is dropped: 8 in the first case, 5 in the second.

Terraform drops an edge only between objects of different provider configurations. Its case is this: y is
removed from the configuration, its provider is configured from r, r is replaced. It does D(r), M(r), then
D(y), although y -> r in the state. The result is the same here: 3 is necessary, 4 is dropped. But Terraform
looks for the cycle before it inverts edges. So it drops D(y) before D(r) even if r is create-before-destroy,
although the cycle then disappears. Here that edge stays.

An edge is dropped only if necessary: a dropped edge is added again if, in the end, it closes no cycle. So two
steps of a rule always have an order: that of the rule, or else the opposite.

# Instances

Dependencies are between resources and mean every instance. There are three exceptions, all from Terraform.
Rule 2 is about one instance. For 4 to 8, objects in different instances of the same module do not depend on
each other (except through providers). For 1, a configuration that refers to d only by `d[0]` means only this
instance, in every instance of the module.

Between a thousand instances and a thousand others there are a million pairs. So if a dependency means more
than one step, the edges go through a [Barrier], a step that does nothing. The number of edges then grows with
the changes and the lengths of their lists. A barrier is never dropped as a whole: each pair connected through
it is dropped separately.
*/

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A Change is the part of a planned change that matters for the order. The lists are only read; instances of
// a resource should share them.
type Change struct {
	// Object is the object that changes: the current object of an instance, or a deposed one.
	Object addrs.ResourceInstanceObject
	// Config is the address of the block that Object belongs to. The block may no longer exist.
	Config addrs.ConfigResource
	// Action is anything but Open. A deposed object can only be deleted or forgotten.
	Action plans.Action
	// CreateBeforeDestroy is the setting in effect: from the configuration, forced by a dependent, or,
	// without configuration, stored in the state. It matters only for objects that are deleted; for a
	// replacement, Action includes it.
	CreateBeforeDestroy bool
	// Provider is the provider configuration used for the change.
	Provider addrs.AbsProviderConfig

	// ConfigDeps are the resources that the configuration of Object needs, at least the direct ones.
	// Dependencies without an effect are replaced by their own dependencies: data sources that are already
	// read, ephemeral resources, providers, resources without instances. A resource without a change orders
	// nothing, not even its own dependencies. No-ops are changes.
	ConfigDeps []addrs.ConfigResource
	// OnlyInstances are those of ConfigDeps to which the configuration refers only with literal keys, and these
	// keys. Rule 1 of the essay in this package then applies only to these instances. If one of the instances
	// does not exist, the rule applies to all instances.
	OnlyInstances map[addrs.ConfigResource][]addrs.InstanceKey
	// ProviderDeps are the resources that the configuration of Provider needs, with any change. They may also
	// be in ConfigDeps. If an object is deleted and its resource makes nothing, ConfigDeps with another
	// provider configuration count as ProviderDeps: an object without a block has no other ConfigDeps.
	ProviderDeps []addrs.ConfigResource
	// StoredDeps are the dependencies that the state has stored with Object, direct and indirect.
	StoredDeps []addrs.ConfigResource
}

// A Verb is the action of a step.
type Verb byte

const (
	Create  Verb = '+'
	Update  Verb = '~'
	Delete  Verb = 'd'
	Read    Verb = 'r' // reads a data source
	Forget  Verb = 'f' // removes the object from the state without calling a provider
	Verify  Verb = 'v' // checks the conditions of an instance that does not change
	Barrier Verb = '|' // does nothing; joins the edges of many steps
)

// String returns the verb as a word: "create", "update" and so on.
func (v Verb) String() string {
	switch v {
	case Create:
		return "create"
	case Update:
		return "update"
	case Delete:
		return "delete"
	case Read:
		return "read"
	case Forget:
		return "forget"
	case Verify:
		return "verify"
	case Barrier:
		return "barrier"
	}
	return "invalid"
}

// A Step is a change, or one of its two parts: a replacement has a Delete and a Create step.
type Step struct {
	Change int // index of the change, or -1 for a Barrier
	Verb   Verb
}

// Graph is all steps and, for each step, the indices of the steps that it must come after. It has no cycle.
// The steps are in the order of the changes, followed by barriers.
type Graph struct {
	Steps []Step
	After [][]int32
}

// Steps determines the order of changes. The result depends only on the list. The order of the list decides
// ties. Time and memory grow linearly with the number of changes and the lengths of their lists, except
// around cycles of wishes.
//
// No-op changes of current objects become Verify steps; no-op changes of deposed objects give no step. Steps
// panics if resources that are made have configuration dependencies with a cycle, or if a change has an
// impossible action: both are bugs in Lockstep.
func Steps(changes []Change) Graph {
	b := newBuilder(changes)
	steps := len(b.steps)
	for i := range changes {
		b.order(i)
	}
	e, ok := untangle(len(b.steps), steps, b.edges)
	if !ok {
		panic("order: the configuration has a cycle:" + b.describe())
	}
	return Graph{Steps: b.steps, After: e.after(len(b.steps))}
}
