package project

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// ownDir means the project's own directory in a pattern of when_changed.
const ownDir = "{dir}"

// A guard is a pattern of projects or resource types in a block of the settings. It is an error if the guard's
// block can refuse something and the pattern matches nothing. Without this error, a typing mistake would
// remove the protection, and nobody would notice.
type guard struct {
	block   string // require "apply", or the argument "stateful"
	pattern string
	at      hcl.Range
	types   bool // the pattern is for resource types
	holds   bool // the block can refuse something
}

// guards records the patterns of blocks. The blocks' own parsers report mistakes in the patterns.
func (p *parser) guards(all hcl.Blocks) {
	for _, kind := range []grammar.Block{grammar.Require, grammar.Policy, grammar.Gate, grammar.Step, grammar.Hook, grammar.Notify} {
		for _, b := range all.OfType(kind.Type) {
			block := b.Type
			for _, l := range b.Labels {
				block += " \"" + l + "\""
			}
			p.note(b.Body, guard{block: block, holds: p.refuses(b)})
		}
	}
}

// refuses reports whether a block can refuse something, such as an apply.
func (p *parser) refuses(b *hcl.Block) bool {
	if b.Type == grammar.Step.Type {
		return slices.ContainsFunc(p.settings.Require, func(r requirements.Requirement) bool {
			return r.Step != nil && r.Step.Name == b.Labels[0] && r.Step.Required && r.Step.On != requirements.AfterApply
		})
	}
	if b.Type != grammar.Hook.Type {
		return b.Type != grammar.Notify.Type
	}
	return slices.ContainsFunc(p.settings.Hooks, func(h endpoints.Hook) bool {
		return h.Name == b.Labels[0] && slices.ContainsFunc(h.On, endpoints.HookEvent.Before)
	})
}

// note records the patterns in a body, for the block of g.
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
		g.types = name == "no_destroy"
		parse := blocks.ParseProject
		if g.types {
			parse = blocks.ParseType
		}
		items, _ := hcl.ExprList(a.Expr)
		told := map[string]bool{}
		for _, item := range items {
			v, ds := item.Value(nil)
			if ds.HasErrors() || v.IsNull() || v.Type() != cty.String {
				continue
			}
			pattern, err := parse(v.AsString())
			if err != nil || told[pattern] {
				continue
			}
			told[pattern] = true
			g.pattern, g.at = pattern, item.Range()
			p.settings.guards = append(p.settings.guards, g)
		}
	}
	for _, b := range content.Blocks {
		p.note(b.Body, g)
	}
}

// maxDead is the maximum number of alternatives of a pattern that one message reports as matching
// nothing.
const maxDead = 5

// dead returns the parts of a pattern that match nothing. A part is the pattern itself, or an alternative in
// the pattern's braces. dead returns nil if all parts match.
func dead(pattern string, matches func(pattern string) bool) (out []string) {
	if !matches(pattern) {
		return []string{pattern}
	}
	if all := blocks.Alternatives(pattern); len(all) > 1 {
		for _, one := range all {
			if len(out) < maxDead && !matches(one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// deadPath returns the parts of a path pattern that match none of the names, as [dead] does. Only a whole
// pattern can be a directory that matches everything below it. left is the number of comparisons that may still
// be made. When it is 0, deadPath checks only the whole pattern.
func deadPath(pattern string, names []string, left *int) []string {
	return dead(pattern, func(p string) bool {
		if p == pattern {
			return slices.ContainsFunc(names, func(name string) bool { return blocks.MatchesPath(p, name) })
		}
		if *left -= len(names); *left < 0 {
			return true
		}
		return slices.ContainsFunc(names, func(name string) bool { return doublestar.MatchUnvalidated(p, name) })
	})
}

// part returns a text for a warning. The parameter one is the pattern itself, or an alternative in the
// pattern's braces: the text names it as such.
func part(pattern, one string) string {
	if pattern == one {
		return fmt.Sprintf("The pattern %q", pattern)
	}
	return fmt.Sprintf("The alternative %q of the pattern %q", one, pattern)
}

// unguarded reports the guards that select none of the projects. It returns an error if a guard's block can
// refuse something, and a warning otherwise. types are the resource types in the configurations of the
// projects; nil if there may be more.
func (s *Settings) unguarded(all []Project, types map[string]bool) (errors, warnings diags.Diagnostics) {
	var names []string
	for _, p := range all {
		names = append(names, p.Name, p.Dir)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	left := maxMatches
	for _, g := range s.guards {
		if g.types {
			for _, one := range dead(g.pattern, func(pattern string) bool {
				return types == nil || slices.ContainsFunc(sortedKeys(types), func(t string) bool { return requirements.MatchesType(pattern, t) })
			}) {
				where := "no_destroy of the block " + g.block
				if g.block == "stateful" {
					where = "stateful"
				}
				warnings = append(warnings, diags.Warningf(&g.at, "No such resources", "%[2]s names the type %[1]q, but no project has a resource of this type.%[3]s Correct the type, or ignore this if you will add such resources.", one, where, diags.Suggest(one, slices.Values(sortedKeys(types))))...)
			}
			continue
		}
		for _, one := range deadPath(g.pattern, names, &left) {
			hint := diags.Suggest(one, slices.Values(names))
			if one == "." {
				hint = " For all projects, write \"**\"."
			}
			if g.holds {
				errors = append(errors, diags.Errorf(&g.at, "Guard without projects", "%s of the block %s matches no project. If you merge this, Lockstep blocks all applies until it is corrected.%s Write the name or the directory of a project, or remove it.", part(g.pattern, one), g.block, hint)...)
			} else {
				warnings = append(warnings, diags.Warningf(&g.at, "Pattern without projects", "%s of the block %s matches no project.%s Write the name or the directory of a project.", part(g.pattern, one), g.block, hint)...)
			}
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

// HoldsSome reports whether a block that can refuse something applies only to some projects. If so, the caller
// must know the base branch's projects.
func (s *Settings) HoldsSome() bool {
	return s != nil && slices.ContainsFunc(s.guards, func(g guard) bool { return g.holds && !g.types })
}

// unused returns warnings about patterns of files, directories and states that match nothing.
func (s *Settings) unused(files fs.FS, all []Project, lines map[string]hcl.Range) (ds diags.Diagnostics) {
	for _, pattern := range s.Allow.States {
		for _, one := range dead(pattern.String(), func(text string) bool {
			x, err := places.ParsePattern(text)
			return err != nil || slices.ContainsFunc(all, func(p Project) bool { return p.Nowhere != "" || x.Matches(p.Place) })
		}) {
			ds = append(ds, diags.Warningf(&s.statesAt, "Pattern without states", "The argument states allows %q, but no project has its state there. Correct the pattern, or ignore this if you will add such projects.", one)...)
		}
	}
	if len(s.exclude) > 0 {
		dirs, err := configurations(files)
		if err != nil {
			return nil
		}
		for _, pattern := range s.exclude {
			for _, one := range dead(pattern, func(text string) bool {
				only := &Settings{exclude: []string{text}}
				return slices.ContainsFunc(dirs, only.excluded)
			}) {
				ds = append(ds, diags.Warningf(&s.excludeAt, "Pattern without directories", "%s in exclude matches no directory with configuration files.%s", part(pattern, one), diags.Suggest(one, slices.Values(dirs)))...)
			}
		}
	}
	return append(ds, unusedChanges(files, all, lines)...)
}

// unusedChanges returns warnings about patterns in when_changed that match no file. They help people find a
// mistake. With very many files and patterns the search ends early.
func unusedChanges(files fs.FS, all []Project, lines map[string]hcl.Range) (ds diags.Diagnostics) {
	var names []string
	told, left := map[[2]string]bool{}, maxMatches/10
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
			ds = append(ds, diags.Warningf(&at, "Patterns that match nothing", "All patterns in when_changed of the project %q exclude files (!), so no change plans the project. Begin with a pattern that includes files: %q.", p.Name, ownDir+"/**")...)
			told[[2]string{p.At}] = true
		}
		for _, pattern := range p.WhenChanged {
			key := [2]string{p.At, pattern}
			if left -= len(names); left < 0 {
				return ds
			}
			if strings.HasPrefix(pattern, "!") || told[key] {
				continue
			}
			for _, one := range deadPath(pattern, names, &left) {
				told[key] = true
				ds = append(ds, diags.Warningf(&at, "Pattern without files", "%s in when_changed of the project %q matches no file. Write it as a path from the root of the repository; %s is the project's own directory.", part(pattern, one), p.Name, ownDir)...)
			}
		}
	}
	return ds
}
