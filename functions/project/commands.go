package project

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// programs reads the names of programs that have commands in comments.
func (p *parser) programs(a *hcl.Attribute) (out []string) {
	known := grammar.Allow.Arg("commands").OneOf
	for _, s := range p.list(a) {
		if !slices.Contains(known, s.text) {
			p.errorf(s.at, "Invalid program", "Lockstep does not know the commands of %q.%s Write one of %s.", s.text, diags.Suggest(s.text, slices.Values(known)), strings.Join(known, ", "))
			continue
		}
		out = append(out, s.text)
	}
	return out
}

// leaves parses the list of programs whose commands Lockstep ignores. A program cannot be both obeyed and
// ignored.
func (p *parser) leaves(a *hcl.Attribute) {
	p.settings.ignored = p.programs(a)
	for _, name := range p.settings.ignored {
		if slices.Contains(p.settings.Allow.Commands, name) && a != nil {
			p.errorf(a.Expr.Range(), "Commands carried out and ignored", "ignore_commands lets Lockstep ignore the commands of %s, and allow { commands } lets Lockstep obey them. Remove one of the two.", name)
		}
	}
}

// Ignores reports whether Lockstep leaves the commands of another program to that program. The tool that applies projects
// in shadow mode is always such a program. s comes from the base branch.
func (s *Settings) Ignores(program string) bool {
	return s != nil && (slices.Contains(s.ignored, program) || s.ShadowsSome() && s.Shadow != nil && s.Shadow.Tool == program)
}

// Obeys reports whether Lockstep carries out the commands of another program as if they were Lockstep's own. s
// comes from the base branch.
func (s *Settings) Obeys(program string) bool {
	return s != nil && slices.Contains(s.Allow.Commands, program)
}
