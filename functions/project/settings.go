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
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// Settings are the content of lockstep.hcl. nil means that the repository has none.
type Settings struct {
	// Projects are the projects with a block for one directory, in the order of the file. Blocks for many
	// directories need a checkout: see [Discover].
	Projects []Project
	Allow    Allow
	// Waiting is the conclusion of a pull request's check while its plans wait to be applied. Only the base
	// branch decides about this setting. It decides again at each event of the pull request.
	Waiting Waiting
	// ApplyUnseen is set if one comment may request a plan and also the apply of that plan, although the
	// comment's author has not seen the plan. Only the base branch decides about this setting.
	ApplyUnseen bool
	// Automerge is the setting by which Lockstep merges applied pull requests; nil for none. Only the base
	// branch decides about this setting.
	Automerge *Automerge
	// Drift is the setting by which Lockstep looks for drift; nil for none. Only the default branch decides about this
	// setting.
	Drift *Drift
	// Shadow names the tool that applies projects in shadow mode; nil for none. Only the base branch decides about this
	// setting.
	Shadow *Shadow
	// Files has the parsed lockstep.hcl, so that errors can quote it.
	Files map[string]*hcl.File

	environments map[string]environments.Environment

	// Hooks are the hook blocks: see [Settings.HooksOf].
	Hooks []endpoints.Hook
	// Notifications are the notify blocks: see [Settings.Tells].
	Notifications []endpoints.Notification

	// Require are the require blocks, the policy blocks and the gate blocks. Unreadable is set if some of these
	// blocks may be missing, because the file has errors. The settings must then not allow anything that a
	// requirement could forbid.
	Require    []requirements.Requirement
	Unreadable bool
	// Stateful are patterns of resource types whose objects keep data, in addition to those that Lockstep knows.
	// Only the base branch decides about this setting.
	Stateful []string
	// Tools are the SHA-256 checksums of the tools of steps, by name. Only the base branch decides about this setting.
	Tools map[string]string
	// Terragrunt says how Terragrunt runs; nil if it does not run. Only the base branch decides about this setting.
	Terragrunt *requirements.Terragrunt

	wildcards []wildcard // project blocks for many directories, in the order of the file
	defaults  Project    // values for projects that do not set their own
	usual     hcl.Range  // of the defaults block
	exclude   []string   // patterns of directories without projects
	ignored   []string   // programs whose commands are left to them
	discover  *bool      // whether directories without a project block are projects; nil if the file does not say
	excludeAt hcl.Range  // of the argument
	statesAt  hcl.Range  // of the argument states
	guards    []guard
	resources map[string]bool         // types of resources that Discover has seen
	providers map[addrs.Provider]bool // providers that it has seen
	remote    bool                    // Discover has not seen all of them
	limited   []limitedProvider       // in the order of the file
	// workspaceFiles is set if the value file for a project's workspace is used automatically, as in Atlantis:
	// see filed.
	workspaceFiles bool
	// units are the units of Terragrunt in the checkout, by directory: see [Discover].
	units map[string]terragrunt.Unit

	ranges  map[string]hcl.Range     // the ranges of the project blocks, by name
	depends map[[2]string]dependence // by Project.At, and the pattern or name
}

// Allow is the content of an allow block: permissions for programs of others and for modules from elsewhere,
// during plans and applies. Only the block at the base commit counts: see [GrantsOf].
type Allow struct {
	// Providers may run in any version, in addition to those in the dependency lock file.
	Providers    []addrs.ProviderPattern
	Provisioners bool
	// External allows the provider hashicorp/external, which runs programs.
	External bool
	// Modules allow modules from sources that not everybody may read.
	Modules []ModulePattern
	// Branches are patterns of base branches whose pull requests are planned and applied, in addition to the
	// default branch: see [Settings.Names].
	Branches []string
	// Bots are the logins of Apps, in lower case, that may give commands like people with write access: see
	// [Settings.NamesBot].
	Bots []string
	// Commands are the programs whose commands in comments Lockstep carries out as if they were its own: see
	// [Settings.Obeys].
	Commands []string
	// Forks allows plans of pull requests from forks, without credentials, once somebody has named the commit
	// in a command.
	Forks bool
	// States are patterns of allowed addresses for states that no project has at the base commit.
	States []places.Pattern
}

// maxSize is the maximum size of lockstep.hcl in bytes. It is enough for the maximum number of projects.
const maxSize = 512 << 10

// Parse parses lockstep.hcl. If there are errors, it returns the valid part, and never nil. A project with an
// error is left out.
func Parse(name string, src []byte) (*Settings, diags.Diagnostics) {
	p := &parser{settings: &Settings{
		ranges: map[string]hcl.Range{}, depends: map[[2]string]dependence{}, Files: map[string]*hcl.File{}, environments: map[string]environments.Environment{},
		defaults: Project{Workspace: DefaultWorkspace, Apply: OnComment},
	}, places: map[[2]string]string{}}
	if len(src) > maxSize {
		p.settings.Unreadable = true
		return p.settings, diags.Errorf(nil, "Too long", "The file %s has %d bytes; at most %d are read.", name, len(src), maxSize)
	}
	f, ds := parsing.Config(src, name)
	p.diags = ds
	if f == nil || f.Body == nil {
		p.settings.Unreadable = true
		return p.settings, diags.FromHCL(p.diags)
	}
	p.settings.Files[name] = f
	content, ds := grammar.Contents(FileName, f.Body)
	p.diags = append(p.diags, ds...)
	p.requires(content)
	p.allows(content.Blocks.OfType("allow"))
	p.environments(content.Blocks.OfType("environment"))
	p.checks(content.Blocks.OfType("check"))
	p.automerge(content.Blocks.OfType(grammar.Automerge.Type))
	p.drift(content.Blocks.OfType(grammar.Drift.Type))
	p.shadow(content.Blocks.OfType(grammar.Shadow.Type))
	p.settings.Notifications, ds = endpoints.ParseNotifications(content.Blocks.OfType(grammar.Notify.Type))
	p.diags = append(p.diags, ds...)
	p.guards(content.Blocks)
	p.defaults(content.Blocks.OfType("defaults"))
	if a := content.Attributes["exclude"]; a != nil {
		p.settings.exclude, p.settings.excludeAt = p.patterns(a), a.Expr.Range()
	}
	p.leaves(content.Attributes["ignore_commands"])
	if a := content.Attributes["discover"]; a != nil {
		p.settings.discover = new(bool)
		p.decode(a, p.settings.discover, "true or false")
	}
	p.decode(content.Attributes["apply_unseen"], &p.settings.ApplyUnseen, "true or false")
	for _, b := range content.Blocks.OfType("project") {
		p.project(b)
	}
	if n := len(p.settings.Projects); n > MaxProjects {
		p.errorf(content.Blocks[0].DefRange, "Too many projects", "There are %d projects, and at most %d are allowed.", n, MaxProjects)
		p.settings.Projects = p.settings.Projects[:MaxProjects]
	}
	p.withoutEffect(content)
	return p.settings, diags.FromHCL(p.diags)
}

// onlyDirectories reports whether the settings describe no project and let the directories decide.
func (s *Settings) onlyDirectories() bool {
	return s.Projects == nil && s.wildcards == nil && (s.discover == nil || *s.discover)
}

// Names reports whether pull requests into a branch other than the default branch may be planned and applied. s
// comes from the default branch. Patterns are in doublestar's notation, so release/* does not match
// release/1/2. The permissions for such pull requests are those in the branch's own lockstep.hcl. Everybody who
// may push to the branch can change these permissions.
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
	usual    *hcl.Block // the defaults block
	checked  *hcl.Block // the check block
}

func (p *parser) errorf(at hcl.Range, summary, detail string, args ...any) {
	p.diags = append(p.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

func (p *parser) warnf(at hcl.Range, summary, detail string, args ...any) {
	p.diags = append(p.diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at})
}

// arguments reads the arguments of a block, which has the given form.
func (p *parser) arguments(form grammar.Block, b *hcl.Block) hcl.Attributes {
	content, ds := form.Content(b.Body)
	p.diags = append(p.diags, ds...)
	return content.Attributes
}

func (p *parser) allows(blocks hcl.Blocks) {
	for _, b := range blocks {
		if p.allowed != nil {
			p.errorf(b.DefRange, "Second allow block", "There is one at %s already: merge the two.", p.allowed.DefRange)
			continue
		}
		p.allowed = b
		attrs := p.arguments(grammar.Allow, b)
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
		p.decode(attrs["forks"], &a.Forks, "true or false")
		a.Branches = p.branches(attrs["branches"])
		a.Bots = p.bots(attrs["bots"])
		a.Commands = p.programs(attrs["commands"])
		a.States = p.states(attrs["states"])
	}
}

// checks reads the check block.
func (p *parser) checks(blocks hcl.Blocks) {
	for _, b := range blocks {
		if p.checked != nil {
			p.errorf(b.DefRange, "Second check block", "There is one at %s already: merge the two.", p.checked.DefRange)
			continue
		}
		p.checked = b
		a := p.arguments(grammar.Check, b)["waiting"]
		text := ""
		p.decode(a, &text, "a text")
		switch w := Waiting(text); {
		case a == nil:
		case w == WaitingPasses || w == WaitingFails:
			p.settings.Waiting = w
		default:
			p.errorf(a.Expr.Range(), "Invalid outcome of a check", "While a plan waits to be applied, the check is %q (the pull request can be merged) or %q (a rule that requires the check holds it).", WaitingPasses, WaitingFails)
			p.settings.Waiting = WaitingFails // the more careful value
		}
	}
}

// automerge reads the automerge block.
func (p *parser) automerge(blocks hcl.Blocks) {
	for i, b := range blocks {
		if i > 0 {
			p.errorf(b.DefRange, "Second automerge block", "There is one at %s already: merge the two.", blocks[0].DefRange)
			continue
		}
		before := len(p.diags)
		out := Automerge{Method: DefaultMethod}
		attrs := p.arguments(grammar.Automerge, b)
		p.decode(attrs["method"], &out.Method, "a text")
		p.decode(attrs["delete_branch"], &out.DeleteBranch, "true or false")
		if methods := grammar.Automerge.Arg("method").OneOf; !slices.Contains(methods, out.Method) {
			p.errorf(attrs["method"].Expr.Range(), "Invalid way to merge", "The method is \"merge\", \"squash\" or \"rebase\", as GitHub has them.")
		}
		if len(p.diags) == before { // the more careful value
			p.settings.Automerge = &out
		}
	}
}

// requires parses the blocks with requirements, and the types and tools that such blocks name. It also parses the hook
// blocks, because hooks can refuse, too. An earlier error in the syntax or in a block's type may have hidden such a block.
// Errors in other blocks hide no block.
func (p *parser) requires(content *hcl.BodyContent) {
	before, blocks := len(p.diags), content.Blocks
	p.settings.Unreadable = p.diags.HasErrors()
	p.settings.Stateful = p.types(content.Attributes["stateful"])
	p.settings.Tools = p.tools(content.Attributes["tools"])
	for _, kind := range []struct {
		grammar.Block
		parse func(hcl.Blocks) ([]requirements.Requirement, hcl.Diagnostics)
	}{{grammar.Require, requirements.Parse}, {grammar.Policy, requirements.ParsePolicies}, {grammar.Gate, requirements.ParseGates}, {grammar.Step, requirements.ParseSteps(p.settings.Tools)}} {
		all, ds := kind.parse(blocks.OfType(kind.Type))
		p.settings.Require, p.diags = append(p.settings.Require, all...), append(p.diags, ds...)
	}
	var more hcl.Diagnostics
	p.settings.Terragrunt, more = requirements.ParseTerragrunt(blocks.OfType(grammar.Terragrunt.Type), p.settings.Tools)
	p.diags = append(p.diags, more...)
	for i := range p.settings.Require {
		p.settings.Require[i].Assess(p.settings.Stateful)
	}
	var ds hcl.Diagnostics
	p.settings.Hooks, ds = endpoints.ParseHooks(blocks.OfType(grammar.Hook.Type))
	p.diags = append(p.diags, ds...)
	p.settings.Unreadable = p.settings.Unreadable || p.diags[before:].HasErrors()
}

func (p *parser) project(b *hcl.Block) {
	before := len(p.diags)
	x := p.settings.defaults
	x.Refresh = Refresh{} // the environment comes before the defaults: see RefreshOf
	x.Name = b.Labels[0]
	many := strings.Contains(x.Name, "*")
	if !validName(strings.ReplaceAll(x.Name, "*", "x")) {
		p.errorf(b.LabelRanges[0], "Invalid name of a project", "%s", nameRule)
	}
	attrs := p.arguments(grammar.Project, b)
	x.At = line(b.DefRange)
	p.decode(attrs["dir"], &x.Dir, "a text")
	if a := attrs["dir"]; a != nil {
		x.Dir = p.path(quoted{x.Dir, a.Expr.Range()}, "directory")
		many = many || strings.Contains(x.Dir, "*")
		if !many && p.settings.excluded(x.Dir) {
			p.errorf(a.Expr.Range(), "Project is excluded", "The directory %s of the project %q is excluded by the argument exclude. Remove either.", x.Dir, x.Name)
		}
	}
	p.depends(attrs["depends_on"], &x)
	p.common(attrs, &x)
	p.inputs(b, attrs, &x)
	if many {
		p.wildcard(x, b.DefRange, before)
		return
	}
	p.unique(x, b.DefRange)
	if len(p.diags) == before {
		p.settings.Projects = append(p.settings.Projects, x)
	}
}

// common parses the arguments that a project block and a defaults block have in common.
func (p *parser) common(attrs hcl.Attributes, x *Project) {
	p.decode(attrs["workspace"], &x.Workspace, "a text")
	if a := attrs["workspace"]; a != nil {
		x.Workspace = p.workspace(quoted{x.Workspace, a.Expr.Range()})
	}
	if a := attrs["when_changed"]; a != nil {
		x.WhenChanged = p.patterns(a)
	}
	if a := attrs["var_files"]; a != nil {
		x.VarFiles = nil
		for _, s := range p.list(a) {
			x.VarFiles = append(x.VarFiles, p.path(s, "file"))
		}
	}
	if a := attrs[providerParallelism]; a != nil {
		x.ProviderParallelism = p.providerLimits(a, grammar.Project.Arg(providerParallelism))
	}
	p.language(attrs["language"], &x.Language)
	p.refresh(attrs, x)
	p.decode(attrs["test"], &x.Test, "true or false")
	p.shared(attrs, x)
	p.mode(attrs["mode"], x)
	on := string(x.Apply)
	p.decode(attrs["apply"], &on, "a text")
	if x.Apply = ApplyOn(on); x.Apply != OnComment && x.Apply != OnMerge {
		p.errorf(attrs["apply"].Expr.Range(), "Invalid occasion", "A project is applied on %q (somebody writes \"lockstep apply\" before the merge) or on %q.", OnComment, OnMerge)
		// OnMerge is the more careful value. A defaults block with an error thus gives other projects the
		// careful value.
		x.Apply = OnMerge
	}
}

// workspace reads the name of a workspace.
func (p *parser) workspace(s quoted) string {
	if validName(s.text) && !strings.Contains(s.text, "/") && s.text != "." {
		return s.text
	}
	p.errorf(s.at, "Invalid workspace", "A workspace's name consists of letters, digits and the characters _ . - and begins with a letter, a digit or _.")
	return DefaultWorkspace
}

const nameRule = "Commands name a project (lockstep plan -p NAME), so its name consists of letters, digits and the characters _ . - in one or more parts with a slash between, no part begins with . or -, and it has at most 200 bytes."

// defaults parses the defaults block. If it has errors, the valid part counts.
func (p *parser) defaults(blocks hcl.Blocks) {
	for _, b := range blocks {
		if p.usual != nil {
			p.errorf(b.DefRange, "Second defaults block", "There is one at %s already: merge the two.", p.usual.DefRange)
			continue
		}
		p.usual = b
		p.settings.defaults.At, p.settings.usual = line(b.DefRange), b.DefRange
		p.common(p.arguments(grammar.Defaults, b), &p.settings.defaults)
	}
}

// unique reports projects with the same name or the same state.
func (p *parser) unique(x Project, at hcl.Range) {
	if old, ok := p.settings.ranges[x.Name]; ok {
		p.errorf(at, "Two projects with one name", "There is another project %q at %s: give one of them another name.", x.Name, old)
		return
	}
	p.settings.ranges[x.Name] = at
	if x.Dir == "" {
		return
	}
	if old, ok := p.places[x.place()]; ok {
		p.errorf(at, "Two projects with one state", "The project %q has the directory %s and the workspace %q, too: they would share their state. Give one of them another directory or workspace.", old, x.Dir, x.Workspace)
		return
	}
	p.places[x.place()] = x.Name
}
