package planning_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	"github.com/lockstep-iac/lockstep/engine/planning"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var update = flag.Bool("update", false, "write the plans of the stories into testdata")

// The provider of the stories.
const described = `
provider plan_destroy
resource t_x version=1
  id     string computed keep
  name   string required replace
  color  string optional was=colour
  in     string optional
  secret string optional sensitive
data t_x
  name   string required
  color  string computed
`

// The stories of testdata, one a paragraph. A story makes one plan:
//
//	# comments
//	name of the story
//	  root   resource "t_x" "a" { name = "a" }   a line of the root module
//	  m      output "x" { value = 1 }            a line of the module in the directory m
//	  state  t_x.a a blue tainted <- t_x.b       an object of the state and of the world: its
//	                                             name, its color, its status, its dependencies;
//	                                             t_x.a!1 is a deposed one. Its ID is its name. An
//	                                             "old" one is of an older schema version; then
//	                                             the plan's prior state is shown, too. Of an
//	                                             "unlisted" one the state lists no sensitive paths
//	  output o "text" sensitive                  an output of the state; the last word is optional
//	  world  t_x a red                           an object as it really is; "gone": there is none
//	  on     read t_x.a fail "no"                see providertest.Provider.On
//	  with   -destroy -target=t_x.a              the options of the plan; -generate writes the
//	                                             blocks that import blocks lack, in its place
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
			s := &story{files: map[string][]byte{"main.tf": nil}, state: states.Empty().Edit(), fake: providertest.New(t, described)}
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
				case *update:
					for _, line := range got {
						kept = append(kept, "  = "+line)
					}
					stories[i] = strings.Join(kept, "\n")
				default:
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(stories, "\n\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type story struct {
	name  string
	files map[string][]byte
	state *states.Editor
	fake  *providertest.Provider
	in    planning.Input
	want  []string
	old   bool // the state has objects of an older schema version

	generate bool
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
		s.state.SetOutput(name, states.Output{Value: cty.StringVal(strings.Trim(text, `"`)), Sensitive: sensitive})
	case "world":
		if words[2] == "gone" {
			s.fake.Drop(words[0], words[1])
		} else {
			s.fake.Edit(words[0], words[1], map[string]cty.Value{"name": cty.StringVal(words[1]), "color": cty.StringVal(words[2])})
		}
	case "on":
		s.fake.On(rest)
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
	attrs := map[string]cty.Value{"name": cty.StringVal(words[1])}
	o := session.Encoding{Status: states.Ready, Dependencies: states.ListedDependencies(func() []addrs.ConfigResource { return deps })}
	for _, w := range words[2:] {
		switch w {
		case "tainted":
			o.Status = states.Tainted
		case "cbd":
			o.CreateBeforeDestroy = true
		case "unlisted":
		case "old":
			s.old = true
		default:
			attrs["color"] = cty.StringVal(w)
		}
	}
	rs := s.fake.Declared().Managed["t_x"]
	var v cty.Value
	if a.Resource.Resource.Mode == addrs.Managed {
		s.fake.Edit("t_x", words[1], attrs)
		v = s.fake.Object("t_x", words[1])
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
	s.state.SetObject(addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(deposed)},
		addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, &states.Object{
			SchemaVersion: obj.SchemaVersion, Sensitive: obj.Sensitive,
			Status: obj.Status, AttrsJSON: obj.AttrsJSON, Private: obj.Private, Dependencies: obj.Dependencies, CreateBeforeDestroy: obj.CreateBeforeDestroy,
		})
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
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): s.fake.Start})
	defer pool.Close()
	s.in.Environment = session.Environment{Program: eval.Program{Config: cfg, Refs: rs, Functions: functions}, Providers: pool}
	if s.in.Mode == 0 {
		s.in.Mode = plans.NormalMode
	}
	if s.generate {
		return generate(t, s.in)
	}
	plan, ds := planning.Plan(t.Context(), s.in)
	out := append(describe(plan), summaries(ds)...)
	if s.old && plan != nil {
		for o := range plan.PriorState.Objects() {
			out = append(out, fmt.Sprintf("prior version %d %s sensitive%s", o.SchemaVersion, o.AttrsJSON, paths(o.Sensitive)))
		}
	}
	return out
}

// generate describes the blocks that are written for import blocks, and the diagnostics with their
// places.
func generate(t *testing.T, in planning.Input) (out []string) {
	blocks, found, ds := planning.Generate(t.Context(), in)
	for _, b := range blocks {
		out = append(out, fmt.Sprintf("%s from %s, found %v", b.Addr, b.ID, found.Objects[b.Addr] != nil))
		for line := range strings.Lines(string(b.Text)) {
			out = append(out, strings.TrimRight("| "+line, " \n"))
		}
	}
	for cr := range found.Failed {
		out = append(out, "failed "+cr.String())
	}
	for _, d := range ds {
		out = append(out, d.String())
	}
	return out
}

func paths(list []cty.Path) (out string) {
	for _, p := range list {
		out += " " + schema.FormatPath(p)
	}
	return out
}

func summaries(ds diags.Diagnostics) (out []string) {
	for _, d := range ds {
		kind := "warning: "
		if d.Severity == diags.Error {
			kind = "error: "
		}
		out = append(out, kind+d.Summary)
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
			line += " import " + c.Importing.ID
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
