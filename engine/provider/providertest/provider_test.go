package providertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

const labText = `
provider plan_destroy
  region string optional

resource thing version=1   # the one that everything happens to
  id    string computed keep
  name  string required replace
  color string optional was=colour
  tier  string computed
  pass  string optional writeonly
  tags  map(string) optional
  opts  object({ a = string, b = optional(number) }) optional
  rule  block(list) max=3 {
    port number required
    host string computed
  }
  shape nested(single) optional {
    width number required
  }
data thing
  name  string required
  color string computed
ephemeral token
  name  string required
  token string computed sensitive
function greet(who string, more... string) string
on create thing.bad fail "no \"quota\""
on update thing.a once partial "half done"
on plan thing.liar bad color="other"
`

// ready returns a configured client.
func ready(t *testing.T, p *Provider) provider.Client {
	t.Helper()
	c := p.Client()
	if ds := c.Configure(t.Context(), p.Declared().Provider.Block.EmptyValue()); ds.HasErrors() {
		t.Fatal(ds)
	}
	return c
}

// thing is a configuration of the type thing.
func thing(p *Provider, attrs map[string]cty.Value) cty.Value {
	values := p.Declared().Managed["thing"].Block.EmptyValue().AsValueMap()
	for name, v := range attrs {
		values[name] = v
	}
	return cty.ObjectVal(values)
}

// change plans and applies as an engine does; config null deletes.
func change(t *testing.T, p *Provider, c provider.Client, prior, config cty.Value, private []byte) (provider.PlanResponse, provider.ApplyResponse, error) {
	t.Helper()
	b := p.Declared().Managed["thing"].Block
	ty := b.ImpliedType()
	if prior == cty.NilVal {
		prior = cty.NullVal(ty)
	}
	proposed := config
	if config == cty.NilVal {
		config, proposed = cty.NullVal(ty), cty.NullVal(ty)
	} else {
		proposed = schema.ProposedNew(b, prior, config)
	}
	plan, ds := c.Plan(t.Context(), provider.PlanRequest{TypeName: "thing", Prior: prior, Proposed: proposed, Config: config, Private: private})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	done, ds := c.Apply(t.Context(), provider.ApplyRequest{TypeName: "thing", Prior: prior, Planned: plan.Planned, Config: config, Private: plan.Private})
	return plan, done, ds.Err()
}

// TestLife follows one object from its creation to its end.
func TestLife(t *testing.T) {
	p := New(t, labText)
	c := ready(t, p)
	null := cty.NullVal(p.Declared().Managed["thing"].Block.ImpliedType())
	config := thing(p, map[string]cty.Value{
		"name": cty.StringVal("a"), "pass": cty.StringVal("secret"),
		"rule": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"port": cty.NumberIntVal(80), "host": cty.NullVal(cty.String)})}),
	})

	plan, done, err := change(t, p, c, null, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "tier"} {
		if plan.Planned.GetAttr(name).IsKnown() {
			t.Errorf("%s is known before the creation", name)
		}
	}
	if got := done.New.GetAttr("tier").AsString(); got != "tier-a-1" {
		t.Errorf("tier is %q", got)
	}
	want := []string{`thing a-1 { name="a" rule=[{ host = "host-a-1" port = 80 }] tier="tier-a-1" }`}
	if diff := cmp.Diff(want, oneLine(p.Objects())); diff != "" {
		t.Error(diff)
	}

	same, ds := c.Plan(t.Context(), provider.PlanRequest{TypeName: "thing", Prior: done.New, Config: config,
		Proposed: schema.ProposedNew(p.Declared().Managed["thing"].Block, done.New, config)})
	if ds.HasErrors() || !same.Planned.RawEquals(done.New) {
		t.Errorf("the same configuration gives a change: %#v", same.Planned)
	}

	painted := config.AsValueMap()
	painted["color"] = cty.StringVal("red")
	p.forgetCalls()
	plan, done, err = change(t, p, c, done.New, cty.ObjectVal(painted), done.Private)
	if plan.Planned.GetAttr("tier").IsKnown() || !plan.Planned.GetAttr("id").IsKnown() {
		t.Errorf("planned update: %#v", plan.Planned)
	}
	if err == nil || !strings.Contains(err.Error(), "half done") || done.New.GetAttr("color").AsString() != "red" {
		t.Errorf("partial update: %v, %#v", err, done.New)
	}

	renamed := config.AsValueMap()
	renamed["name"] = cty.StringVal("z")
	plan, _ = c.Plan(t.Context(), provider.PlanRequest{TypeName: "thing", Prior: done.New, Config: cty.ObjectVal(renamed),
		Proposed: schema.ProposedNew(p.Declared().Managed["thing"].Block, done.New, cty.ObjectVal(renamed))})
	if len(plan.RequiresReplace) != 1 || !plan.RequiresReplace[0].Equals(cty.GetAttrPath("name")) {
		t.Errorf("another name needs the replacement of %v", plan.RequiresReplace)
	}

	if _, _, err := change(t, p, c, done.New, cty.NilVal, done.Private); err != nil {
		t.Fatal(err)
	}
	if got := p.Objects(); len(got) != 0 {
		t.Errorf("after the end there is %v", got)
	}
	wantCalls := []string{"plan thing.a", "update thing.a", "plan thing.z", "plan thing.a", "delete thing.a"}
	if diff := cmp.Diff(wantCalls, p.Calls()); diff != "" {
		t.Error(diff)
	}

	_, done, _ = change(t, p, c, null, config, nil)
	if got := done.New.GetAttr("id").AsString(); got != "a-2" {
		t.Errorf("an ID is given out again: %s", got)
	}
}

func oneLine(lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

// TestMisbehaviour tries the rules.
func TestMisbehaviour(t *testing.T) {
	p := New(t, labText)
	c := ready(t, p)
	_, _, err := change(t, p, c, cty.NilVal, thing(p, map[string]cty.Value{"name": cty.StringVal("bad")}), nil)
	if err == nil || !strings.Contains(err.Error(), `no "quota"`) || len(p.Objects()) > 0 {
		t.Errorf("a creation that was to fail: %v, %v", err, p.Objects())
	}
	plan, done, err := change(t, p, c, cty.NilVal, thing(p, map[string]cty.Value{"name": cty.StringVal("liar")}), nil)
	if got := plan.Planned.GetAttr("color"); err != nil || !got.RawEquals(cty.StringVal("other")) {
		t.Errorf("a bad plan: %#v, %v", got, err)
	}
	if _, ds := c.Read(t.Context(), provider.ReadRequest{TypeName: "thing", Prior: done.New, Private: []byte("private of another")}); !ds.HasErrors() {
		t.Error("another object's private data went unnoticed")
	}
	p.Edit("thing", "liar-1", map[string]cty.Value{"color": cty.StringVal("blue")})
	read, _ := c.Read(t.Context(), provider.ReadRequest{TypeName: "thing", Prior: done.New, Private: done.Private})
	if got := read.New.GetAttr("color"); !got.RawEquals(cty.StringVal("blue")) {
		t.Errorf("drift: %#v", got)
	}
	p.On("read thing.* gone")
	if read, _ = c.Read(t.Context(), provider.ReadRequest{TypeName: "thing", Prior: done.New}); !read.New.IsNull() {
		t.Errorf("what is gone is %#v", read.New)
	}
	p.On("data thing hang")
	stopped := make(chan error)
	p.Hook = func(_ context.Context, call string) {
		if strings.HasPrefix(call, "data") {
			go func() { stopped <- c.Stop(t.Context()) }()
		}
	}
	config := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("liar"), "color": cty.NullVal(cty.String)})
	if _, ds := c.ReadData(t.Context(), "thing", config, cty.NilVal); !ds.HasErrors() || ds[0].Summary != "Stopped" {
		t.Errorf("a call that hangs ends with %v", ds)
	}
	<-stopped
	p.On("configure crash")
	other := p.Client()
	other.Configure(t.Context(), p.Declared().Provider.Block.EmptyValue())
	if _, ds := other.Read(t.Context(), provider.ReadRequest{TypeName: "thing", Prior: done.New}); !ds.HasErrors() {
		t.Error("a crashed client answers")
	}
	p.Off()
	if _, ds := ready(t, p).ReadData(t.Context(), "thing", config, cty.NilVal); ds.HasErrors() {
		t.Errorf("with the rule taken back: %v", ds)
	}
	if len(p.rules) != p.described || p.described == 0 {
		t.Errorf("%d rules are left of the description's %d", len(p.rules), p.described)
	}
}

// TestBadAnswers is a table of answers that break the contract.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, call, want string }{
		{"create thing.a lost", "create", "null"},
		{"create thing.a bad color=unknown", "create", "cty.UnknownVal(cty.String)"},
		{"create thing.a bad color=infinite", "create", "cty.NumberFloatVal(+Inf)"},
		{"create thing.a bad color=null", "create", "cty.NullVal(cty.String)"},
		{"delete thing.a stays", "delete", `cty.StringVal("red")`},
		{"delete thing.a lost", "delete", "null"},
		{"plan thing.a stays", "plan", `cty.StringVal("red")`},
		{"upgrade thing bad color=unknown", "upgrade", "cty.UnknownVal(cty.String)"},
		{"move thing lost", "move", "null"},
		{"import thing gone", "import", ""},
		{"import thing lost", "import", "null"},
		{"import thing twice", "import", "cty.NullVal(cty.String) cty.NullVal(cty.String)"},
	} {
		p := New(t, labText)
		client := ready(t, p)
		ty := p.Declared().Managed["thing"].Block.ImpliedType()
		config := thing(p, map[string]cty.Value{"name": cty.StringVal("a"), "color": cty.StringVal("red")})
		if c.call == "create" {
			p.On(c.rule)
		}
		_, made, err := change(t, p, client, cty.NilVal, config, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.call != "create" {
			p.On(c.rule)
		}
		answers := []cty.Value{made.New}
		switch c.call {
		case "plan":
			resp, _ := client.Plan(t.Context(), provider.PlanRequest{TypeName: "thing", Prior: made.New, Proposed: cty.NullVal(ty), Config: cty.NullVal(ty)})
			answers = []cty.Value{resp.Planned}
		case "delete":
			_, gone, _ := change(t, p, client, made.New, cty.NilVal, made.Private)
			answers = []cty.Value{gone.New}
		case "upgrade":
			v, _ := client.UpgradeState(t.Context(), provider.UpgradeRequest{TypeName: "thing", JSON: []byte(`{"name":"a"}`)})
			answers = []cty.Value{v}
		case "move":
			resp, _ := client.Move(t.Context(), provider.MoveRequest{TargetType: "thing", SourceType: "thing", SourceJSON: []byte(`{"name":"a"}`)})
			answers = []cty.Value{resp.State}
		case "import":
			answers = nil
			found, _ := client.Import(t.Context(), provider.ImportRequest{TypeName: "thing", ID: "a-1"})
			for _, x := range found {
				answers = append(answers, x.State)
			}
		}
		var got []string
		for _, v := range answers {
			if v.IsNull() {
				got = append(got, "null")
			} else {
				got = append(got, v.GetAttr("color").GoString())
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.rule, text, c.want)
		}
	}
}

// TestOthers tries what is not about the life of managed resources.
func TestOthers(t *testing.T) {
	p := New(t, labText)
	c := ready(t, p)
	p.Edit("thing", "a-1", map[string]cty.Value{"name": cty.StringVal("a"), "color": cty.StringVal("red")})

	found, ds := c.Import(t.Context(), provider.ImportRequest{TypeName: "thing", ID: "a-1"})
	if ds.HasErrors() || len(found) != 1 || found[0].State.GetAttr("id").AsString() != "a-1" {
		t.Errorf("import: %v, %v", found, ds)
	}
	old, ds := c.UpgradeState(t.Context(), provider.UpgradeRequest{TypeName: "thing", JSON: []byte(`{"id":"a-1","name":"a","colour":"red","gone":1}`)})
	if ds.HasErrors() || old.GetAttr("color").AsString() != "red" {
		t.Errorf("upgrade: %#v, %v", old, ds)
	}
	config := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("a"), "color": cty.NullVal(cty.String)})
	data, ds := c.ReadData(t.Context(), "thing", config, cty.NilVal)
	if ds.HasErrors() || data.GetAttr("color").AsString() != "red" {
		t.Errorf("data: %#v, %v", data, ds)
	}
	token, ds := c.OpenEphemeral(t.Context(), "token", cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("k"), "token": cty.NullVal(cty.String)}))
	if ds.HasErrors() || token.Result.GetAttr("token").AsString() != "token-k-1" {
		t.Errorf("ephemeral: %#v, %v", token, ds)
	}
	if ds := c.CloseEphemeral(t.Context(), "token", token.Private); ds.HasErrors() {
		t.Error(ds)
	}
	text, err := c.CallFunction(t.Context(), "greet", []cty.Value{cty.StringVal("hello"), cty.StringVal("you")})
	if err != nil || text.AsString() != "hello you" {
		t.Errorf("function: %#v, %v", text, err)
	}
	want := []string{"configure", "import thing.a-1", "data thing.a", "open token.k", "close token.k"}
	if got := p.Calls(); !slices.Equal(got, want) {
		t.Errorf("calls: %v", got)
	}
}

// TestEngineBugs makes sure that the fake does not put up with them.
func TestEngineBugs(t *testing.T) {
	p := New(t, labText)
	good := thing(p, map[string]cty.Value{"name": cty.StringVal("a")})
	null := cty.NullVal(good.Type())
	for name, bug := range map[string]func(provider.Client){
		"not configured": func(provider.Client) {
			p.Client().Import(t.Context(), provider.ImportRequest{TypeName: "thing", ID: "a-1"})
		},
		"configured twice": func(c provider.Client) { c.Configure(t.Context(), p.Declared().Provider.Block.EmptyValue()) },
		"marked":           func(c provider.Client) { c.ValidateResource(t.Context(), "thing", good.Mark("secret")) },
		"not conforming":   func(c provider.Client) { c.ValidateResource(t.Context(), "thing", cty.EmptyObjectVal) },
		"unknown type":     func(c provider.Client) { c.ValidateResource(t.Context(), "nothing", good) },
		"unknown in apply": func(c provider.Client) {
			c.Apply(t.Context(), provider.ApplyRequest{TypeName: "thing", Prior: null, Planned: good, Config: cty.UnknownVal(good.Type())})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("nobody noticed")
				}
			}()
			bug(ready(t, p))
		})
	}
}

// TestNotationErrors makes sure that a mistyped line does not pass.
func TestNotationErrors(t *testing.T) {
	for _, text := range []string{
		"recource thing",
		"resource thing\n  name strin required",
		"resource thing\n  name string requird",
		"resource thing wersion=1",
		"provider legasy",
		"data thing\n  name string required replace",
		"on create thing.a explode",
		"on create thing.a bad color",
		"function f string",
		"resource thing\n  rule block(heap) {\n  }",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		} else if !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%q: %s", text, err)
		}
	}
}
