package project

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/hooks"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// ownDir stands for the project's own directory in a pattern of when_changed.
const ownDir = "{dir}"

// A guard is a pattern of projects, or of resource types, in a block of the settings. One that must hold something and matches nothing
// is an error: a slip of the pen would lift it in silence.
type guard struct {
	block   string // require "apply"
	pattern string
	at      hcl.Range
	types   bool // it is for resource types
	holds   bool // it can refuse something
}

// guards notes the patterns of blocks, whose mistakes their own parsers report.
func (p *parser) guards(all hcl.Blocks) {
	for _, kind := range []grammar.Block{grammar.Require, grammar.Policy, grammar.Gate, grammar.Hook, grammar.Notify} {
		for _, b := range all.OfType(kind.Type) {
			block := b.Type
			for _, l := range b.Labels {
				block += " \"" + l + "\""
			}
			p.note(b.Body, guard{block: block, holds: p.refuses(b)})
		}
	}
}

// refuses reports whether a block can refuse something.
func (p *parser) refuses(b *hcl.Block) bool {
	if b.Type != grammar.Hook.Type {
		return b.Type != grammar.Notify.Type
	}
	return slices.ContainsFunc(p.settings.Hooks, func(h hooks.Hook) bool {
		return h.Name == b.Labels[0] && slices.ContainsFunc(h.On, hooks.Event.Before)
	})
}

// note adds the patterns in a body, as in the block of g.
func (p *parser) note(body hcl.Body, g guard) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "projects"}, {Name: "no_destroy"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "alternative", LabelNames: []string{"name"}}},
	})
	for _, name := range []string{"projects", "no_destroy"} {
		a := content.Attributes[name]
		if a == nil {
			continue
		}
		items, _ := hcl.ExprList(a.Expr)
		for _, item := range items {
			v, ds := item.Value(nil)
			if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
				continue
			}
			g := g
			g.pattern, g.at, g.types = blocks.CleanPattern(v.AsString()), item.Range(), name == "no_destroy"
			p.settings.guards = append(p.settings.guards, g)
		}
	}
	for _, b := range content.Blocks {
		p.note(b.Body, g)
	}
}

// unguarded returns the errors of patterns that must hold something and select none of some projects, and the warnings of others. types
// are the resource types of their configurations; nil, if there may be more.
func (s *Settings) unguarded(all []Project, types map[string]bool) (errors, warnings diags.Diagnostics) {
	var names []string
	for _, p := range all {
		names = append(names, p.Name, p.Dir)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, g := range s.guards {
		switch {
		case g.types && types != nil && !slices.ContainsFunc(sortedKeys(types), func(t string) bool { return requirements.MatchesType(g.pattern, t) }):
			warnings = append(warnings, diags.Warningf(&g.at, "No such resources", "No project has a resource of the type %q, which no_destroy of the block %s names.%s Correct it, unless such resources are to come.", g.pattern, g.block, diags.Suggest(g.pattern, slices.Values(sortedKeys(types))))...)
		case g.types || requirements.Selects([]string{g.pattern}, names, false):
		case g.holds:
			errors = append(errors, diags.Errorf(&g.at, "Guard without projects", "The pattern %q of the block %s selects no project: it would guard nothing. On the base branch, all applies are blocked until it is corrected.%s Write the name or the directory of a project, or remove the pattern.", g.pattern, g.block, diags.Suggest(g.pattern, slices.Values(names)))...)
		default:
			warnings = append(warnings, diags.Warningf(&g.at, "Pattern without projects", "The pattern %q of the block %s selects no project.%s Write the name or the directory of a project.", g.pattern, g.block, diags.Suggest(g.pattern, slices.Values(names)))...)
		}
	}
	return errors, warnings
}

func sortedKeys(m map[string]bool) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// HoldsSome reports whether a block that can refuse something is for some projects only, so that the base branch's projects matter.
func (s *Settings) HoldsSome() bool {
	return s != nil && slices.ContainsFunc(s.guards, func(g guard) bool { return g.holds && !g.types })
}

// unused returns warnings of patterns of files, directories and states that match none.
func (s *Settings) unused(files fs.FS, all []Project, lines map[string]hcl.Range) (ds diags.Diagnostics) {
	for _, pattern := range s.Allow.States {
		if !slices.ContainsFunc(all, func(p Project) bool { return p.Nowhere != "" || pattern.Matches(p.Place) }) {
			ds = append(ds, diags.Warningf(&s.statesAt, "Pattern without states", "No project has its state at %q, which states allows. Correct the pattern, unless such projects are to come.", pattern.String())...)
		}
	}
	if len(s.exclude) > 0 {
		dirs, err := configurations(files)
		if err != nil {
			return nil
		}
		for _, pattern := range s.exclude {
			one := &Settings{exclude: []string{pattern}}
			if !slices.ContainsFunc(dirs, one.excluded) {
				ds = append(ds, diags.Warningf(&s.excludeAt, "Pattern without directories", "The pattern %q in exclude is for no directory with configuration files.%s", pattern, diags.Suggest(pattern, slices.Values(dirs)))...)
			}
		}
	}
	var names []string
	told, matches := map[[2]string]bool{}, 0
	for _, p := range all {
		if len(p.WhenChanged) == 0 {
			continue
		}
		if names == nil {
			var err error
			if names, err = newCheckout(files).names(); err != nil {
				return ds
			}
		}
		at := lines[p.Name]
		if !slices.ContainsFunc(p.WhenChanged, func(pattern string) bool { return !strings.HasPrefix(pattern, "!") }) && !told[[2]string{p.At}] {
			ds = append(ds, diags.Warningf(&at, "Patterns that match nothing", "All patterns in when_changed of the project %q take files out (!), so they match none. Begin with a pattern of the files that plan the project: %q.", p.Name, ownDir+"/**")...)
			told[[2]string{p.At}] = true
		}
		for _, pattern := range p.WhenChanged {
			key := [2]string{p.At, pattern}
			if matches += len(names); matches > maxMatches/10 {
				return ds // it is for people who correct a slip, who have not so many
			}
			if strings.HasPrefix(pattern, "!") || told[key] || slices.ContainsFunc(names, func(name string) bool { return blocks.MatchesPath(pattern, name) }) {
				continue
			}
			told[key] = true
			ds = append(ds, diags.Warningf(&at, "Pattern without files", "The pattern %q in when_changed of the project %q matches no file. Patterns begin at the repository's directory; %s stands for the project's own.", pattern, p.Name, ownDir)...)
		}
	}
	return ds
}
