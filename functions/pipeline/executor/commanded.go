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

// A comment can ask for a change of the state. It becomes a block of the configuration language: import, moved,
// or removed without destruction. So it is planned, shown, judged and applied like a change by the pull
// request, and it is part of the saved plan.

// commandFile is the name of the additional file in the root module. It has the blocks for the options of a
// plan command.
const commandFile = "lockstep_command.tf"

// commanded returns tree with an additional file, which has the blocks for the options o. Without such options,
// it returns tree.
func commanded(tree source.Tree, o grammar.Options) source.Tree {
	if blocks := blocksOf(o); len(blocks) > 0 {
		return commandTree{tree, blocks}
	}
	return tree
}

// blocksOf returns the text of a configuration file with a block for each option that changes the state.
// Package grammar has checked that addresses contain no other expressions. IDs are quoted.
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

// markTyped marks those import blocks that come from a comment. The IDs in them may be identities.
func markTyped(cfg *config.Config) {
	for _, im := range cfg.Root.Imports {
		im.Typed = path.Base(im.Range.Filename) == commandFile
	}
}

// untaint removes the status "tainted" from the objects that the option -untaint names. It changes the state in
// memory, before a plan is made; the apply stores it. first is set for the first plan: an object that is not
// tainted is then an error. When the plan is made once more, somebody else may have removed the status.
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

// stores reports whether the apply of a plan without changes must store the state: it has results of an earlier
// apply, or objects that are no longer tainted.
func (o *checkout) stores() bool { return o.Recovery.Folded || len(o.job.Options.Untaints) > 0 }

// A commandTree is a configuration with one additional file.
type commandTree struct {
	source.Tree
	blocks []byte
}

// ReadDir implements source.Tree. A file of the pull request with the same name as the additional file is an
// error: nobody would know which of the two was read.
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
