package importing_test

import (
	"bytes"
	"context"
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
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/importing"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

const described = `
provider
  region string optional
resource t_x version=1
  id     string computed keep
  name   string required replace
  color  string optional was=colour
  in     string optional
  secret string optional sensitive
resource t_i
  id     string computed keep
  name   string required identity
  zone   number optional identity=optional
`

var functions = map[string]function.Function{"sensitive": sensitive, "toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), "length": stdlib.LengthFunc}

var sensitive = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "v", Type: cty.DynamicPseudoType}},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(marks.Sensitive), nil },
})

// The stories of testdata, one a paragraph:
//
//	# comments
//	name of the story
//	  root   resource "t_x" "a" { name = "a" }   a line of the root module
//	  m      output "x" { value = 1 }            a line of the module in the directory m
//	  state  t_x.a a blue old                    an object of the state and of the world: its name, its
//	                                             color; an "old" one is of an older schema version
//	  output o "x"                               an output of the state
//	  world  t_x a red                           an object as it really is
//	  on     read t_x.a fail "no"                see providertest.Provider.On
//	  do     generate                            writes the blocks that import blocks lack
//	  do     command t_x.a ID                    imports by command, and shows the state
//	  do     blocks t_x.a                        evaluates the import blocks for a resource, with all
//	                                             its instances declared; then -destroy or -refresh-only
//	  do     check t_x.a                         checks the targets of import blocks, with a resource
//	                                             selected, or "all"
//	  = LINE                                     the outcome, as -update writes it
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
			var kept, want []string
			for line := range strings.SplitSeq(paragraph, "\n") {
				key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if key == "=" {
					want = append(want, rest)
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
				if diff := cmp.Diff(want, got); diff != "" && !golden.Updating() {
					t.Errorf("(-want +got)\n%s", diff)
				}
				for _, line := range got {
					kept = append(kept, "  = "+line)
				}
				stories[i] = strings.Join(kept, "\n")
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
	do    []string
}

// read takes in a line.
func (s *story) read(t *testing.T, key, rest string) {
	words := strings.Fields(rest)
	switch key {
	case "state":
		s.object(t, words)
	case "output":
		s.state.SetOutput(words[0], states.Output{Value: cty.StringVal(strings.Trim(words[1], `"`))})
	case "world":
		attrs := map[string]cty.Value{"name": cty.StringVal(words[1]), "color": cty.StringVal(words[2])}
		if words[0] == "t_i" {
			attrs = map[string]cty.Value{"name": attrs["name"], "zone": attrs["color"]}
		}
		s.fake.Edit(words[0], words[1], attrs)
	case "on":
		s.fake.On(rest)
	case "do":
		s.do = words
	case "root":
		s.files["main.tf"] = append(s.files["main.tf"], rest+"\n"...)
	default:
		s.files[key+"/main.tf"] = append(s.files[key+"/main.tf"], rest+"\n"...)
	}
}

// object puts an object into the state and into the world.
func (s *story) object(t *testing.T, words []string) {
	a := instance(t, words[0])
	attrs := map[string]cty.Value{"name": cty.StringVal(words[1])}
	if len(words) > 2 {
		attrs["color"] = cty.StringVal(words[2])
	}
	s.fake.Edit("t_x", words[1], attrs)
	o, err := session.Encode(s.fake.Object("t_x", words[1]), s.fake.Declared().Managed["t_x"], session.Encoding{Status: states.Ready})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(words, "old") {
		o.SchemaVersion, o.AttrsJSON = 0, bytes.ReplaceAll(o.AttrsJSON, []byte(`"color"`), []byte(`"colour"`))
	}
	o.Value = cty.NilVal // as it is read from a file
	s.state.SetObject(addrs.ResourceInstanceObject{Instance: a}, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, o)
}

func instance(t *testing.T, text string) addrs.AbsResourceInstance {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *story) play(t *testing.T) []string {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): s.fake.Start})
	t.Cleanup(func() { pool.Close() })
	env := session.Environment{Program: eval.Program{Config: cfg, Refs: rs, Functions: functions}, Providers: pool, Parallelism: 1}
	if s.do[0] == "generate" {
		return generate(t, importing.Lack{Environment: env, State: s.state.State()})
	}
	prior := drafts.NewPrior(s.state.State())
	ses := drafts.OpenStored(t.Context(), env, nil, prior)
	switch s.do[0] {
	case "command":
		return command(t, ses, prior, instance(t, s.do[1]), s.do[2])
	case "blocks":
		return evaluate(t, ses, prior, instance(t, s.do[1]).Config(), s.do[2:])
	case "check":
		blocks := importing.NewBlocks(cfg, plans.NormalMode, ses.Eval, prior)
		return texts(blocks.CheckTargets(func(cr addrs.ConfigResource) bool { return s.do[1] == "all" || cr.String() == s.do[1] }, importing.Found{}))
	}
	t.Fatal("do what? ", s.do)
	return nil
}

func texts(ds diags.Diagnostics) (out []string) {
	for _, d := range ds.Unreported() {
		line, _, _ := strings.Cut(d.String(), "\n")
		out = append(out, line)
	}
	return out
}

func generate(t *testing.T, in importing.Lack) (out []string) {
	blocks, found, ds := importing.Generate(t.Context(), in)
	for _, b := range blocks {
		out = append(out, fmt.Sprintf("%s from %s, found %v", b.Addr, b.ID, found.Objects[b.Addr] != nil))
		for line := range strings.Lines(b.Text) {
			out = append(out, strings.TrimRight("| "+line, " \n"))
		}
	}
	for cr := range found.Failed {
		out = append(out, "failed "+cr.String())
	}
	return append(out, texts(ds)...)
}

// command imports an object. Every block has the one provider configuration.
func command(t *testing.T, s *session.Session, prior *drafts.Prior, addr addrs.AbsResourceInstance, id string) (out []string) {
	open := func(ctx context.Context, m *config.Module, r *config.Resource) (importing.OfInstance, diags.Diagnostics) {
		f := &importing.Fetcher{Session: s, Prior: prior, Provider: m.ResourceProvider(r), Resource: r, Drifted: func(o addrs.ResourceInstanceObject, c plans.Change) {
			out = append(out, fmt.Sprintf("drifted %s %s", o, c.Action))
		}}
		var ds, more diags.Diagnostics
		f.Schema, _, ds = s.Schema(ctx, f.Provider.Provider, r.Addr, nil)
		f.Client, more = s.Client(ctx, f.Provider)
		return func(_ context.Context, _ addrs.AbsResourceInstance, scope eval.Scope) (*importing.Fetcher, diags.Diagnostics) {
			out = append(out, fmt.Sprintf("opened, for an instance: %v", scope.Instance != nil))
			return f, nil
		}, append(ds, more...)
	}
	ds := importing.Command{Session: s, Prior: prior, Open: open}.Run(t.Context(), addr, id)
	st := prior.Editor().State()
	for o := range st.Resources() {
		for k, in := range st.Resource(o).Instances {
			out = append(out, fmt.Sprintf("state %s %s sensitive %d", o.Instance(k), in.Current.AttrsJSON, len(in.Current.Sensitive)))
		}
	}
	outputs := maps.Collect(st.Outputs())
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		out = append(out, fmt.Sprintf("output %s %#v sensitive %v", name, outputs[name].Value, outputs[name].Sensitive))
	}
	return append(out, texts(slices.Concat(ds, s.Diagnostics(), s.Eval.Diagnostics()))...)
}

// evaluate evaluates the blocks for a resource.
func evaluate(t *testing.T, s *session.Session, prior *drafts.Prior, cr addrs.ConfigResource, options []string) (out []string) {
	mode := plans.NormalMode
	switch {
	case slices.Contains(options, "-destroy"):
		mode = plans.DestroyMode
	case slices.Contains(options, "-refresh-only"):
		mode = plans.RefreshOnlyMode
	}
	blocks := importing.NewBlocks(s.Config, mode, s.Eval, prior)
	m := s.Config.Modules[cr.Module]
	ins, ds := s.Eval.ResourceInstances(addrs.RootModuleInstance, m.Resources[cr.Resource])
	declared := map[addrs.AbsResourceInstance]bool{}
	for _, in := range ins {
		declared[addrs.AbsResource{Resource: cr.Resource}.Instance(in.Key)] = true
	}
	rs, _, more := s.Schema(t.Context(), m.ResourceProvider(m.Resources[cr.Resource]).Provider, cr.Resource, nil)
	ds = append(append(ds, more...), blocks.Evaluate(cr, rs, func(a addrs.AbsResourceInstance) bool { return declared[a] })...)
	for _, a := range slices.SortedFunc(maps.Keys(declared), addrs.AbsResourceInstance.Compare) {
		if r, ok := blocks.Of(a); ok {
			out = append(out, fmt.Sprintf("%s <- %s", a, r.ID+plans.IdentityText(r.Identity)))
		}
	}
	return append(out, texts(ds)...)
}
