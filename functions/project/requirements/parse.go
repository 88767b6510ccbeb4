package requirements

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// These are the limits of the require blocks in one file. People do not read more blocks than that. Lockstep
// can still evaluate that many blocks at each command.
const (
	maxBlocks       = 200
	maxAlternatives = 20
	maxApprovals    = 20
)

// Parse parses require blocks. If there are errors, some blocks are missing, and the result must not be used to
// allow anything.
func Parse(list hcl.Blocks) ([]Requirement, hcl.Diagnostics) {
	var out []Requirement
	var all hcl.Diagnostics
	for i, b := range list {
		r := &blocks.Reader{}
		if i == maxBlocks {
			r.Errorf(b.DefRange, "Too many require blocks", "There are %d, and at most %d are allowed. Write one block for many projects.", len(list), maxBlocks)
			return out, append(all, r.Diags...)
		}
		x := requirement(r, b)
		if all = append(all, r.Diags...); !r.Diags.HasErrors() {
			out = append(out, x)
		}
	}
	return out, all
}

// requirement reads a block.
func requirement(r *blocks.Reader, b *hcl.Block) Requirement {
	x := Requirement{Command: b.Labels[0], At: blocks.Place(b)}
	if !slices.Contains(commands, x.Command) {
		r.Errorf(b.LabelRanges[0], "Invalid command", "Lockstep has no command %q.%s Write one of %s.", x.Command, diags.Suggest(x.Command, slices.Values(commands)), strings.Join(commands, ", "))
	}
	content := r.Content(b.Body, blocks.Schema(append([]string{"projects", "override"}, names()...), hcl.BlockHeaderSchema{Type: "alternative", LabelNames: []string{"name"}}))
	x.Projects = r.Projects()
	if x.Projects == nil && r.Has("projects") && !r.Diags.HasErrors() {
		r.Errorf(r.At("projects"), "No projects", "The list is empty, so the block is for no project. Name projects, or remove the argument for all projects.")
	}
	x.Override = lifters(r)
	if x.Command != "apply" && r.Has("override") {
		r.Errorf(r.At("override"), "Only for applies", "People can override only a plan that they have seen. Move the argument to a block require \"apply\".")
	}
	x.Rules = rules(r, x.Command)
	x.Alternatives = alternatives(r, x.Command, content.Blocks)
	if x.Rules.none() && len(x.Alternatives) == 0 && !r.Diags.HasErrors() {
		r.Errorf(b.DefRange, "Block that requires nothing", "The block require %q has no condition, so it requires nothing. Add a condition, such as approvals = 1, or remove the block. An argument that is false is not a condition.", x.Command)
	}
	return x
}

func alternatives(r *blocks.Reader, command string, list hcl.Blocks) []Alternative {
	var out []Alternative
	taken := map[string]bool{}
	for _, a := range list {
		name := a.Labels[0]
		if taken[name] || len(taken) == maxAlternatives || name == "" || len(name) > blocks.MaxText {
			r.Errorf(a.DefRange, "Invalid alternative", "Give each alternative a name of its own, and write at most %d in a block.", maxAlternatives)
			continue
		}
		taken[name] = true
		inner := &blocks.Reader{}
		inner.Content(a.Body, blocks.Schema(names()))
		alternative := Alternative{name, rules(inner, command)}
		if alternative.Rules.none() && !inner.Diags.HasErrors() {
			inner.Errorf(a.DefRange, "Empty alternative", "The alternative %q has no conditions, so it is always met, and the others of the block have no effect. Add conditions, or remove all alternatives.", name)
		}
		r.Diags = append(r.Diags, inner.Diags...)
		out = append(out, alternative)
	}
	return out
}

// none reports whether rules have no condition.
func (x Rules) none() bool { return reflect.ValueOf(x).IsZero() }

var (
	loginPattern = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,99}(\[bot\])?$`)
	orgPattern   = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,99}$`)
)

// ParseParty parses a person or a team, as in lockstep.hcl and CODEOWNERS: "alice", "@acme/sre".
func ParseParty(text string) (Party, error) {
	s := fold(strings.TrimPrefix(text, "@"))
	org, team, is := strings.Cut(s, "/")
	switch {
	case is && orgPattern.MatchString(org) && blocks.SlugPattern.MatchString(team):
		return Party{Org: org, Team: team}, nil
	case !is && loginPattern.MatchString(s):
		return Party{Login: s}, nil
	}
	return Party{}, fmt.Errorf("%q is neither a login nor a team: write \"alice\", or \"acme/sre\" for the team sre of the organization acme", text)
}

func parseCheck(text string) (Check, error) {
	c := Check{Pattern: text}
	if i := strings.LastIndex(text, " by "); i >= 0 {
		c.Pattern, c.App = text[:i], fold(strings.TrimSpace(text[i+len(" by "):]))
		if !blocks.SlugPattern.MatchString(c.App) {
			return c, fmt.Errorf("%q does not end with the slug of an App: write \"NAME by SLUG\"", text)
		}
	}
	return c, blocks.ValidPattern(c.Pattern)
}

func parseLabel(text string) (string, error) {
	if strings.TrimSpace(text) != text || text == "" {
		return "", fmt.Errorf("%q is not the name of a label", text)
	}
	return fold(text), nil
}

// lifters reads the people and teams that may override a block. No App may override, because its comments may
// contain somebody else's words.
func lifters(r *blocks.Reader) []Party {
	return blocks.Each(r, "override", func(text string) (Party, error) {
		if p, err := ParseParty(text); err != nil || !strings.HasSuffix(p.Login, "[bot]") {
			return p, err
		}
		return Party{}, fmt.Errorf("%q is an App, and only people can override", text)
	})
}

// parties reads an optional list of people and teams.
func parties(r *blocks.Reader, name string) []Party { return blocks.Each(r, name, ParseParty) }
