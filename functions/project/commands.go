package project

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// programs reads the names of programs whose commands are obeyed.
func (p *parser) programs(a *hcl.Attribute) (out []string) {
	known := grammar.Allow.Arg("commands").OneOf
	for _, s := range p.list(a) {
		if !slices.Contains(known, s.text) {
			p.errorf(s.at, "Invalid program", "Lockstep does not know the commands of %q. It knows those of %s.", s.text, strings.Join(known, ", "))
			continue
		}
		out = append(out, s.text)
	}
	return out
}

// Obeys reports whether s, which comes from the base branch, has commands for another program carried out as ours.
func (s *Settings) Obeys(program string) bool {
	return s != nil && slices.Contains(s.Allow.Commands, program)
}
