package executor

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

// A difference is a block or a file that is not the same in the later configuration.
type difference struct {
	// Block is the block's address without its module ("local.x", "provider.aws"), or the name of a file.
	Block string
	// Resource is the address of a changed resource or data block: "aws_vpc.x", "data.aws_vpc.x". Such a
	// difference matters only if a plan changes or reads the resource, in any module. Resource is "" for other
	// differences.
	Resource string
}

// differences returns the differences between two configurations. earlier and later map slash-separated paths
// to the contents of files. Paths are relative to the root module's directory. The result is empty if the later
// configuration contains everything of the earlier one.
func differences(earlier, later map[string][]byte) []difference {
	var out []difference
	for _, name := range unionOf(earlier, later) {
		a, before := earlier[name]
		b, after := later[name]
		if !nativeSyntax(name) && (before != after || !bytes.Equal(a, b)) {
			out = append(out, difference{Block: name})
		}
	}
	a, broken := blocksIn(earlier)
	b, more := blocksIn(later)
	for _, name := range append(broken, more...) {
		out = append(out, difference{Block: name})
	}
	for _, k := range unionOf(a, b) {
		if !k.same(a[k], b[k]) {
			out = append(out, k.difference())
		}
	}
	return out
}

// nativeSyntax reports whether the blocks of a file are compared one by one: the file has native syntax and is
// not an override file.
func nativeSyntax(name string) bool {
	base, ok := strings.CutSuffix(path.Base(name), ".tf")
	if !ok {
		base, ok = strings.CutSuffix(path.Base(name), ".tofu")
	}
	return ok && base != "override" && !strings.HasSuffix(base, "_override")
}

// A blockKey identifies a block in the directory of its module.
type blockKey struct{ dir, kind, name string }

func (k blockKey) String() string { return k.dir + " " + k.kind + " " + k.name }

// blocksIn returns the texts of all blocks, by key, and the names of files that cannot be parsed. If several
// blocks have the same key, their texts are joined: for example, moved blocks have no names.
func blocksIn(files map[string][]byte) (out map[blockKey]string, broken []string) {
	out = map[blockKey]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !nativeSyntax(name) {
			continue
		}
		f, ds := parsing.Config(files[name], name)
		body, ok := f.Body.(*hclsyntax.Body)
		if ds.HasErrors() || !ok {
			broken = append(broken, name)
			continue
		}
		add := func(kind, block string, at hcl.Range) {
			k := blockKey{path.Dir(name), kind, block}
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

// same reports whether the change of a block's text from earlier to later can be ignored. The text is "" if the
// block does not exist. For example, an added local value can be ignored, but not a changed one.
func (k blockKey) same(earlier, later string) bool {
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

func (k blockKey) difference() difference {
	switch k.kind {
	case "resource":
		return difference{Block: k.name, Resource: k.name}
	case "data":
		return difference{Block: "data." + k.name, Resource: "data." + k.name}
	case "variable":
		return difference{Block: "var." + k.name}
	}
	return difference{Block: strings.TrimSuffix(k.kind+"."+k.name, ".")}
}

// unionOf returns the keys of two maps, sorted by their texts.
func unionOf[K comparable, V any](a, b map[K]V) []K {
	all := map[K]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return slices.SortedFunc(maps.Keys(all), func(x, y K) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
}
