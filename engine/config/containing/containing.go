// Package containing decides whether a configuration still has another, earlier one in it: whether
// the blocks of the earlier one do there as they did, beside others that were added, so that equal
// plans of both do the same.
//
// A plan does not have all of its configuration in it: provider configurations, provisioners, and
// the expressions of values that are not known yet are missing. So a comparison of two plans is one
// of their effects only if the blocks behind these effects are the same. This package compares the
// text of blocks, whatever file of their module's directory they are in:
//
//	provider, terraform           the same, and no others
//	locals, variables, modules,
//	ephemeral resources, outputs
//	of modules                    the same; others may be added
//	resources, data               may change and come and go, except those that a plan changes or reads
//	outputs of the root module,
//	moved, removed, import, check may change and come and go: their effects are in the plan
//	anything else, JSON, and
//	files of overrides            the same
//
// Tests of the language (.tftest.hcl) are no part of it. The package refuses to know plans, values,
// and files that are no configuration: its user compares those. Start at [Differences].
package containing

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// A Difference is a block, or a file, that is not the same in the later configuration.
type Difference struct {
	// Block names it as an address without its module: "local.x", "provider.aws", or the name of a
	// file.
	Block string
	// Resource is set for a resource or data block: "aws_vpc.x", "data.aws_vpc.x". Such a difference
	// counts only if a plan changes or reads the resource, in any module.
	Resource string
}

// Differences returns the differences between two configurations, given as the contents of their
// files by slash-separated path; "." is the root module's directory. It is empty if the later one
// has the earlier one in it.
func Differences(earlier, later map[string][]byte) []Difference {
	var out []Difference
	for _, name := range union(earlier, later) {
		a, before := earlier[name]
		b, after := later[name]
		if !native(name) && (before != after || !bytes.Equal(a, b)) {
			out = append(out, Difference{Block: name})
		}
	}
	a, broken := blocks(earlier)
	b, more := blocks(later)
	for _, name := range append(broken, more...) {
		out = append(out, Difference{Block: name})
	}
	for _, k := range union(a, b) {
		if !k.same(a[k], b[k]) {
			out = append(out, k.difference())
		}
	}
	return out
}

// native reports whether a file is one whose blocks are compared: in native syntax, and no override.
func native(name string) bool {
	base, ok := strings.CutSuffix(path.Base(name), ".tf")
	if !ok {
		base, ok = strings.CutSuffix(path.Base(name), ".tofu")
	}
	return ok && base != "override" && !strings.HasSuffix(base, "_override")
}

// A key identifies a block among those of its module's directory.
type key struct{ dir, kind, name string }

func (k key) String() string { return k.dir + " " + k.kind + " " + k.name }

// blocks returns the texts of all blocks, by key, and the names of files that cannot be read. A key
// may have several texts, as that of moved blocks, or of a provider's configurations.
func blocks(files map[string][]byte) (out map[key]string, broken []string) {
	out = map[key]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !native(name) {
			continue
		}
		f, ds := parsing.Config(files[name], name)
		body, ok := f.Body.(*hclsyntax.Body)
		if ds.HasErrors() || !ok {
			broken = append(broken, name)
			continue
		}
		add := func(kind, block string, at hcl.Range) {
			k := key{path.Dir(name), kind, block}
			out[k] += string(at.SliceBytes(files[name])) + "\x00"
		}
		for _, b := range body.Blocks {
			if b.Type != "locals" {
				add(b.Type, strings.Join(b.Labels, "."), b.Range())
				continue
			}
			for _, a := range b.Body.Attributes {
				add("local", a.Name, a.SrcRange)
			}
			for _, inner := range b.Body.Blocks {
				add("local", inner.Type, inner.Range())
			}
		}
		for _, a := range body.Attributes {
			add("attribute", a.Name, a.SrcRange)
		}
	}
	return out, broken
}

// same reports whether a block may be so in the later configuration; "" is no block.
func (k key) same(earlier, later string) bool {
	switch k.kind {
	case "local", "variable", "module", "ephemeral":
		return earlier == "" || earlier == later
	case "output":
		return k.dir == "." || earlier == "" || earlier == later
	case "moved", "removed", "import", "check":
		return true
	}
	return earlier == later
}

func (k key) difference() Difference {
	switch k.kind {
	case "resource":
		return Difference{Block: k.name, Resource: k.name}
	case "data":
		return Difference{Block: "data." + k.name, Resource: "data." + k.name}
	case "variable":
		return Difference{Block: "var." + k.name}
	}
	return Difference{Block: strings.TrimSuffix(k.kind+"."+k.name, ".")}
}

// union returns the keys of two maps, sorted by their texts.
func union[K comparable, V any](a, b map[K]V) []K {
	all := map[K]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return slices.SortedFunc(maps.Keys(all), func(x, y K) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
}
