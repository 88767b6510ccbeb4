package executor

import (
	"fmt"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// A change of the state that a comment asks for becomes a block of the configuration language: import, moved,
// or removed without destruction. So it is planned, shown, judged and applied like a change of the pull
// request, and it is in the saved plan.

// commandFile is the name of a file that is added to the root module. It has the blocks that the options of a
// plan command stand for.
const commandFile = "lockstep_command.tf"

// commanded returns a tree with an additional file that has the blocks of a plan's options, or the same tree if
// there are none.
func commanded(tree source.Tree, o grammar.Options) source.Tree {
	if blocks := blocksOf(o); len(blocks) > 0 {
		return commandTree{tree, blocks}
	}
	return tree
}

// blocksOf returns the blocks that the options of a plan stand for, as the text of a configuration file. The
// grammar has checked that addresses are only traversals; IDs are quoted.
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

// markTyped marks the import blocks of a comment, whose IDs may be identities.
func markTyped(cfg *config.Config) {
	for _, im := range cfg.Root.Imports {
		im.Typed = path.Base(im.Range.Filename) == commandFile
	}
}

// untaint removes the mark "tainted" from the objects that the option -untaint names, in the state in memory,
// before a plan is made. The apply stores the state with that change. first is set for a new plan: then an
// object without the mark is an error. If a plan is made again, somebody else may have removed the mark.
func (o *checkout) untaint(first bool) (ds diags.Diagnostics) {
	if len(o.job.Options.Untaints) == 0 {
		return nil
	}
	s := o.State.Current
	e := s.Edit()
	for _, text := range o.job.Options.Untaints {
		addr, err := addrs.ParseAbsResourceInstance(text)
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "Invalid address for -untaint", "-untaint: %s.", err)...)
			continue
		}
		in := s.Instance(addr)
		switch {
		case in != nil && in.Current != nil && in.Current.Status == states.Tainted:
			object := *in.Current
			object.Status = states.Ready
			e.ReplaceObject(addrs.ResourceInstanceObject{Instance: addr}, &object)
		case first && !o.job.Options.Rest:
			ds = append(ds, diags.Errorf(nil, "Resource instance is not tainted", "The state has no tainted object of %s, so there is nothing to untaint.", addr)...)
		}
	}
	if !ds.HasErrors() {
		o.State.Pretend(e.State())
	}
	return ds
}

// stores reports whether the apply of a plan without changes has something to store: results of an earlier
// apply, or objects without their mark.
func (o *checkout) stores() bool { return o.Recovery.Folded || len(o.job.Options.Untaints) > 0 }

// A commandTree is a configuration with one additional file.
type commandTree struct {
	source.Tree
	blocks []byte
}

// ReadDir implements source.Tree. It refuses a file of a pull request with the same name: nobody would know
// which file was read.
func (t commandTree) ReadDir(dir string) ([]string, error) {
	names, err := t.Tree.ReadDir(dir)
	if err != nil || path.Clean(dir) != "." {
		return names, err
	}
	if slices.Contains(names, commandFile) {
		return nil, fmt.Errorf("the name of the file %s is reserved for commands in comments: rename it", commandFile)
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
