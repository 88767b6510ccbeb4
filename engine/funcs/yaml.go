package funcs

import (
	"fmt"
	"strings"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v4"

	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// maxYAMLValues is the largest number of values in a document with aliases, counted with each alias replaced
// by its anchor's node. Nine aliases of nine aliases, and so on, soon have more values than any machine can
// store.
const maxYAMLValues = 1_000_000

// yamlDecodeFunc is the library's yamldecode, but refuses documents that would keep it busy for ever.
var yamlDecodeFunc = function.New(&function.Spec{
	Params: ctyyaml.YAMLDecodeFunc.Params(),
	Type: func(args []cty.Value) (cty.Type, error) {
		if args[0].IsKnown() && !args[0].IsNull() {
			if err := checkYAML(args[0].AsString()); err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
		}
		return ctyyaml.YAMLDecodeFunc.ReturnTypeForValues(args)
	},
	Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
		return ctyyaml.Standard.Unmarshal([]byte(args[0].AsString()), ty)
	},
})

// checkYAML returns an error if a document is nested too deep, or has too many values because of its aliases.
// It parses the document only if one of these is possible: each level of nesting needs at least one indicator
// character, and an alias needs an anchor.
func checkYAML(src string) error {
	indicators := 0
	for _, c := range []byte(src) {
		switch c {
		case '[', '{', '-', ':', '?':
			indicators++
		}
	}
	if indicators <= parsing.MaxDepth && !strings.Contains(src, "&") {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		return err
	}
	w := yamlWeight{known: map[*yaml.Node]yamlSize{}}
	switch s := w.of(&doc); {
	case s.depth > parsing.MaxDepth+1: // the document itself counts as a level
		return fmt.Errorf("the document is nested more than %d levels deep, which is the limit", parsing.MaxDepth)
	case w.aliases && s.values > maxYAMLValues:
		return fmt.Errorf("the document's aliases stand for more than %d values, which is the limit", maxYAMLValues)
	}
	return nil
}

// yamlSize is the depth of a node's nesting, and the number of values in it, itself included.
type yamlSize struct{ depth, values int }

type yamlWeight struct {
	known   map[*yaml.Node]yamlSize // sizes of nodes with an anchor; the zero size while a node is visited
	aliases bool
}

// of returns the size of a node, with every alias replaced by its anchor's node.
func (w *yamlWeight) of(n *yaml.Node) yamlSize {
	if n.Kind == yaml.AliasNode {
		w.aliases = true
		return w.known[n.Alias]
	}
	s := yamlSize{values: 1}
	for _, x := range n.Content {
		in := w.of(x)
		s.depth = max(s.depth, in.depth)
		s.values = min(s.values+in.values, maxYAMLValues+1)
	}
	if n.Kind != yaml.ScalarNode {
		s.depth++
	}
	if n.Anchor != "" {
		w.known[n] = s
	}
	return s
}
