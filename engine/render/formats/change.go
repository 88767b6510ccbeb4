package formats

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// actionNames are the values of "actions" in plans, in the order in which the steps run.
var actionNames = map[plans.Action][]string{
	plans.NoOp:             {"no-op"},
	plans.Create:           {"create"},
	plans.Read:             {"read"},
	plans.Update:           {"update"},
	plans.DeleteThenCreate: {"delete", "create"},
	plans.CreateThenDelete: {"create", "delete"},
	plans.Delete:           {"delete"},
	plans.Forget:           {"forget"},
	plans.Open:             {"open"},
}

// drift writes the differences of objects from the state. Objects that only moved are included in a plan that
// only refreshes, because nothing else shows them there.
func (t *jsonText) drift(p *plans.Plan) {
	var list []*plans.ResourceChange
	for _, c := range p.Drift {
		if c.Action != plans.NoOp || p.Mode == plans.RefreshOnlyMode {
			list = append(list, c)
		}
	}
	t.resourceChanges("resource_drift", list)
}

// resourceChanges writes a list of changes, unless it is empty. A data source that is removed from the state
// is not listed: no real object changes.
func (t *jsonText) resourceChanges(name string, list []*plans.ResourceChange) {
	some := false
	for _, c := range list {
		if c.Action == plans.Delete && c.Addr.Instance.Resource.Resource.Mode == addrs.Data {
			continue
		}
		if !some {
			some = true
			t.key(name)
			t.openArray()
		}
		t.resourceChange(c)
	}
	if some {
		t.closeArray()
	}
}

func (t *jsonText) resourceChange(c *plans.ResourceChange) {
	in := c.Addr.Instance
	t.openObject()
	t.member("address", in.String())
	if c.PrevAddr != in && c.PrevAddr != (addrs.AbsResourceInstance{}) {
		t.member("previous_address", c.PrevAddr.String())
	}
	t.optional("module_address", in.Module.String())
	t.resourceParts(in.Resource, c.Provider.Provider)
	t.optional("deposed", string(c.Addr.Deposed))
	t.key("change")
	t.openObject()
	t.actions(c.Action, c.KeepsOld)
	t.values(c)
	t.replacePaths(c.RequiredReplace)
	t.importing(c)
	t.identity("before_identity", c.BeforeIdentity)
	t.identity("after_identity", c.AfterIdentity)
	t.closeObject()
	t.optional("action_reason", string(c.Reason))
	t.closeObject()
}

// actions writes the steps of an action. If keeps is set, a replacement forgets the old object instead of
// destroying it.
func (t *jsonText) actions(a plans.Action, keeps bool) {
	t.key("actions")
	t.openArray()
	for _, n := range actionNames[a] {
		if keeps && n == "delete" {
			n = "forget"
		}
		t.string(n)
	}
	t.closeArray()
}

// values writes an object before and after the change, with the masks of unknown and sensitive values. The
// mask of unknown values is empty if the whole object is known. Texts that are also in planned_values are
// copied from there.
func (t *jsonText) values(c *plans.ResourceChange) {
	done, written := t.planned[c]
	c = c.Decoded()
	if c.Before != cty.NilVal {
		t.key("before")
		t.attributes(c.Before, c.Schema)
	}
	if c.After != cty.NilVal {
		whole := false
		switch {
		case written:
			t.key("after")
			t.repeat(done.values)
			whole = done.whole
		case isKnown(c.After):
			t.key("after")
			whole = t.attributes(c.After, c.Schema)
		}
		t.key("after_unknown")
		if whole {
			t.rawString("{}")
		} else {
			t.unknown(c.After)
		}
	}
	if c.Before != cty.NilVal {
		t.key("before_sensitive")
		t.sensitiveAttributes(c.Before, c.Schema)
	}
	if c.After != cty.NilVal {
		t.key("after_sensitive")
		if written && !c.Action.IsReplace() {
			t.repeat(done.sensitive)
		} else {
			t.sensitiveAttributes(c.After, c.Schema)
		}
	}
}

func (t *jsonText) replacePaths(paths []cty.Path) {
	if len(paths) == 0 {
		return
	}
	t.key("replace_paths")
	t.openArray()
	for _, p := range paths {
		t.path(p)
	}
	t.closeArray()
}

func (t *jsonText) importing(c *plans.ResourceChange) {
	if c.Importing != nil {
		t.key("importing")
		t.openObject()
		t.optional("id", c.Importing.ID)
		if c.Importing.Unknown {
			t.flag("unknown", true)
		}
		t.identity("identity", c.Importing.Identity)
		t.closeObject()
	}
	t.optional("generated_config", c.GeneratedConfig)
}

// identity writes an identity, unless there is none or it is unknown.
func (t *jsonText) identity(name string, v cty.Value) {
	if v == cty.NilVal || v.IsNull() || !v.IsWhollyKnown() {
		return
	}
	t.key(name)
	t.value(v)
}

// outputChanges writes the changes of root outputs. A plan has only one flag for an output that was or will
// be sensitive, so both sides get this flag.
func (t *jsonText) outputChanges(list []*plans.OutputChange) {
	if len(list) == 0 {
		return
	}
	t.key("output_changes")
	t.openObject()
	for _, o := range list {
		t.key(o.Name)
		t.openObject()
		t.actions(o.Action, false)
		before := marks.Plain(o.Before)
		after := marks.Plain(o.After)
		t.key("before")
		t.value(before)
		if after.IsKnown() {
			t.key("after")
			t.value(after)
		}
		t.key("after_unknown")
		if after.IsWhollyKnown() {
			t.bool(false)
		} else {
			t.unknown(after)
		}
		t.flag("before_sensitive", o.Sensitive)
		t.flag("after_sensitive", o.Sensitive)
		t.closeObject()
	}
	t.closeObject()
}
