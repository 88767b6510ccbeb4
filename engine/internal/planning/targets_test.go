package planning

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The tables in testdata, one story a paragraph:
//
//	# comments
//	name of the story
//	  config    a, b -> a, m.c -> b, d -> m.c   blocks and the resources they refer to
//	  locals    x -> a                          a reference to local.x is "local.x"
//	  outputs   o -> a m.c                      of the root module
//	  provider  p -> a                          a provider configuration; "b @p" uses it
//	  state     a, b[x] -> a, gone @p           instances and their stored dependencies
//	  expands   b[x], b[y]                      further instances that the stories are about
//	  target    a, m.                           the options
//	  exclude   a
//	  plan      a, b                            the selected instances
//	  named     a                               those of them that are selected for themselves
//	  destroy   a                               the instances of the state that a destroy selects
//	  values    o local.x                       the selected outputs and locals
//	  modules   m                               the selected modules
//
// An address is a resource's name, with an instance key (b[x]), in a module instance
// (m[x].b). An address that ends in a dot is a module's. "plan" is about the instances of the
// state, those of "expands", and one without a key of every block that neither of these names.
func TestTargets(t *testing.T) {
	stories(t, "targets/*.txt", func() targetsTable { return targetsTable{} }, func(s targetsTable, key, rest string) { s[key] = rest }, targetsTable.check)
}

// A targetsTable is one story: its lines by their first word.
type targetsTable map[string]string

// A targetsItem is an element of a line: a name, references and a provider configuration.
type targetsItem struct {
	name     string
	refs     []string
	provider string
}

func (s targetsTable) items(key string) (out []targetsItem) {
	for part := range strings.SplitSeq(s[key], ",") {
		head, tail, _ := strings.Cut(part, " -> ")
		words := strings.Fields(head)
		if len(words) == 0 {
			continue
		}
		x := targetsItem{name: words[0], refs: strings.Fields(tail)}
		if len(words) > 1 {
			x.provider = strings.TrimPrefix(words[1], "@")
		}
		out = append(out, x)
	}
	return out
}

var targetsTextKey = regexp.MustCompile(`\[([a-z]+)\]`)

// targetsAddress writes out an address of the notation.
func targetsAddress(s string) string {
	parts := strings.Split(targetsTextKey.ReplaceAllString(s, `["$1"]`), ".")
	for i := range parts[:len(parts)-1] {
		parts[i] = "module." + parts[i]
	}
	if last := &parts[len(parts)-1]; *last == "" {
		parts = parts[:len(parts)-1]
	} else {
		*last = "t." + *last
	}
	return strings.Join(parts, ".")
}

func targetsShort(a fmt.Stringer) string {
	return strings.NewReplacer("module.", "", "t.", "", `"`, "").Replace(a.String())
}

// A targetsWriter writes the configuration: modules by directory, and what their calls pass.
type targetsWriter struct {
	text, args map[string]string
	passed     map[string]bool
}

// module declares a module and those around it.
func (w *targetsWriter) module(dir string) {
	if _, ok := w.text[dir]; !ok {
		w.text[dir] = ""
		if dir != "" {
			w.module(targetsUp(dir))
		}
	}
}

func targetsUp(dir string) string { return strings.Trim(path.Dir("/"+dir), "/") }

// targetsPlace splits the address of a block into directory and name.
func targetsPlace(s string) (dir, name string) {
	i := strings.LastIndex(s, ".")
	return strings.ReplaceAll(s[:max(i, 0)], ".", "/"), s[i+1:]
}

// once writes a block of a module, but not a second time.
func (w *targetsWriter) once(dir, text string) {
	if w.module(dir); !w.passed[dir+text] {
		w.passed[dir+text] = true
		w.text[dir] += text
	}
}

// refer returns the expression by which a module refers to something, and passes it there.
func (w *targetsWriter) refer(from, to string) string {
	if strings.HasPrefix(to, "local.") {
		return to
	}
	if strings.HasSuffix(to, ".") { // to a module as a whole
		w.module(strings.ReplaceAll(strings.TrimSuffix(to, "."), ".", "/"))
		return strings.TrimSuffix(targetsAddress(to), ".")
	}
	dir, name := targetsPlace(to)
	w.module(dir)
	name, _, keyed := strings.Cut(name, "[")
	expr := "t." + name
	if keyed {
		expr += to[strings.Index(to, "["):]
	}
	for dir != from && !strings.HasPrefix(from+"/", dir+"/") && dir != "" {
		w.once(dir, fmt.Sprintf("output %q {\n  value = %s\n}\n", name, expr))
		expr = "module." + path.Base(dir) + "." + name
		dir = targetsUp(dir)
	}
	return w.pass(from, dir, name, expr)
}

// pass hands an expression of an outer module down to an inner one.
func (w *targetsWriter) pass(from, dir, name, expr string) string {
	if from == dir {
		return expr
	}
	outer := w.pass(targetsUp(from), dir, name, expr)
	w.once(from, fmt.Sprintf("variable %q {}\n", name))
	if arg := fmt.Sprintf("  %s = %s\n", name, outer); !strings.Contains(w.args[from], arg) {
		w.args[from] += arg
	}
	return "var." + name
}

func (w *targetsWriter) list(from string, to []string) string {
	var out []string
	for _, x := range to {
		out = append(out, w.refer(from, x))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (s targetsTable) files() map[string][]byte {
	w := &targetsWriter{text: map[string]string{"": ""}, args: map[string]string{}, passed: map[string]bool{}}
	for _, b := range s.items("config") {
		dir, name := targetsPlace(b.name)
		w.module(dir)
		if name == "" {
			continue
		}
		text := fmt.Sprintf("resource \"t\" %q {\n  in = %s\n", name, w.list(dir, b.refs))
		if b.provider != "" {
			text += "  provider = t." + b.provider + "\n"
		}
		w.text[dir] += text + "}\n"
	}
	for _, x := range s.items("locals") {
		w.text[""] += fmt.Sprintf("locals {\n  %s = %s\n}\n", x.name, w.list("", x.refs))
	}
	for _, x := range s.items("outputs") {
		w.text[""] += fmt.Sprintf("output %q {\n  value = %s\n}\n", x.name, w.list("", x.refs))
	}
	for _, x := range s.items("provider") {
		w.text[""] += fmt.Sprintf("provider \"t\" {\n  alias = %q\n  in = %s\n}\n", x.name, w.list("", x.refs))
	}
	for dir := range w.text {
		if dir != "" {
			w.text[targetsUp(dir)] += fmt.Sprintf("module %q {\n  source = \"./%[1]s\"\n%s}\n", path.Base(dir), w.args[dir])
		}
	}
	out := map[string][]byte{}
	for dir, x := range w.text {
		out[path.Join(dir, "main.tf")] = []byte(x)
	}
	return out
}

func targetsInstance(t *testing.T, s string) addrs.AbsResourceInstance {
	a, err := addrs.ParseAbsResourceInstance(targetsAddress(s))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s targetsTable) state(t *testing.T) *states.State {
	e := states.Empty().Edit()
	for _, x := range s.items("state") {
		var deps []addrs.ConfigResource
		for _, d := range x.refs {
			deps = append(deps, targetsInstance(t, d).Config())
		}
		e.SetObject(addrs.ResourceInstanceObject{Instance: targetsInstance(t, x.name)},
			addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t"), Alias: x.provider},
			&states.Object{Dependencies: states.ListedDependencies(func() []addrs.ConfigResource { return deps })})
	}
	return e.State()
}

func (s targetsTable) targets(t *testing.T, key string) (out []addrs.Target) {
	for _, x := range s.items(key) {
		target, err := addrs.ParseTarget(targetsAddress(x.name))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, target)
	}
	return out
}

func (s targetsTable) check(t *testing.T) {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files())})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	state := s.state(t)
	in := targetInput{
		targetOptions: targetOptions{Targets: s.targets(t, "target"), Excludes: s.targets(t, "exclude")}, Config: cfg, Refs: rs,
		Deps: dependencies.New(cfg, rs), Was: state, Prior: state,
	}
	plan, destroy := selectTargets(in), selectDestroyed(in)
	got := targetsTable{}
	note := func(key, sep, x string, is bool) {
		if is && got[key] != "" {
			x = got[key] + sep + x
		}
		if is {
			got[key] = x
		}
	}
	for _, a := range s.instances(t, cfg) {
		note("plan", ", ", targetsShort(a), plan.hasInstance(a))
		note("named", ", ", targetsShort(a), plan.Names(a))
	}
	for _, x := range s.items("state") {
		a := targetsInstance(t, x.name)
		note("destroy", ", ", targetsShort(a), destroy.hasInstance(a))
		if destroy.hasInstance(a) && !destroy.hasAny([]addrs.AbsResource{a.AbsResource()}, state) {
			t.Errorf("HasAny does not know %s", a)
		}
	}
	for _, m := range cfg.Order {
		note("modules", " ", targetsShort(m.Addr), m.Parent != nil && plan.HasModule(m))
	}
	for _, x := range s.items("outputs") {
		note("values", " ", x.name, plan.hasObject(addrs.Object{Kind: addrs.KindOutput, Name: x.name}))
	}
	for _, x := range s.items("locals") {
		note("values", " ", "local."+x.name, plan.hasObject(addrs.Object{Kind: addrs.KindLocal, Name: x.name}))
	}
	for _, key := range []string{"plan", "named", "destroy", "modules", "values"} {
		if want, ok := s[key]; ok {
			if diff := cmp.Diff(want, got[key]); diff != "" {
				t.Errorf("%s (-want +got)\n%s", key, diff)
			}
		}
	}
}

// instances returns the instances that "plan" is about.
func (s targetsTable) instances(t *testing.T, cfg *config.Config) (out []addrs.AbsResourceInstance) {
	for _, x := range slices.Concat(s.items("state"), s.items("expands")) {
		out = append(out, targetsInstance(t, x.name))
	}
	for _, b := range s.items("config") {
		if _, name := targetsPlace(b.name); name == "" {
			continue
		}
		if a := targetsInstance(t, b.name); !slices.ContainsFunc(out, func(x addrs.AbsResourceInstance) bool { return x.Config() == a.Config() }) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, addrs.AbsResourceInstance.Compare)
	return slices.Compact(out)
}
