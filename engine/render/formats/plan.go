package formats

import (
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// planFormat is the version of the plan format that Terraform 1.11 writes; see
// https://developer.hashicorp.com/terraform/internals/json-format.
const planFormat = "1.2"

// Plan returns plan in Terraform's JSON plan format, the output of `show -json PLAN`. It contains sensitive
// values, with masks of their paths. cfg is the planned configuration; if it is nil, that part is left out.
// Plan fails if the prior state has an object that cannot be read.
func Plan(p *plans.Plan, cfg *config.Config, schemas Schemas) ([]byte, error) {
	t := &jsonText{jsonWriter: jsonWriter{make([]byte, 0, 1024+2048*len(p.Changes))}, unsigned: true}
	t.openObject()
	t.member("format_version", planFormat)
	var spoken language.Version
	if cfg != nil {
		spoken = cfg.Language
	}
	t.member("terraform_version", spoken.Release())
	t.variables(p, cfg)
	if err := t.plannedValues(p); err != nil {
		return nil, err
	}
	t.drift(p)
	t.resourceChanges("resource_changes", p.Changes)
	t.outputChanges(p.Outputs)
	t.invocations(p.Invocations)
	t.unsigned = false // Terraform reads from a plan file only the members before this one.
	if p.PriorState != nil && !p.PriorState.IsEmpty() {
		t.key("prior_state") // The prior state is written without checks, because the plan has newer ones.
		if err := t.state(p.PriorState, schemas, false); err != nil {
			return nil, err
		}
	}
	if cfg != nil {
		t.key("configuration")
		if err := t.marshal(configuration(cfg, schemas)); err != nil {
			return nil, err
		}
	}
	t.relevant(p.Relevant)
	t.checks(p.Checks)
	if !p.Timestamp.IsZero() {
		t.member("timestamp", p.Timestamp.UTC().Format(time.RFC3339))
	}
	if a := p.Affected; a != nil {
		t.key("refresh_affected")
		if err := t.marshal(AffectedOf(a)); err != nil {
			return nil, err
		}
	}
	t.flag("applyable", p.Applyable)
	t.flag("complete", p.Complete)
	t.flag("errored", p.Errored)
	t.closeObject()
	return t.b, nil
}

// variables writes the root module's variables. Variables that were not set, and ephemeral ones, have their
// defaults.
func (t *jsonText) variables(p *plans.Plan, cfg *config.Config) {
	values := maps.Clone(p.Variables)
	if values == nil {
		values = map[string]cty.Value{}
	}
	if cfg != nil {
		for name, v := range cfg.Root.Variables {
			if _, set := values[name]; !set && v.Default != cty.NilVal {
				values[name] = v.Default
			}
		}
	}
	if len(values) == 0 {
		return
	}
	t.key("variables")
	t.openObject()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t.key(name)
		t.openObject()
		if v := values[name]; v != cty.NilVal && isKnown(v) {
			t.key("value")
			t.value(v)
		}
		t.closeObject()
	}
	t.closeObject()
}

// plannedValues writes the values after the plan, without unknown ones: first outputs, then objects by
// module. The text of each object is kept for its change, which follows.
func (t *jsonText) plannedValues(p *plans.Plan) error {
	t.key("planned_values")
	t.openObject()
	if err := t.plannedOutputs(p.Outputs); err != nil {
		return err
	}
	root := newModuleTree()
	t.planned = make(map[*plans.ResourceChange]plannedText, len(p.Changes))
	for _, c := range p.Changes {
		// Forgotten objects will not be managed. Terraform has left them out since 1.15.6:
		// https://github.com/hashicorp/terraform/issues/38641.
		if c.Action == plans.Delete || c.Action == plans.Forget || c.Addr.Deposed != addrs.NotDeposed {
			continue
		}
		root.add(c.Addr.Instance.Module, moduleResource{
			address: c.Addr.Instance.String(),
			write:   func(t *jsonText, address string) { t.plannedResource(c, address) },
		})
	}
	t.key("root_module")
	t.module(root)
	t.closeObject()
	return nil
}

func (t *jsonText) plannedOutputs(outputs []*plans.OutputChange) error {
	if !slices.ContainsFunc(outputs, func(o *plans.OutputChange) bool { return o.Action != plans.Delete }) {
		return nil
	}
	t.key("outputs")
	t.openObject()
	for _, o := range outputs {
		if o.Action == plans.Delete {
			continue
		}
		t.key(o.Name)
		t.openObject()
		t.flag("sensitive", o.Sensitive)
		if o.After.IsWhollyKnown() {
			after := marks.Plain(o.After)
			t.key("type")
			if err := t.ctyType(after.Type()); err != nil {
				return err
			}
			t.key("value")
			t.value(after)
		}
		t.closeObject()
	}
	t.closeObject()
	return nil
}

func (t *jsonText) plannedResource(of *plans.ResourceChange, address string) {
	c := of.Decoded()
	t.openObject()
	t.member("address", address)
	t.resourceParts(c.Addr.Instance.Resource, c.Provider.Provider)
	t.key("schema_version")
	t.int(schemaVersion(c.Schema))
	var x plannedText
	before := len(t.b)
	t.key("values")
	n := len(t.b)
	x.whole = t.attributes(c.After, c.Schema)
	if x.values = t.since(n); string(t.b[x.values.from:]) == "{}" {
		// No part of the value is known. Then Terraform writes no member "values" in planned_values. (The
		// change of the object does have the value.)
		t.b = t.b[:before]
		t.key("sensitive_values")
		t.sensitiveAttributes(c.After, c.Schema)
		t.plannedIdentity(c)
		t.closeObject()
		return
	}
	t.key("sensitive_values")
	if c.Action.IsReplace() {
		t.sensitive(unmarkNulls(c.After))
	} else {
		n = len(t.b)
		t.sensitiveAttributes(c.After, c.Schema)
		x.sensitive = t.since(n)
	}
	t.plannedIdentity(c)
	t.closeObject()
	t.planned[of] = x
}

// plannedIdentity writes the identity of a planned object, unless there is none or it is unknown.
func (t *jsonText) plannedIdentity(c *plans.ResourceChange) {
	if c.Schema == nil || c.Schema.Identity == nil || c.AfterIdentity == cty.NilVal || c.AfterIdentity.IsNull() || !c.AfterIdentity.IsWhollyKnown() {
		return
	}
	t.key("identity_schema_version")
	t.int(c.Schema.Identity.Version)
	t.identity("identity", c.AfterIdentity)
}

// unmarkNulls returns v without marks on nulls. For a replaced object, Terraform's mask omits sensitive nulls
// in the planned values, but not in the change.
func unmarkNulls(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if bare, _ := v.Unmark(); bare.IsNull() {
			return bare, nil
		}
		return v, nil
	})
	if err != nil {
		return v
	}
	return out
}

// plannedText says where in the output the text of an object's planned value is. The change of the object
// copies this text, except the mask of a replaced object.
type plannedText struct {
	values, sensitive span
	whole             bool // the whole object is known
}

func schemaVersion(s *schema.Schema) int64 {
	if s == nil {
		return 0
	}
	return s.Version
}

// resourceParts writes the parts of a resource instance's address within its module.
func (t *jsonText) resourceParts(r addrs.ResourceInstance, p addrs.Provider) {
	t.member("mode", r.Resource.Mode.String())
	t.member("type", r.Resource.Type)
	t.member("name", r.Resource.Name)
	t.instanceKey("index", r.Key)
	t.member("provider_name", p.String())
}

// attributes writes an object's value without its unknown parts. It reports whether the whole value is known.
func (t *jsonText) attributes(v cty.Value, s *schema.Schema) bool {
	return t.object(v, t.shape(s))
}

// sensitiveAttributes writes the mask of the sensitive values in an object.
func (t *jsonText) sensitiveAttributes(v cty.Value, s *schema.Schema) {
	t.sensitiveObject(v, t.shape(s))
}

func (t *jsonText) shape(s *schema.Schema) *shape {
	if s == nil {
		return nil
	}
	if t.shapes == nil {
		t.shapes = shapes{}
	}
	return t.shapes.of(s.Block)
}

// relevant writes the attributes that influenced the changes.
func (t *jsonText) relevant(list []plans.RelevantAttribute) {
	if len(list) == 0 {
		return
	}
	t.key("relevant_attributes")
	t.openArray()
	for _, r := range list {
		t.openObject()
		t.member("resource", r.Resource.String())
		t.key("attribute")
		t.path(r.Attribute)
		t.closeObject()
	}
	t.closeArray()
}
