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

// maxYAMLValues is the most values of a document with aliases, once each alias is replaced
// by its anchor's node. Nine aliases of nine aliases, and so on, are soon more
// than any machine can hold.
const maxYAMLValues = 1_000_000

// yamldecode is the library's, but refuses documents that would keep it busy for ever.
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

// checkYAML refuses a document that is nested too deep, or whose aliases stand for too
// much. It reads the document only if it can be either: nesting takes an indicator a level.
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
	case s.depth > parsing.MaxDepth+1: // with the document itself
		return fmt.Errorf("the document is nested more than %d levels deep, which is the limit", parsing.MaxDepth)
	case w.aliases && s.values > maxYAMLValues:
		return fmt.Errorf("the document's aliases stand for more than %d values, which is the limit", maxYAMLValues)
	}
	return nil
}

// yamlSize is how deep a node is nested, and how many values are in it, itself included.
type yamlSize struct{ depth, values int }

type yamlWeight struct {
	known   map[*yaml.Node]yamlSize // of nodes with an anchor; nothing while they are looked at
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
