package executor

import (
	"fmt"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// A change of the state that a comment asks for is a block of the configuration language: import, moved, or
// removed without destruction. So it is planned, shown, judged and applied as if the pull request had it, and
// it is in the saved plan.

// commandFile is the file of the root module that has these blocks.
const commandFile = "lockstep_command.tf"

// commanded returns a tree with the blocks of a plan's options, and the tree itself if there are none.
func commanded(tree source.Tree, o grammar.Options) source.Tree {
	if !o.Changes() {
		return tree
	}
	return commandTree{tree, blocksOf(o)}
}

// blocksOf writes the blocks. Addresses have passed the checks of the grammar, so that they are no more than
// traversals; IDs are quoted.
func blocksOf(o grammar.Options) []byte {
	var out []byte
	for _, value := range o.Imports {
		addr, id, _ := grammar.Pair(value)
		out = fmt.Appendf(out, "import {\n  to = %s\n  id = %s\n}\n", addr, hclwrite.TokensForValue(cty.StringVal(id)).Bytes())
	}
	for _, value := range o.Moves {
		from, to, _ := grammar.Pair(value)
		out = fmt.Appendf(out, "moved {\n  from = %s\n  to   = %s\n}\n", from, to)
	}
	for _, addr := range o.Forgets {
		out = fmt.Appendf(out, "removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", addr)
	}
	return out
}

// A commandTree is a configuration with one more file.
type commandTree struct {
	source.Tree
	blocks []byte
}

// ReadDir implements source.Tree. It refuses a file of a pull request in the place of ours: nobody would know
// which of them was read.
func (t commandTree) ReadDir(dir string) ([]string, error) {
	names, err := t.Tree.ReadDir(dir)
	if err != nil || path.Clean(dir) != "." {
		return names, err
	}
	if slices.Contains(names, commandFile) {
		return nil, fmt.Errorf("the file %s has the name of the one with the blocks of a command: rename it", commandFile)
	}
	names = append(slices.Clone(names), commandFile)
	slices.Sort(names)
	return names, nil
}

// ReadFile implements source.Tree.
func (t commandTree) ReadFile(name string) ([]byte, error) {
	if path.Clean(name) == commandFile {
		return slices.Clone(t.blocks), nil
	}
	return t.Tree.ReadFile(name)
}
