package planning

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// The stories of testdata/relevance/relevance.txt, one a paragraph:
//
//	# comments
//	name of the story
//	  root     resource "t" "a" { in = t.b.id }   a line of the root module
//	  m        output "x" { value = 1 }           a line of the module in the directory m
//	  changed  t.a, module.m.t.a                  the changed resources
//	  outputs  o, module.m[0].x                   the changed outputs
//	  want     t.b .id                            the relevant attributes, one a line
//
// Every resource type has the attributes id, in and map, and the blocks single, list and group.
func TestRelevance(t *testing.T) {
	begin := func() *relevanceStory { return &relevanceStory{files: map[string][]byte{}} }
	if n := stories(t, "relevance/*.txt", begin, (*relevanceStory).read, (*relevanceStory).check); n < 5 {
		t.Errorf("only %d stories", n)
	}
}

type relevanceStory struct {
	files            map[string][]byte
	changed, outputs []string
	want             []string
}

func (s *relevanceStory) read(key, rest string) {
	switch key {
	case "changed":
		s.changed = strings.Split(rest, ", ")
	case "outputs":
		s.outputs = strings.Split(rest, ", ")
	case "want":
		s.want = append(s.want, rest)
	case "root":
		s.files["main.tf"] = append(s.files["main.tf"], rest+"\n"...)
	default:
		s.files[key+"/main.tf"] = append(s.files[key+"/main.tf"], rest+"\n"...)
	}
}

func (s *relevanceStory) check(t *testing.T) {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	block := schematest.Block(t, `
		id string computed
		in any optional
		map map(string) optional
		single block single {
			in string optional
			deep block group {
				in string optional
			}
		}
		list block list {
			in string optional
		}`)
	rsc := &schema.Schema{Block: block}
	in := relevanceInput{
		Config: cfg, Refs: rs,
		Schema: func(*config.Module, *config.Resource) *schema.Schema { return rsc },
		Bound:  func(r *config.Resource, rs *schema.Schema) *schema.Bound { return rs.Block.Bind(r.Body) },
	}
	for _, x := range s.changed {
		a, err := addrs.ParseAbsResourceInstance(x)
		if err != nil {
			t.Fatal(err)
		}
		in.Resources = append(in.Resources, a.AbsResource())
	}
	for _, x := range s.outputs {
		var m addrs.ModuleInstance
		if i := strings.LastIndex(x, "."); i > 0 {
			if m, x = must(addrs.ParseModuleInstance(x[:i])), x[i+1:]; m.IsRoot() {
				t.Fatal(x)
			}
		}
		in.Expressions = append(in.Expressions, relevantExpression{m, cfg.Modules[m.Module()].Outputs[x].Expr})
	}
	var got []string
	for _, a := range relevantAttributes(in) {
		got = append(got, strings.TrimSpace(a.Resource.String()+" "+schema.FormatPath(a.Attribute)))
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(s.want)), slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
