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
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// The tables in testdata, one story a paragraph:
//
//	# comments
//	name of the story
//	  config    a, b count, m.a, m. for_each   blocks, and how they are repeated
//	  state     a, b[0], m[x].a!1              the instances of the state; !1 is a deposed object
//	  moved     a -> b; m: a -> b; m. -> n.    moved blocks, those of module m behind "m:"
//	  removed   a; m. keep; m: a               removed blocks; "keep" is destroy = false
//	  imports   a                              import blocks
//	  declared  a, b[0]                        instances that the configuration expands to; by
//	                                           default, of all blocks without repetition
//	  want      b < a, c                       the state afterwards; "b < a" came from a
//	  converts  a > b                          moves that the converter was asked about, in order
//	  forgets   a                              resources whose objects are to be forgotten
//	  says      SUMMARY                        of a diagnostic; several with "; "
//
// An address is a resource's name, with an instance key (b[0], b[x]), in a module
// instance (m[x].b). u/b has another type than b. An address that ends in a dot is a module's.
func TestMoves(t *testing.T) {
	stories(t, "moves/*.txt", func() movesTable { return movesTable{} }, func(s movesTable, key, rest string) { s[key] = rest }, movesTable.check)
}

// A movesTable is one story: its lines by their first word.
type movesTable map[string]string

func movesSplit(s, sep string) (out []string) {
	for part := range strings.SplitSeq(s, sep) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

var movesTextKey = regexp.MustCompile(`\[([a-z]+)\]`)

// movesAddress writes out an address of the notation.
func movesAddress(s string) string {
	parts := strings.Split(movesTextKey.ReplaceAllString(s, `["$1"]`), ".")
	for i := range parts[:len(parts)-1] {
		parts[i] = "module." + parts[i]
	}
	if last := &parts[len(parts)-1]; *last == "" {
		parts = parts[:len(parts)-1]
	} else if ty, name, ok := strings.Cut(*last, "/"); ok {
		*last = ty + "." + name
	} else {
		*last = "t." + *last
	}
	return strings.Join(parts, ".")
}

var movesLongName = strings.NewReplacer("module.", "", "t.", "", `"`, "", "u.", "u/")

// movesShort is the inverse of address, for instances.
func movesShort(a fmt.Stringer) string { return movesLongName.Replace(a.String()) }

// files writes the configuration.
func (s movesTable) files() map[string][]byte {
	text := map[string]string{"": ""}
	var module func(dir string)
	module = func(dir string) {
		if _, ok := text[dir]; ok {
			return
		}
		text[dir] = ""
		parent := strings.Trim(path.Dir("/"+dir), "/")
		module(parent)
		repetition := ""
		for _, b := range movesSplit(s["config"], ",") {
			if name, how, _ := strings.Cut(b, " "); strings.ReplaceAll(dir, "/", ".")+"." == name {
				repetition = movesRepeat[how]
			}
		}
		text[parent] += fmt.Sprintf("module %q {\n  source = \"./%[1]s\"\n%s}\n", path.Base(dir), repetition)
	}
	for _, b := range movesSplit(s["config"], ",") {
		name, how, _ := strings.Cut(b, " ")
		i := strings.LastIndex(name, ".")
		dir := strings.ReplaceAll(name[:max(i, 0)], ".", "/")
		if module(dir); i < len(name)-1 {
			ty, local, ok := strings.Cut(name[i+1:], "/")
			if !ok {
				ty, local = "t", ty
			}
			text[dir] += fmt.Sprintf("resource %q %q {\n%s}\n", ty, local, movesRepeat[how])
		}
	}
	statement := func(line string) (dir, rest string) {
		if in, rest, ok := strings.Cut(line, ": "); ok {
			dir = strings.ReplaceAll(in, ".", "/")
			module(dir)
			return dir, rest
		}
		return "", line
	}
	for _, line := range movesSplit(s["moved"], ";") {
		dir, rest := statement(line)
		from, to, _ := strings.Cut(rest, " -> ")
		text[dir] += fmt.Sprintf("moved {\n  from = %s\n  to = %s\n}\n", movesAddress(from), movesAddress(to))
	}
	for _, line := range movesSplit(s["removed"], ";") {
		dir, rest := statement(line)
		from, keep, _ := strings.Cut(rest, " ")
		text[dir] += fmt.Sprintf("removed {\n  from = %s\n  lifecycle {\n    destroy = %t\n  }\n}\n", movesAddress(from), keep == "")
	}
	for _, a := range movesSplit(s["imports"], ",") {
		text[""] += fmt.Sprintf("import {\n  to = %s\n  id = \"x\"\n}\n", movesAddress(a))
	}
	out := map[string][]byte{}
	for dir, x := range text {
		out[path.Join(dir, "main.tf")] = []byte(x)
	}
	return out
}

var movesRepeat = map[string]string{"": "", "count": "  count = 2\n", "for_each": "  for_each = toset([])\n", "enabled": "  lifecycle {\n    enabled = true\n  }\n"}

func movesInstance(t *testing.T, s string) addrs.AbsResourceInstance {
	a, err := addrs.ParseAbsResourceInstance(movesAddress(s))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// state makes the state.
func (s movesTable) state(t *testing.T) *states.State {
	e := states.Empty().Edit()
	for _, x := range movesSplit(s["state"], ",") {
		name, deposed, _ := strings.Cut(x, "!")
		e.SetObject(addrs.ResourceInstanceObject{Instance: movesInstance(t, name), Deposed: addrs.DeposedKey(deposed)}, addrs.AbsProviderConfig{}, &states.Object{})
	}
	return e.State()
}

func (s movesTable) check(t *testing.T) {
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(s.files())})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	was := s.state(t)
	prior := was.Edit()
	var converts []string
	got, ds := moveObjects(moveInput{Config: cfg, Was: was, Prior: prior, Convert: func(from, to addrs.AbsResourceInstance) diags.Diagnostics {
		if prior.Current().Instance(from) == nil {
			t.Errorf("%s is to be converted, but not in the state", from)
		}
		converts = append(converts, movesShort(from)+" > "+movesShort(to))
		return nil
	}})
	ds = slices.Concat(ds, got.Unmoved, got.Cycle, checkMoves(cfg, s.expansion(t), true), checkRemovedBlocks(cfg))
	s.compare(t, "says", "; ", movesSummaries(ds))
	var list, forgets []string
	for abs, r := range prior.State().Resources() {
		for k, in := range r.Instances {
			x := movesShort(abs.Instance(k))
			for d := range in.Deposed {
				list = append(list, x+"!"+string(d))
			}
			if from, ok := got.Origins[abs.Instance(k)]; ok {
				x += " < " + movesShort(from)
			}
			if in.Current != nil {
				list = append(list, x)
			}
		}
		if removedBlockForgets(cfg, abs.Config()) {
			forgets = append(forgets, movesShort(abs))
		}
	}
	slices.Sort(forgets)
	s.compare(t, "forgets", ", ", forgets)
	if _, ok := s["converts"]; ok {
		s.compare(t, "converts", ", ", converts)
	}
	slices.Sort(list)
	if _, ok := s["want"]; ok {
		s.compare(t, "want", ", ", list)
	}
}

func movesSummaries(ds diags.Diagnostics) (out []string) {
	for _, d := range ds {
		out = append(out, d.Summary)
	}
	return out
}

func (s movesTable) compare(t *testing.T, key, sep string, got []string) {
	t.Helper()
	if diff := cmp.Diff(s[key], strings.Join(got, sep)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", key, diff)
	}
}

// movesExpanded are the instances that a configuration declares, and the blocks that the plan leaves out.
type movesExpanded struct {
	instances []addrs.AbsResourceInstance
	excluded  []string
}

func (s movesTable) expansion(t *testing.T) movesExpanded {
	out := movesExpanded{excluded: movesSplit(s["excluded"], ",")}
	if list, ok := s["declared"]; ok {
		for _, x := range movesSplit(list, ",") {
			out.instances = append(out.instances, movesInstance(t, x))
		}
		return out
	}
	for _, x := range movesSplit(s["config"], ",") {
		if !strings.Contains(x, " ") && !strings.HasSuffix(x, ".") {
			out.instances = append(out.instances, movesInstance(t, x))
		}
	}
	return out
}

func (x movesExpanded) Modules(m *config.Module) (out []addrs.ModuleInstance, _ bool) {
	if m.Addr.IsRoot() {
		return []addrs.ModuleInstance{{}}, true
	}
	for _, a := range x.instances {
		if a.Module.Module() == m.Addr && !slices.Contains(out, a.Module) {
			out = append(out, a.Module)
		}
	}
	return out, !slices.Contains(x.excluded, m.Call.Name+".")
}

func (x movesExpanded) Keys(abs addrs.AbsResource) (out []addrs.InstanceKey, _ bool) {
	for _, a := range x.instances {
		if a.AbsResource() == abs {
			out = append(out, a.Resource.Key)
		}
	}
	return out, !slices.Contains(x.excluded, abs.Resource.Name)
}
