package project

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Mode says what Lockstep does with a project.
type Mode string

const (
	// modeActive is the mode in which Lockstep plans and applies.
	modeActive Mode = "active"
	// modeShadow is the mode in which another tool applies. Lockstep only plans, and compares its plans with those of the
	// other tool.
	modeShadow Mode = "shadow"
)

// Shadow names the tool that applies projects in shadow mode.
type Shadow struct {
	Tool   string // a name in the table of the shadow block
	Author string // the login that writes the tool's comments
}

// mode reads the argument mode.
func (p *parser) mode(a *hcl.Attribute, x *Project) {
	if a == nil {
		return
	}
	before, on := len(p.diags), ""
	p.decode(a, &on, "a text")
	switch x.Mode = Mode(on); {
	case x.Mode == modeActive || x.Mode == modeShadow:
	case len(p.diags) > before:
		x.Mode = modeShadow // the more careful value
	default:
		p.errorf(a.Expr.Range(), "Invalid mode", "The mode of a project is %q (Lockstep plans and applies) or %q (another tool applies, and Lockstep only plans and compares).", modeActive, modeShadow)
		x.Mode = modeShadow // the more careful value
	}
}

// shadow reads the shadow block.
func (p *parser) shadow(blocks hcl.Blocks) {
	for i, b := range blocks {
		if i > 0 {
			p.errorf(b.DefRange, "Second shadow block", "There is one at %s already: merge the two.", blocks[0].DefRange)
			continue
		}
		before := len(p.diags)
		attrs := p.arguments(grammar.Shadow, b)
		out := Shadow{}
		p.decode(attrs["tool"], &out.Tool, "a text")
		if known := grammar.Shadow.Arg("tool").OneOf; attrs["tool"] != nil && !slices.Contains(known, out.Tool) {
			p.errorf(attrs["tool"].Expr.Range(), "Unknown tool", "Lockstep cannot read the plans of %q. Write one of %s. For any other tool, remove the shadow block: Lockstep then compares its plans with the state after the apply.", out.Tool, strings.Join(known, ", "))
		}
		p.decode(attrs["author"], &out.Author, "a text")
		party, err := requirements.ParseParty(out.Author)
		if attrs["author"] != nil && (err != nil || party.Login == "") {
			p.errorf(attrs["author"].Expr.Range(), "Invalid author", "%q is not the login of a person or an App. GitHub shows the login above each comment. For an App, add [bot]: \"acme-atlantis[bot]\".", out.Author)
		}
		if out.Author = party.Login; len(p.diags) == before {
			p.settings.Shadow = &out
		}
	}
}

// withoutEffect warns about settings that shadow mode leaves without an effect.
func (p *parser) withoutEffect(content *hcl.BodyContent) {
	s := p.settings
	if p.diags.HasErrors() {
		return
	}
	blocks := content.Blocks.OfType(grammar.Shadow.Type)
	switch {
	case !s.ShadowsSome() && len(blocks) > 0:
		p.warnf(blocks[0].DefRange, "Block without effect", "No project has mode = %q, so Lockstep compares nothing. Write the argument into the defaults block or into a project block, or remove this block.", modeShadow)
	case s.ShadowsSome() && s.Automerge != nil:
		p.warnf(content.Blocks.OfType(grammar.Automerge.Type)[0].DefRange, "Automerge without effect", "Lockstep does not merge pull requests that change a project in shadow mode, because the other tool applies it. The block counts for a pull request that changes only projects with mode = %q.", modeActive)
	}
	if !s.OnlyShadows() {
		return
	}
	for _, form := range []grammar.Block{grammar.Check, grammar.Drift, grammar.Hook, grammar.Notify} {
		for _, b := range content.Blocks.OfType(form.Type) {
			p.warnf(b.DefRange, "Block without effect", "All projects are in shadow mode, in which Lockstep only plans and writes one neutral check. The %s block counts once a project has mode = %q.", form.Type, modeActive)
		}
	}
	for _, b := range content.Blocks.OfType(grammar.Require.Type) {
		if len(b.Labels) > 0 && b.Labels[0] != "plan" {
			p.warnf(b.DefRange, "Block without effect", "All projects are in shadow mode, in which Lockstep carries out no commands. The block counts once a project has mode = %q.", modeActive)
		}
	}
}

// Shadows reports whether a project of a pull request is in shadow mode. base are the projects of the base branch that the
// caller knows in addition to those in s. s comes from the base branch, and may be nil.
//
// A project that the base branch does not have is in shadow mode if any project is. So a pull request that gives a project
// another name does not take it out of that mode.
func (s *Settings) Shadows(p Project, base []Project) bool {
	if !s.ShadowsSome() {
		return false
	}
	known := s.known(p)
	for _, x := range base {
		if x.Name == p.Name || x.Dir == p.Dir && x.Workspace == p.Workspace {
			known = append(known, x)
		}
	}
	return len(known) == 0 || slices.ContainsFunc(known, func(x Project) bool { return x.Mode == modeShadow })
}

// ShadowsSome reports whether at least one project can be in shadow mode.
func (s *Settings) ShadowsSome() bool {
	return s != nil && slices.ContainsFunc(s.modes(), func(m Mode) bool { return m == modeShadow })
}

// OnlyShadows reports whether all projects are in shadow mode. Lockstep is then silent in the repository.
func (s *Settings) OnlyShadows() bool {
	return s != nil && !slices.ContainsFunc(s.modes(), func(m Mode) bool { return m != modeShadow })
}

// modes returns the modes of all blocks. The first one is that of the projects without a block.
func (s *Settings) modes() []Mode {
	out := []Mode{s.defaults.Mode}
	for _, x := range s.Projects {
		out = append(out, x.Mode)
	}
	for _, w := range s.wildcards {
		out = append(out, w.Mode)
	}
	return out
}
