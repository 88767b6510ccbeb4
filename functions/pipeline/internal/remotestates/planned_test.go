package remotestates

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// planOf is a plan whose outputs are written "name=value", with "!" before a sensitive one; "?" is an unknown value, "-" the
// end of an output.
func planOf(outputs string) *plans.Plan {
	p := &plans.Plan{Mode: plans.NormalMode}
	for word := range strings.FieldsSeq(outputs) {
		name, value, _ := strings.Cut(word, "=")
		name, sensitive := strings.CutPrefix(name, "!")
		c := &plans.OutputChange{Name: name, Sensitive: sensitive}
		c.Action, c.After = plans.Update, cty.StringVal(value)
		switch value {
		case "?":
			c.After = cty.UnknownVal(cty.String)
		case "-":
			c.Action, c.After = plans.Delete, cty.NullVal(cty.DynamicPseudoType)
		case "null":
			c.After = cty.NullVal(cty.String)
		case "any":
			c.After = cty.DynamicVal
		}
		if sensitive {
			c.After = c.After.Mark(marks.Sensitive)
		}
		p.Outputs = append(p.Outputs, c)
	}
	return p
}

// shown is planOf of outputs.
func shown(all map[string]states.Output) string {
	var out []string
	for name, o := range all {
		if o.Sensitive {
			name = "!" + name
		}
		switch {
		case o.Value.Type() == cty.DynamicPseudoType:
			name += "=any"
		case !o.Value.IsKnown():
			name += "=?"
		default:
			name += "=" + o.Value.AsString()
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// stored is a state of outputs.
func stored(outputs string) *states.State {
	e := states.Empty().Edit()
	for _, c := range planOf(outputs).Outputs {
		e.SetOutput(c.Name, states.Output{Value: marks.Plain(c.After), Sensitive: c.Sensitive})
	}
	return e.State()
}

var sealed = encryption.New(encryption.Target{Enforced: true, Methods: []encryption.Method{
	{Name: "method.aes_gcm.m", Keys: encryption.NewKeys("key_provider.fixed.k", fixed{}, nil)},
}})

// TestEncode is a table of states and plans, and the outputs that others are planned with, encrypted or not.
func TestEncode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, plan, want string }{
		{"", "", ""},
		{"", "a=1 !b=2 c=?", "!b=2 a=1 c=?"},
		{"a=0 gone=x null=x kept=k", "a=1 gone=- null=null", "a=1 kept=k"},
		{"!a=0", "!a=?", "!a=?"},
		{"!a=0", "a=1", "a=1"},
		{"a=0", "a=any", "a=any"},
	} {
		for _, cipher := range []*encryption.Cipher{nil, sealed} {
			data, err := Encode(t.Context(), cipher, stored(c.was), planOf(c.plan))
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			if cipher != nil && (!encryption.IsEncrypted(data) || strings.Contains(string(data), "planned_outputs")) {
				t.Errorf("%v is not encrypted: %s", c, data)
			}
			got, err := decode(t.Context(), cipher, data)
			if err != nil || shown(got) != c.want {
				t.Errorf("%v: %s, %v", c, shown(got), err)
			}
		}
	}
	destroys := planOf("a=-")
	destroys.Mode = plans.DestroyMode
	if data, err := Encode(t.Context(), nil, stored("a=1"), destroys); data != nil || err != nil {
		t.Errorf("of a plan that destroys: %s, %v", data, err)
	}
	for _, bad := range []string{"", "{}", `{"planned_outputs":"AAAA"}`, `{"planned_outputs":"wA=="}`} {
		if _, err := decode(t.Context(), nil, []byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestPlanned reads states, of which others will have other outputs, from a real server. Whoever may not read the state gets
// nothing of them.
func TestPlanned(t *testing.T) {
	b := newBucket(t)
	b.put("vpc", "default", nil, "subnet=one !password=horse")
	b.put("vpc", "blue", nil, "subnet=blue")
	b.put("sealed", "default", sealed, "token=t")
	encode := func(c *encryption.Cipher, outputs string) []byte {
		data, err := Encode(t.Context(), c, states.Empty(), planOf(outputs))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	planned := map[string][]byte{
		"s3://states/vpc": encode(nil, "subnet=two !password=donkey id=?"),
		"s3://states/new": encode(nil, "subnet=first"),
		// Their plans have failed.
		"s3://states/env:/blue/vpc": nil, "s3://states/failed": nil,
		"s3://states/sealed":     encode(sealed, "token=u"),
		"s3://states/sealed-new": encode(sealed, "token=first"),
	}
	for name, c := range map[string]struct {
		key, workspace, secret string
		cipher                 *encryption.Cipher
		want, asked            string
	}{
		"planned":                   {"vpc", "default", statebackendtest.SecretKey, nil, "id=? password=donkey subnet=two", "s3://states/vpc"},
		"without a state":           {"new", "default", statebackendtest.SecretKey, nil, "subnet=first", "s3://states/new"},
		"in a plan that failed":     {"vpc", "blue", statebackendtest.SecretKey, nil, "subnet=blue", "s3://states/env:/blue/vpc"},
		"failed, without a state":   {"failed", "default", statebackendtest.SecretKey, nil, "no state", "s3://states/failed"},
		"of nobody":                 {"else", "default", statebackendtest.SecretKey, nil, "no state", ""},
		"without the right":         {"vpc", "default", "another", nil, "refused", ""},
		"without it, nor a state":   {"new", "default", "another", nil, "refused", ""},
		"encrypted":                 {"sealed", "default", statebackendtest.SecretKey, sealed, "token=u", "s3://states/sealed"},
		"without the key":           {"sealed", "default", statebackendtest.SecretKey, nil, "refused", ""},
		"without the key nor state": {"sealed-new", "default", statebackendtest.SecretKey, nil, "refused", "s3://states/sealed-new"},
		"enforced, and not so":      {"new", "default", statebackendtest.SecretKey, sealed, "refused", "s3://states/new"},
	} {
		r := reader(c.secret)
		r.Cipher = func(string) (*encryption.Cipher, error) { return c.cipher, nil }
		r.Planned = planned
		got, err := r.Read(provider.WithReading(t.Context(), "data.terraform_remote_state.x"), "s3", arguments(c.key), c.workspace)
		text := shownValues(got)
		switch {
		case errors.Is(err, builtin.ErrNoState):
			text = "no state"
		case err != nil:
			text = "refused"
		}
		if asked := strings.Join(r.Asked(), " "); text != c.want || asked != c.asked {
			t.Errorf("%s: %s, asked for %q, %v", name, text, asked, err)
		}
		if name == "planned" && len(r.Sensitive()) != 2 {
			t.Errorf("sensitive are %#v", r.Sensitive())
		}
	}
	if got := (*Reader)(nil).Asked(); got != nil {
		t.Errorf("a nil reader was asked for %v", got)
	}
}

func shownValues(all map[string]cty.Value) string {
	out := map[string]states.Output{}
	for name, v := range all {
		out[name] = states.Output{Value: v}
	}
	return shown(out)
}

// TestRecallPlanned holds that the sensitive outputs of a former plan stay secret beside those of the next one.
func TestRecallPlanned(t *testing.T) {
	b := newBucket(t)
	b.put("vpc", "default", nil, "subnet=one")
	data, err := Encode(t.Context(), nil, states.Empty(), planOf("subnet=three !password=mule id=?"))
	if err != nil {
		t.Fatal(err)
	}
	known := cty.ObjectVal(map[string]cty.Value{
		"subnet": cty.StringVal("two"), "password": cty.StringVal("donkey"), "gone": cty.StringVal("g"), "id": cty.UnknownVal(cty.String),
	})
	for name, c := range map[string]struct {
		config, outputs cty.Value
		want            string
	}{
		"known in part":   {arguments("vpc"), known, `"donkey" "g" "mule"`},
		"not known where": {cty.DynamicVal, cty.DynamicVal, ""},
		"nor its value":   {arguments("vpc"), cty.UnknownVal(known.Type()), `"mule"`},
	} {
		r := reader(statebackendtest.SecretKey)
		r.Planned = map[string][]byte{"s3://states/vpc": data}
		change := &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: addrs.Resource{Mode: addrs.Data, Type: dataSource, Name: "x"}}}}}
		change.Action = plans.Read
		change.After = cty.ObjectVal(map[string]cty.Value{
			"backend": cty.StringVal("s3"), "config": c.config, "workspace": cty.NullVal(cty.String),
			"defaults": cty.NullVal(cty.DynamicPseudoType), "outputs": c.outputs,
		})
		if err := r.Recall(t.Context(), &plans.Plan{Changes: []*plans.ResourceChange{change}}); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, v := range r.Sensitive() {
			if v.IsKnown() && v.Type() == cty.String {
				found[fmt.Sprintf("%q", v.AsString())] = true
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(found)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
