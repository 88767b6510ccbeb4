package planning_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/importing"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// The providers of the stories. The second one is not asked about deletions and moves.
const described = `
provider plan_destroy
  region string optional
meta
  team string optional
resource t_x version=1
  id     string computed keep
  name   string required replace
  color  string optional was=colour
  in     string optional
  secret string optional sensitive
resource t_n
  id     string computed keep
  name   string required
  color  number optional
resource t_i identity=2
  id     string computed keep
  name   string required identity
  color  string optional
data t_x
  name   string required
  color  string computed
data t_n
  name   string required
  color  number computed
ephemeral t_x
  name   string required
`

const described2 = `
provider unmovable
resource u_x
  id     string computed keep
  name   string required replace
  color  string optional
`

// The stories of testdata, one a paragraph. A story makes one plan:
//
//	# comments
//	name of the story
//	  root   resource "t_x" "a" { name = "a" }   a line of the root module
//	  m      output "x" { value = 1 }            a line of the module in the directory m
//	  state  t_x.a a blue tainted <- t_x.b       an object of the state and of the world: its
//	                                             name, its color, its status, its dependencies;
//	                                             t_x.a!1 is a deposed one. Its ID is its name; "in=ALIAS"
//	                                             is its provider configuration, "cbd" means
//	                                             create-before-destroy. An
//	                                             "extra" one has members that nobody knows. An
//	                                             "old" one is of an older schema version; then
//	                                             the plan's prior state is shown, too. Of an
//	                                             "identity=VERSION" is the version of its identity. Of an
//	                                             "unlisted" one the state lists no sensitive paths
//	  output o "text" sensitive                  an output of the state, a text or a number; the last
//	                                             word is optional
//	  world  t_x a red                           an object as it really is; "gone": there is none
//	  on     read t_x.a fail "no"                see providertest.Provider.On
//	  after  plan t_x.a: plan t_x.a fail "no"    a rule that holds once this call has begun
//	  stop   plan t_x.a                          the plan is interrupted when this call begins
//	  with   -destroy -target=t_x.a              the options of the plan; -generate writes
//	                                             the blocks that import blocks lack first;
//	                                             -show=... shows more: see [story.more]
//	  = LINE                                     the plan, as -update writes it
func TestNotation(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stories := strings.Split(strings.TrimSpace(string(text)), "\n\n")
		for i, paragraph := range stories {
			s := &story{files: map[string][]byte{"main.tf": nil}, state: states.Empty().Edit(), fake: providertest.New(t, described), other: providertest.New(t, described2)}
			var kept []string
			for line := range strings.Lines(paragraph) {
				line = strings.TrimRight(line, "\n")
				key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if key == "=" {
					s.want = append(s.want, rest)
					continue
				}
				kept = append(kept, line)
				switch {
				case strings.HasPrefix(key, "#"):
				case !strings.HasPrefix(line, " "):
					s.name = line
				default:
					s.read(t, key, strings.TrimSpace(rest))
				}
			}
			if s.name == "" {
				continue
			}
			t.Run(filepath.Base(file)+"/"+s.name, func(t *testing.T) {
				got := s.play(t)
				switch diff := cmp.Diff(s.want, got); {
				case diff == "":
				case golden.Updating():
					for _, line := range got {
						kept = append(kept, "  = "+line)
					}
					stories[i] = strings.Join(kept, "\n")
				default:
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
		golden.Update(t, file, strings.Join(stories, "\n\n")+"\n")
	}
}

type story struct {
	name  string
	files map[string][]byte
	state *states.Editor
	fake  *providertest.Provider
	other *providertest.Provider
	in    planning.Input
	want  []string
	old   bool // the state has objects of an older schema version

	generate bool // the blocks that import blocks lack
	show     []string
	stopAt   string
	after    map[string]string

	mu     sync.Mutex
	events []string
	found  diags.Diagnostics
}

// read takes in a line.
func (s *story) read(t *testing.T, key, rest string) {
	words := strings.Fields(rest)
	switch key {
	case "state":
		s.object(t, rest)
	case "output":
		name, text, _ := strings.Cut(rest, " ")
		text, sensitive := strings.CutSuffix(text, " sensitive")
		v := cty.StringVal(strings.Trim(text, `"`))
		if number, err := cty.ParseNumberVal(text); err == nil {
			v = number
		}
		s.state.SetOutput(name, states.Output{Value: v, Sensitive: sensitive})
	case "world":
		if words[2] == "gone" {
			s.fake.Drop(words[0], words[1])
		} else {
			s.fake.Edit(words[0], words[1], map[string]cty.Value{"name": cty.StringVal(words[1]), "color": color(words[0], words[2])})
		}
	case "on":
		s.fake.On(rest)
		s.other.On(rest)
	case "after":
		call, rule, _ := strings.Cut(rest, ": ")
		s.after = map[string]string{call: rule}
	case "stop":
		s.stopAt = rest
	case "with":
		for _, w := range words {
			s.option(t, w)
		}
	case "root":
		s.files["main.tf"] = append(s.files["main.tf"], rest+"\n"...)
	default:
		file := strings.ReplaceAll(key, ".", "/") + "/main.tf"
		s.files[file] = append(s.files[file], rest+"\n"...)
	}
}

// object puts an object into the state and into the world.
func (s *story) object(t *testing.T, line string) {
	line, list, _ := strings.Cut(line, " <- ")
	words := strings.Fields(line)
	name, deposed, _ := strings.Cut(words[0], "!")
	a, err := addrs.ParseAbsResourceInstance(name)
	if err != nil {
		t.Fatal(err)
	}
	var deps []addrs.ConfigResource
	for x := range strings.FieldsSeq(list) {
		cr, err := addrs.ParseConfigResource(x)
		if err != nil {
			t.Fatal(err)
		}
		deps = append(deps, cr)
	}
	fake, typ := s.fake, a.Resource.Resource.Type
	switch typ {
	case "u_x":
		fake = s.other
	case "t_n", "t_i":
	default:
		typ = "t_x" // also of an object that once had another type
	}
	pc := addrs.AbsProviderConfig{Provider: addrs.DefaultProvider(typ[:1])}
	attrs := map[string]cty.Value{"name": cty.StringVal(words[1])}
	o := session.Encoding{Status: states.Ready, Dependencies: states.ListedDependencies(func() []addrs.ConfigResource { return deps })}
	for _, w := range words[2:] {
		if in, ok := strings.CutPrefix(w, "in="); ok {
			if pc, err = addrs.ParseAbsProviderConfig(pc.String() + "." + in); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if version, ok := strings.CutPrefix(w, "identity="); ok {
			n, err := strconv.ParseInt(version, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			o.Identity = states.Identity{Version: n, JSON: fmt.Appendf(nil, `{"name":%q}`, words[1])}
			continue
		}
		switch w {
		case "tainted":
			o.Status = states.Tainted
		case "cbd":
			o.CreateBeforeDestroy = true
		case "unlisted", "extra":
		case "old":
			s.old = true
		default:
			attrs["color"] = color(typ, w)
		}
	}
	rs := fake.Declared().Managed[typ]
	var v cty.Value
	if a.Resource.Resource.Mode == addrs.Managed {
		fake.Edit(typ, words[1], attrs)
		v = fake.Object(typ, words[1])
		o.Private = []byte("private of " + words[1])
	} else {
		rs = s.fake.Declared().Data["t_x"]
		attrs["color"] = cty.StringVal("")
		v = cty.ObjectVal(attrs)
	}
	obj, err := session.Encode(v, rs, o)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(words, "old") {
		obj.SchemaVersion, obj.Sensitive = 0, nil
		obj.AttrsJSON = bytes.ReplaceAll(obj.AttrsJSON, []byte(`"color"`), []byte(`"colour"`))
	}
	if slices.Contains(words, "unlisted") {
		obj.Sensitive = nil
	}
	var extra map[string]json.RawMessage
	if slices.Contains(words, "extra") {
		extra = map[string]json.RawMessage{"of_a_later_version": json.RawMessage("1")}
	}
	s.state.SetObject(addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(deposed)},
		pc, &states.Object{
			Extra: extra, SchemaVersion: obj.SchemaVersion, Sensitive: obj.Sensitive, Identity: obj.Identity,
			Status: obj.Status, AttrsJSON: obj.AttrsJSON, Private: obj.Private, Dependencies: obj.Dependencies, CreateBeforeDestroy: obj.CreateBeforeDestroy,
		})
}

// color is the color of an object, which is a number for t_n.
func color(typ, text string) cty.Value {
	if typ == "t_n" {
		return cty.MustParseNumberVal(text)
	}
	return cty.StringVal(text)
}

func (s *story) option(t *testing.T, w string) {
	name, value, _ := strings.Cut(w, "=")
	target := func() addrs.Target {
		x, err := addrs.ParseTarget(value)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	switch name {
	case "-destroy":
		s.in.Mode = plans.DestroyMode
	case "-refresh-only":
		s.in.Mode = plans.RefreshOnlyMode
	case "-refresh":
		s.in.SkipRefresh = value == "false"
	case "-target":
		s.in.Targets = append(s.in.Targets, target())
	case "-exclude":
		s.in.Excludes = append(s.in.Excludes, target())
	case "-var", "-ephemeral":
		v, text, _ := strings.Cut(value, "=")
		if s.in.Variables == nil {
			s.in.Variables = map[string]cty.Value{}
		}
		s.in.Variables[v] = cty.StringVal(text)
		if name == "-ephemeral" {
			s.in.EphemeralVariables = append(s.in.EphemeralVariables, v)
		}
	case "-given":
		s.in.Given = map[string]cty.Value{value: cty.StringVal("given")}
	case "-show":
		s.show = strings.Split(value, ",")
	case "-generate":
		s.generate = true
	case "-replace":
		a, err := addrs.ParseAbsResourceInstance(value)
		if err != nil {
			t.Fatal(err)
		}
		s.in.ForceReplace = append(s.in.ForceReplace, a)
	default:
		t.Fatalf("unknown option %s", w)
	}
}

var functions = map[string]function.Function{"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), "length": stdlib.LengthFunc}

// play makes the plan, and describes it.
func (s *story) play(t *testing.T) []string {
	s.in.State = s.state.State()
	s.environment(t)
	if s.in.Mode == 0 {
		s.in.Mode = plans.NormalMode
	}
	if s.generate {
		s.blocks(t)
		s.environment(t)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	s.fake.Hook = func(_ context.Context, call string) {
		if call == s.stopAt {
			stop(errors.New("interrupted"))
		}
		if rule := s.after[call]; rule != "" {
			s.fake.On(rule)
		}
	}
	plan, ds := planning.Plan(ctx, s.in)
	s.found = ds
	out := append(describe(plan), summaries(ds)...)
	if plan != nil {
		for _, what := range s.show {
			out = append(out, s.more(t, what, plan)...)
		}
	}
	if s.old && plan != nil {
		var prior []string
		for o := range plan.PriorState.Objects() {
			prior = append(prior, fmt.Sprintf("prior version %d %s sensitive%s", o.SchemaVersion, o.AttrsJSON, paths(o.Sensitive)))
		}
		slices.Sort(prior) // a state has its objects in no order
		out = append(out, prior...)
	}
	return out
}

// environment loads the configuration, for new processes of the providers.
func (s *story) environment(t *testing.T) {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): s.fake.Start, addrs.DefaultProvider("u"): s.other.Start})
	t.Cleanup(func() { pool.Close() })
	s.in.Environment = session.Environment{Program: eval.Program{Config: cfg, Refs: rs, Functions: functions}, Providers: pool, Events: s.event, Parallelism: 1}
}

// blocks adds the blocks that are written for import blocks to the configuration.
func (s *story) blocks(t *testing.T) {
	blocks, found, _ := importing.Generate(t.Context(), importing.Lack{Environment: s.in.Environment, State: s.in.State, Variables: s.in.Variables})
	s.in.Found = found
	for _, b := range blocks {
		s.files["main.tf"] = append(s.files["main.tf"], b.Text...)
	}
}

func paths(list []cty.Path) (out string) {
	for _, p := range list {
		out += " " + schema.FormatPath(p)
	}
	return out
}

func summaries(ds diags.Diagnostics) (out []string) {
	for _, d := range ds {
		line := fmt.Sprintf("%s: %s", d.Severity, d.Summary)
		if d.Address != "" {
			line += ", " + d.Address
		}
		if d.Subject != nil {
			line += fmt.Sprintf(", %s:%d", d.Subject.Filename, d.Subject.Start.Line)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func describe(p *plans.Plan) []string {
	if p == nil {
		return []string{"no plan"}
	}
	var out []string
	for _, c := range p.Drift {
		out = append(out, fmt.Sprintf("drift %s %s%s", name(c.Addr), c.Action, moved(c)))
	}
	for _, c := range p.Changes {
		line := fmt.Sprintf("%s %s%s", name(c.Addr), c.Action, moved(c))
		if c.Action == plans.CreateThenDelete {
			line += ", create first"
		}
		if c.Importing != nil {
			line += " import " + c.Importing.ID + plans.IdentityText(c.Importing.Identity)
		}
		if c.Reason != plans.ReasonNone {
			line += " " + string(c.Reason)
		}
		for _, path := range c.RequiredReplace {
			line += " " + schema.FormatPath(path)
		}
		out = append(out, line)
	}
	for _, r := range p.Relevant {
		out = append(out, fmt.Sprintf("because of %s%s", r.Resource, schema.FormatPath(r.Attribute)))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		out = append(out, "variable "+name)
	}
	for _, o := range p.Outputs {
		line := fmt.Sprintf("output.%s %s", o.Name, o.Action)
		if o.Sensitive {
			line += " sensitive"
		}
		out = append(out, line)
	}
	for _, c := range p.Checks {
		out = append(out, c.ConfigAddr+" "+c.Status)
	}
	if p.Applyable {
		out = append(out, "applyable")
	}
	switch {
	case p.Errored:
		out = append(out, "errored")
	case !p.Complete:
		out = append(out, "partial")
	}
	return out
}

func moved(c *plans.ResourceChange) string {
	if c.PrevAddr == c.Addr.Instance {
		return ""
	}
	return " from " + c.PrevAddr.String()
}

func name(a addrs.ResourceInstanceObject) string {
	if a.Deposed == addrs.NotDeposed {
		return a.Instance.String()
	}
	return a.Instance.String() + "!" + string(a.Deposed)
}
