package order

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// The tables in testdata, one story a paragraph:
//
//	# comments
//	name of the story
//	  prior    b -> a, c -> b       what the state has stored (made transitive here)
//	  config   b -> a               what the configuration says; "b -> a[x]": of a only a[x]
//	  provider p -> r               what the configuration of provider p needs
//	  changes  a -/+, b[x] ~ cbd    address, action, and words about it
//	  want     x < y < z; u < v     every order of two steps, but those that follow from others
//	  wants    x < y; u | v         some of them; u | v: no order
//
// An address is a resource's name, with an instance key (b[0]), in a module instance
// (m[x].b), deposed (b!1). Actions are + ~ - -/+ (delete first) +/- (create first)
// = (no-op) < (read) and forget. Words: cbd for create-before-destroy,
// @p for the provider. A step is a word and an address, as in "delete b[x]".
func TestNotation(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for story := range strings.SplitSeq(string(text), "\n\n") {
			s := &table{deps: map[string]map[string][]string{}}
			var name string
			for line := range strings.Lines(story) {
				switch key, rest, _ := strings.Cut(strings.TrimSpace(line), " "); {
				case key == "" || key == "#" || strings.HasPrefix(key, "#"):
				case !strings.HasPrefix(line, " "):
					name = strings.TrimSpace(line)
				default:
					s.read(t, key, strings.TrimSpace(rest))
				}
			}
			if name != "" || len(s.changes) > 0 {
				t.Run(filepath.Base(file)+"/"+name, s.check)
			}
		}
	}
}

// A table is one story.
type table struct {
	deps    map[string]map[string][]string // by keyword and name
	changes []Change
	names   []string // of the changes
	want    []string // complete, if any
	wants   []string
}

// read takes in a line.
func (s *table) read(t *testing.T, key, rest string) {
	split := func(s, sep string) (out []string) {
		for part := range strings.SplitSeq(s, sep) {
			out = append(out, strings.TrimSpace(part))
		}
		return out
	}
	switch key {
	case "prior", "config", "provider":
		if s.deps[key] == nil {
			s.deps[key] = map[string][]string{}
		}
		for _, dep := range split(rest, ",") {
			x, list, _ := strings.Cut(dep, " -> ")
			s.deps[key][x] = append(s.deps[key][x], strings.Fields(list)...)
		}
	case "changes":
		for _, change := range split(rest, ",") {
			s.change(t, strings.Fields(change))
		}
	case "want":
		s.want = append(s.want, split(rest, ";")...)
	case "wants":
		s.wants = append(s.wants, split(rest, ";")...)
	default:
		t.Fatalf("what is %q?", key)
	}
}

// change reads an address, an action and further words.
func (s *table) change(t *testing.T, words []string) {
	c := Change{Action: map[string]plans.Action{
		"+": plans.Create, "~": plans.Update, "-": plans.Delete, "-/+": plans.DeleteThenCreate, "+/-": plans.CreateThenDelete,
		"=": plans.NoOp, "<": plans.Read, "forget": plans.Forget,
	}[words[1]]}
	for _, w := range words[2:] {
		if w == "cbd" {
			c.CreateBeforeDestroy = true
		} else if p, ok := strings.CutPrefix(w, "@"); ok {
			c.Provider.Alias = p
		} else {
			t.Fatalf("what is %q?", w)
		}
	}
	addr, deposed, _ := strings.Cut(words[0], "!")
	c.Object.Deposed = addrs.DeposedKey(deposed)
	c.Object.Instance = parseInstance(addr)
	c.Config = c.Object.Instance.Config()
	s.names = append(s.names, words[0])
	s.changes = append(s.changes, c)
}

// parseInstance reads an address like m[x].b[0].
func parseInstance(s string) addrs.AbsResourceInstance {
	cut := func(s string) (string, addrs.InstanceKey) {
		name, key, ok := strings.Cut(s, "[")
		if !ok {
			return name, addrs.NoKey
		}
		return name, addrs.StringKey(strings.TrimSuffix(key, "]"))
	}
	a := addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t"}}}
	if m, rest, ok := strings.Cut(s, "."); ok {
		name, key := cut(m)
		a.Module, s = a.Module.Child(name, key), rest
	}
	a.Resource.Resource.Name, a.Resource.Key = cut(s)
	return a
}

// fill gives the changes their dependencies.
func (s *table) fill() {
	lists := map[string][]addrs.ConfigResource{}
	list := func(key, name string, transitive bool) []addrs.ConfigResource {
		if l, ok := lists[key+name]; ok {
			return l
		}
		names := slices.Clone(s.deps[key][name])
		for i := 0; transitive && i < len(names); i++ {
			for _, n := range s.deps[key][names[i]] {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
		var out []addrs.ConfigResource
		for _, n := range names {
			out = append(out, parseInstance(n).Config())
		}
		lists[key+name] = out
		return out
	}
	for i := range s.changes {
		c := &s.changes[i]
		name := c.Config.Resource.Name
		if !c.Config.Module.IsRoot() {
			name = strings.TrimPrefix(c.Config.Module.String(), "module.") + "." + name
		}
		c.ProviderDeps = list("provider", c.Provider.Alias, false)
		c.ConfigDeps = list("config", name, false)
		for _, dep := range s.deps["config"][name] {
			if at := parseInstance(dep); !at.Resource.Key.IsNone() {
				if c.OnlyInstances == nil {
					c.OnlyInstances = map[addrs.ConfigResource][]addrs.InstanceKey{}
				}
				c.OnlyInstances[at.Config()] = append(c.OnlyInstances[at.Config()], at.Resource.Key)
			}
		}
		if c.Action != plans.Create {
			c.StoredDeps = list("prior", name, true)
		}
	}
}

// check compares the order of the steps with what is wanted.
func (s *table) check(t *testing.T) {
	s.fill()
	if _, err := check(s.changes); err != nil {
		t.Error(err)
	}
	steps, all := s.facts()
	var got, want []string
	for fact := range all {
		x, y, _ := strings.Cut(fact, " < ")
		between := func(z string) bool { return all[x+" < "+z] && all[z+" < "+y] }
		if !slices.ContainsFunc(steps, between) {
			got = append(got, fact)
		}
	}
	for _, chain := range s.want {
		words := strings.Split(chain, " < ")
		for i := range words[1:] {
			want = append(want, words[i]+" < "+words[i+1])
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), got); len(s.want) > 0 && diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, w := range s.wants {
		x, y, free := strings.Cut(w, " | ")
		ok := all[w]
		if free {
			ok = !all[x+" < "+y] && !all[y+" < "+x] && slices.Contains(steps, x) && slices.Contains(steps, y)
		}
		if !ok {
			t.Errorf("want %s, got\n%s", w, strings.Join(got, "\n"))
		}
	}
	if len(s.want)+len(s.wants) == 0 {
		t.Error("nothing is wanted")
	}
}

// facts returns the steps and all their orders, in words.
func (s *table) facts() (steps []string, all map[string]bool) {
	g := Steps(s.changes)
	var b before
	for y, list := range g.After {
		for _, x := range list {
			b[y] |= 1 << x
		}
	}
	b.close(len(g.Steps))
	all = map[string]bool{}
	for y, sy := range g.Steps {
		if sy.Verb == Barrier {
			continue
		}
		steps = append(steps, fmt.Sprint(sy.Verb, " ", s.names[sy.Change]))
		for x, sx := range g.Steps {
			if b[y]>>x&1 == 1 && sx.Verb != Barrier {
				all[fmt.Sprint(sx.Verb, " ", s.names[sx.Change], " < ", sy.Verb, " ", s.names[sy.Change])] = true
			}
		}
	}
	return steps, all
}
