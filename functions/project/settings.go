package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// Settings are the content of lockstep.hcl. nil stands for a repository without one.
type Settings struct {
	// Projects are in the order of the file. nil: there is no project block, and the directories
	// decide.
	Projects []Project
	Allow    Allow
	// Files is the parsed file, to quote it in errors.
	Files map[string]*hcl.File

	ranges map[string]hcl.Range // of the project blocks, by name
}

// Allow is the content of an allow block: permissions for programs of others and for modules from
// elsewhere, while a pull request is planned or applied. Only the block at the base commit counts:
// see [GrantsOf].
type Allow struct {
	// Providers may be run in any version, as well as those in the dependency lock file.
	Providers    []addrs.ProviderPattern
	Provisioners bool
	// External is for the provider hashicorp/external, which runs programs.
	External bool
	// Modules allow modules from places that not everybody may read.
	Modules []ModulePattern
	// Branches are patterns of base branches, beside the default branch, whose pull requests are
	// planned and applied: see [Settings.Names].
	Branches []string
	// States are patterns of addresses for states that no project has at the base commit.
	States []places.Pattern
}

// maxSize is the limit of lockstep.hcl in bytes: enough for all its projects.
const maxSize = 128 << 10

// Parse reads lockstep.hcl. Beside errors it returns its valid part, never nil; a project with an
// error is left out.
func Parse(name string, src []byte) (*Settings, diags.Diagnostics) {
	p := &parser{settings: &Settings{ranges: map[string]hcl.Range{}, Files: map[string]*hcl.File{}}, places: map[[2]string]string{}}
	if len(src) > maxSize {
		return p.settings, diags.Errorf(nil, "Too long", "The file %s has %d bytes; at most %d are read.", name, len(src), maxSize)
	}
	f, ds := parsing.Config(src, name)
	p.diags = ds
	if f == nil || f.Body == nil {
		return p.settings, diags.FromHCL(p.diags)
	}
	p.settings.Files[name] = f
	content := p.content(f.Body, fileSchema, fmt.Sprintf("%s has blocks of the types project and allow only.", FileName))
	p.allows(content.Blocks.OfType("allow"))
	for _, b := range content.Blocks.OfType("project") {
		p.project(b)
	}
	if n := len(p.settings.Projects); n > MaxProjects {
		p.errorf(content.Blocks[0].DefRange, "Too many projects", "There are %d projects, and at most %d are allowed.", n, MaxProjects)
		p.settings.Projects = p.settings.Projects[:MaxProjects]
	}
	return p.settings, diags.FromHCL(p.diags)
}

var (
	fileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "project", LabelNames: []string{"name"}},
		{Type: "allow"},
	}}
	projectSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "dir", Required: true}, {Name: "workspace"}, {Name: "when_changed"}, {Name: "var_files"}, {Name: "apply"},
	}}
	allowSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "providers"}, {Name: "provisioners"}, {Name: "external"}, {Name: "modules"}, {Name: "branches"}, {Name: "states"},
	}}
)

// ApplyOn returns the occasion on which a project of a pull request is applied, where s comes from
// the base branch. A project that the base branch does not have, neither by name nor by directory
// and workspace, is applied as carefully as any other there: no pull request evades the merge by a
// new name.
func (s *Settings) ApplyOn(p Project) ApplyOn {
	if s == nil {
		return OnComment
	}
	known := slices.DeleteFunc(slices.Clone(s.Projects), func(x Project) bool {
		return x.Name != p.Name && (x.Dir != p.Dir || x.Workspace != p.Workspace)
	})
	if len(known) == 0 {
		known = s.Projects
	}
	if slices.ContainsFunc(known, func(x Project) bool { return x.Apply == OnMerge }) {
		return OnMerge
	}
	return OnComment
}

// Names reports whether s, which comes from the default branch, lets pull requests into another
// branch be planned and applied: by a pattern in doublestar's notation, so release/* does not match
// release/1/2. The permissions are then those of that branch's own lockstep.hcl: everybody who may
// push to it can change them.
func (s *Settings) Names(branch string) bool {
	return s != nil && slices.ContainsFunc(s.Allow.Branches, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, branch)
	})
}

// Range returns the range of a project's block.
func (s *Settings) Range(name string) hcl.Range { return s.ranges[name] }

type parser struct {
	settings *Settings
	diags    hcl.Diagnostics
	places   map[[2]string]string // names of projects by directory and workspace
	allowed  *hcl.Block
}

func (p *parser) errorf(at hcl.Range, summary, detail string, args ...any) {
	p.diags = append(p.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

// content decodes a body; errors about unexpected content end with the remedy.
func (p *parser) content(body hcl.Body, schema *hcl.BodySchema, remedy string) *hcl.BodyContent {
	content, ds := body.Content(schema)
	for _, d := range ds {
		if strings.HasPrefix(d.Summary, "Unsupported") {
			d.Detail = strings.TrimSpace(d.Detail + " " + remedy)
		}
	}
	p.diags = append(p.diags, ds...)
	return content
}

func (p *parser) allows(blocks hcl.Blocks) {
	for _, b := range blocks {
		if p.allowed != nil {
			p.errorf(b.DefRange, "Second allow block", "There is one at %s already: merge the two.", p.allowed.DefRange)
			continue
		}
		p.allowed = b
		attrs := p.content(b.Body, allowSchema, "An allow block can have providers, provisioners, external, modules, branches and states.").Attributes
		a := &p.settings.Allow
		for _, s := range p.list(attrs["providers"]) {
			pattern, err := addrs.ParseProviderPattern(s.text)
			if err != nil {
				p.errorf(s.at, "Invalid pattern of providers", "%s. Write HOST/NAMESPACE/TYPE, with * for any: \"registry.terraform.io/hashicorp/*\".", capital(err.Error()))
				continue
			}
			a.Providers = append(a.Providers, pattern)
		}
		a.Modules = p.modules(attrs["modules"])
		p.decode(attrs["provisioners"], &a.Provisioners, "true or false")
		p.decode(attrs["external"], &a.External, "true or false")
		a.Branches = p.branches(attrs["branches"])
		a.States = p.states(attrs["states"])
	}
}

func (p *parser) project(b *hcl.Block) {
	before := len(p.diags)
	x := Project{Name: b.Labels[0], Workspace: DefaultWorkspace, Apply: OnComment}
	if !validName(x.Name) {
		p.errorf(b.LabelRanges[0], "Invalid name of a project", "%s", nameRule)
	}
	attrs := p.content(b.Body, projectSchema, "A project block can have dir, workspace, when_changed, var_files and apply.").Attributes
	p.decode(attrs["dir"], &x.Dir, "a text")
	p.decode(attrs["workspace"], &x.Workspace, "a text")
	if a := attrs["dir"]; a != nil {
		x.Dir = p.path(quoted{x.Dir, a.Expr.Range()}, "directory")
	}
	if !validName(x.Workspace) || strings.Contains(x.Workspace, "/") || x.Workspace == "." {
		p.errorf(attrs["workspace"].Expr.Range(), "Invalid workspace", "A workspace's name consists of letters, digits and the characters _ . - and begins with a letter, a digit or _.")
	}
	if a := attrs["when_changed"]; a != nil {
		x.WhenChanged = p.patterns(a)
	}
	for _, s := range p.list(attrs["var_files"]) {
		x.VarFiles = append(x.VarFiles, p.path(s, "file"))
	}
	var on string
	if p.decode(attrs["apply"], &on, "a text"); on != "" {
		x.Apply = ApplyOn(on)
	}
	if x.Apply != OnComment && x.Apply != OnMerge {
		p.errorf(attrs["apply"].Expr.Range(), "Invalid occasion", "A project is applied on %q (somebody writes \"lockstep apply\" before the merge) or on %q.", OnComment, OnMerge)
	}
	p.unique(x, b)
	if len(p.diags) == before {
		p.settings.Projects = append(p.settings.Projects, x)
	}
}

const nameRule = "Commands name a project (lockstep plan -p NAME), so its name consists of letters, digits and the characters _ . - in one or more parts with a slash between, no part begins with . or -, and it has at most 200 bytes."

// unique reports projects with the same name or the same state.
func (p *parser) unique(x Project, b *hcl.Block) {
	if old, ok := p.settings.ranges[x.Name]; ok {
		p.errorf(b.DefRange, "Two projects with one name", "There is another project %q at %s: give one of them another name.", x.Name, old)
		return
	}
	p.settings.ranges[x.Name] = b.DefRange
	if x.Dir == "" {
		return
	}
	place := [2]string{x.Dir, x.Workspace}
	if old, ok := p.places[place]; ok {
		p.errorf(b.DefRange, "Two projects with one state", "The project %q has the directory %s and the workspace %q, too: they would share their state. Give one of them another directory or workspace.", old, x.Dir, x.Workspace)
		return
	}
	p.places[place] = x.Name
}
