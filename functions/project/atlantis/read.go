package atlantis

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// Options are options for reading the file. The zero value is the default.
type Options struct {
	// DropSteps ignores the steps in workflows that decide about an apply. Without DropSteps, each such step is
	// an error.
	DropSteps bool
	// Steps turns run steps of one program with plain arguments into the Steps of the document. Such a step is no
	// error.
	Steps bool
	// Server is the configuration file of the Atlantis server; nil if there is none.
	Server *Server
}

// Parse parses atlantis.yaml. After an error it returns the part that it could read, with the projects that
// have no errors.
func (o Options) Parse(name string, src []byte) (Document, hcl.Diagnostics) {
	r := &reader{source: newSource(name, src), options: o, notices: notices{file: name}, workflows: map[string]*workflow{}}
	fields := r.fields(r.load(), "the file")
	if !r.version(fields) {
		fields = nil
	}
	if o.Server != nil {
		s := o.Server.read(o)
		r.server = s
		r.workflows = maps.Clone(s.reader.workflows)
		if f, ok := s.set["autodiscover"]; ok {
			s.reader.autodiscover(f)
			r.discover, r.ignored = s.reader.discover, s.reader.ignored
		}
		if f, ok := s.set["delete_source_branch_on_merge"]; ok && s.reader.truth(f, false) {
			r.deletes = f
		}
	}
	for _, f := range fields {
		if f.key == "workflows" && r.server != nil && !r.server.custom {
			r.notices.add(f.at.Line, f.key, "no override")
			continue
		}
		r.top(f)
	}
	for _, f := range fields {
		if f.key == "projects" {
			r.projects(f)
		}
	}
	r.steps()
	r.explore()
	r.merging()
	r.served()
	all := len(r.doc.Projects)
	if r.doc.Discover {
		all++ // others may follow
	}
	r.doc.Steps = completed(r.doc.Steps, all, &r.notices)
	r.doc.Require = append(r.doc.Require, required(r.asked, len(r.doc.Projects))...)
	r.doc.Unreadable, r.doc.Notices = r.shape, r.notices.sorted()
	return r.doc, r.diags
}

// served adds what the server's file says about the repository as a whole: its notices, and its requirements if
// no project is listed. It also adds the errors that matter only if there is a project.
func (r *reader) served() {
	s := r.server
	if s == nil {
		return
	}
	s.reader.steps()
	r.doc.Steps = append(r.doc.Steps, s.reader.doc.Steps...)
	for _, command := range []string{"plan", "apply", "import"} {
		if f, ok := s.set[command+"_requirements"]; ok && r.doc.Discover {
			s.reader.asked = nil
			s.reader.require(f, command, "")
			for _, a := range s.reader.asked {
				r.doc.Require = append(r.doc.Require, requirements.Requirement{Command: a.command, At: lineOf(a.file, a.line), Rules: a.rules})
			}
		}
	}
	r.shape, r.count = r.shape || s.reader.shape, r.count+s.reader.count
	r.diags = append(r.diags, s.reader.diags...)
	r.notices.all = append(s.reader.notices.sorted(), r.notices.sorted()...)
}

// A reader reads one file: atlantis.yaml, or the file of the server.
type reader struct {
	*source
	doc        Document
	notices    notices
	options    Options
	server     *ruled // nil for none
	workflows  map[string]*workflow
	decides    []decisive // the steps of the present workflow that decide about an apply
	stage      stage      // the present one
	applying   bool       // the stage apply of a workflow is being read
	carriedOut bool       // the step apply was read
	discover   string     // the mode of autodiscover
	discovers  field
	ignored    []Text
	asked      []asked
	deletes    field // the file's true delete_source_branch_on_merge
}

// version reports whether the file has version 3 of the format. Any other version is an error, because a key
// may have another meaning there.
func (r *reader) version(fields []field) bool {
	i := slices.IndexFunc(fields, func(f field) bool { return f.key == "version" })
	if i < 0 {
		if repos := slices.IndexFunc(fields, func(f field) bool { return f.key == "repos" }); repos >= 0 {
			r.formf(r.place(fields[repos].at.Line, fields[repos].at.Column), "The server's file", "This file is for the option --repo-config of Atlantis' server, not for a repository. Write its requirements as require blocks of lockstep.hcl, and the arguments of its workflows into workflows of the repository's atlantis.yaml. To convert both, run `lockstep config import -server FILE`.")
			return false
		}
		if !r.shape {
			r.formf(r.place(1, 1), "No version", "The file has no version. Write version: 3.")
		}
		return false
	}
	switch v, _ := r.scalar(fields[i]); v.Value {
	case "3":
		return true
	case "2":
		r.formf(v.At, "Version 2", "Lockstep reads version 3 of the file. Write version: 3. Version 2 differs only in how run steps are split into words, and Lockstep runs no steps.")
	default:
		r.formf(v.At, "Unknown version", "Lockstep reads version 3 of the file, and not %q. Write version: 3.", visible(v.Value))
	}
	return false
}

// top reads a key of the file. It does not read the projects, because they need the other keys.
func (r *reader) top(f field) {
	switch f.key {
	case "version", "projects":
	case "workflows":
		r.readWorkflows(f)
	case "autodiscover":
		r.autodiscover(f)
	case "automerge":
		r.doc.Automerge = r.truth(f, false)
	case "delete_source_branch_on_merge":
		if r.truth(f, false) {
			r.deletes = f
		}
	case "abort_on_execution_order_fail": // Lockstep always does that
		r.truth(f, false)
	case "parallel_plan", "parallel_apply":
		if !r.truth(f, true) {
			r.notice(f)
		}
	case "emoji_reaction", "allowed_regexp_prefixes", "silence_pr_comments", "policies":
		r.notice(f)
	case "repo_locks":
		r.locks(f)
	default:
		r.formf(r.at(f.at), "Unknown key", "Atlantis does not know the key %q here. Correct it, or remove it.", visible(f.key))
	}
}

func (r *reader) notice(f field) { r.notices.add(f.at.Line, f.key, f.key) }

// locks reads repo_locks, in the file or in a project.
func (r *reader) locks(f field) {
	for _, x := range r.fields(f.value, f.key) {
		switch mode, _ := r.scalar(x); {
		case x.key != "mode":
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q in repo_locks. The only key is mode.", visible(x.key))
		case slices.Contains([]string{"disabled", "on_plan", "on_apply"}, mode.Value):
			r.notice(f)
		default:
			r.formf(mode.At, "Invalid value", "Unknown mode of repo_locks. Write disabled, on_plan or on_apply.")
		}
	}
}

// autodiscover reads whether directories without an entry become projects.
func (r *reader) autodiscover(f field) {
	r.discovers = f
	for _, x := range r.fields(f.value, f.key) {
		switch x.key {
		case "mode":
			mode, _ := r.scalar(x)
			if r.discover = mode.Value; !slices.Contains([]string{"auto", "enabled", "disabled"}, r.discover) {
				r.formf(mode.At, "Invalid value", "Unknown mode of autodiscover. Write auto, enabled or disabled.")
			}
		case "ignore_paths":
			r.ignored = r.texts(x)
		default:
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q in autodiscover. The keys are mode and ignore_paths.", visible(x.key))
		}
	}
}

// explore sets Discover after the projects are read. Directories without an entry become projects in two cases:
// the file requests that, or the file has no projects and does not forbid it.
func (r *reader) explore() {
	none := len(r.doc.Projects) == 0
	r.doc.Discover = none && r.discover != "disabled" || r.discover == "enabled"
	switch {
	case r.doc.Discover:
		r.doc.Exclude = r.ignored
	case r.ignored != nil:
		r.notices.add(r.ignored[0].At.Start.Line, "ignore_paths", "ignore_paths")
	}
}

// merging reads whether branches of merged pull requests are deleted. Lockstep deletes only branches that it
// has merged itself.
func (r *reader) merging() {
	switch {
	case r.deletes.at == nil:
	case r.doc.Automerge:
		r.doc.DeleteBranch = true
	default:
		r.notice(r.deletes)
	}
}

// asked is one requirement for one project.
type asked struct {
	command string
	project string
	line    int
	file    string
	rules   requirements.Rules
}

// require reads a project's list of requirements for a command.
func (r *reader) require(f field, command, project string) {
	a := asked{command: command, project: project, line: f.at.Line, file: r.name}
	for _, t := range r.texts(f) {
		switch t.Value {
		case "approved":
			a.rules.Approvals = 1
		case "mergeable":
			a.rules.Mergeable = true
		case "undiverged":
			a.rules.UpToDate = true
		default:
			r.formf(t.At, "Unknown requirement", "There is no requirement %q in atlantis.yaml. Write approved, mergeable or undiverged.", visible(t.Value))
		}
	}
	if a.rules.Approvals > 0 || a.rules.Mergeable || a.rules.UpToDate {
		r.asked = append(r.asked, a)
	}
}

// maxNames is the maximum number of projects in a require block.
const maxNames = 100

// required groups requirements into require blocks. Projects with the same command and the same conditions share a
// block, up to the number of projects that a block may name; then another block begins. If a block is for all projects
// of the repository, it has no list of projects. projects is the number of projects in the repository.
func required(all []asked, projects int) []requirements.Requirement {
	var keys []string
	sets := map[string][]asked{}
	for _, a := range all {
		key := strings.Join([]string{a.command, mark(a.rules.Approvals > 0), mark(a.rules.Mergeable), mark(a.rules.UpToDate)}, " ")
		if sets[key] == nil {
			keys = append(keys, key)
		}
		sets[key] = append(sets[key], a)
	}
	var out []requirements.Requirement
	for _, key := range keys {
		set := sets[key]
		for part := range slices.Chunk(set, maxNames) {
			r := requirements.Requirement{Command: part[0].command, At: lineOf(part[0].file, part[0].line), Rules: part[0].rules}
			if len(set) < projects {
				for _, a := range part {
					r.Projects = append(r.Projects, a.project)
				}
			}
			if out = append(out, r); r.Projects == nil {
				break
			}
		}
	}
	return out
}

func mark(is bool) string {
	if is {
		return "1"
	}
	return "0"
}
