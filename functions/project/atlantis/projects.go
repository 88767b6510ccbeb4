package atlantis

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-iac/lockstep/engine/language"
)

func lineOf(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// projects reads the list of projects.
func (r *reader) projects(f field) {
	all := r.items(f)
	if len(all) > maxKeys {
		r.formf(r.at(all[maxKeys]), "Too many projects", "There are %d projects, and at most %d are allowed.", len(all), maxKeys)
		all = all[:maxKeys]
	}
	for _, n := range all {
		r.project(n)
	}
	r.known()
}

// steps reports the steps in workflows that decide about an apply, because Lockstep does not run them. For projects
// with such a workflow, the report is an error, unless a step block replaces the step, or the options say to drop the
// step.
func (r *reader) steps() {
	for _, name := range slices.Sorted(maps.Keys(r.workflows)) {
		w := r.workflows[name]
		if len(w.projects) == 0 || len(w.decides) == 0 || w.decides[0].At.Filename != r.name {
			continue
		}
		r.replaced(w)
		var where []string
		for _, d := range w.decides {
			switch {
			case d.step != nil:
			case r.options.DropSteps && d.why != "":
				r.notices.say(r.name, d.At.Start.Line, d.Value, fmt.Sprintf("No step block can replace it, because %s. %s", d.why, instead["dropped of the shell"]), false)
			case r.options.DropSteps:
				r.notices.add(d.At.Start.Line, d.Value, "dropped")
			case d.why != "":
				r.errorf(d.At, "Step that decides on an apply", "No step block of lockstep.hcl can replace this step of the workflow %q, because %s. The step decides about applies of %s. Replace it by a run step of one program with plain arguments, by a gate block in lockstep.hcl, by a GitHub workflow with require \"apply\" { checks = [\"NAME\"] }, or by committing the files that it generates. To leave it out, run `lockstep config import -drop-steps`.",
					visible(name), d.why, several("project", w.projects))
			default:
				where = append(where, fmt.Sprintf("%s (line %d)", d.Value, d.At.Start.Line))
			}
		}
		if len(where) == 0 {
			continue
		}
		r.errorf(w.decides[0].At, "Steps that decide on an apply", "Steps of the workflow %q decide about applies of %s: %s. Lockstep runs no commands of atlantis.yaml, so it does not plan these projects. Run `lockstep config import`: it turns steps of one program into step blocks of lockstep.hcl, and says what to do about the others.",
			visible(name), several("project", w.projects), few(where))
	}
}

// maxNamed is the maximum number of names in an error.
const maxNamed = 10

// several returns a text that names things of a kind, such as "the projects a and b".
func several(kind string, names []string) string {
	if len(names) > 1 {
		kind += "s"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(visible(n))
	}
	return fmt.Sprintf("the %s %s", kind, few(quoted))
}

// few returns a text for people that lists the first maxNamed texts.
func few(all []string) string {
	if more := len(all) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNamed], ", "), more)
	}
	return strings.Join(all, ", ")
}

// known removes the names in depends_on that no project has. Atlantis ignores them, too.
func (r *reader) known() {
	names := map[string]bool{}
	for _, p := range r.doc.Projects {
		names[p.Name.Value] = true
	}
	for i, p := range r.doc.Projects {
		r.doc.Projects[i].DependsOn = slices.DeleteFunc(p.DependsOn, func(t Text) bool {
			if !names[t.Value] {
				r.notices.add(t.At.Start.Line, "depends_on "+t.Value, "depends_on")
			}
			return !names[t.Value]
		})
	}
}

// project reads an entry of the list.
func (r *reader) project(n *yaml.Node) {
	before := r.count
	p := Project{At: r.at(n)}
	set := map[string]field{}
	for _, f := range r.fields(n, "a project") {
		set[f.key] = f
	}
	get := func(key string) Text {
		f, ok := set[key]
		if !ok {
			return Text{At: p.At}
		}
		t, _ := r.scalar(f)
		return t
	}
	p.Name, p.Dir, p.Workspace = get("name"), get("dir"), get("workspace")
	if r.count == before {
		r.named(&p, set)
	}
	r.server.defaults(r, &p, set)
	for _, key := range slices.Sorted(maps.Keys(set)) {
		r.setting(&p, set[key])
	}
	if many := strings.ContainsAny(p.Dir.Value, "*?["); many {
		r.many(&p)
	}
	r.workflow(&p, set["workflow"])
	if f, ok := set["autoplan"]; ok {
		r.autoplan(&p, f)
	}
	p.Broken = p.Broken || r.count > before
	r.doc.Projects = append(r.doc.Projects, p)
}

// named checks the directory of a project. If the project has no name, it gets one, because commands need a
// name.
func (r *reader) named(p *Project, set map[string]field) {
	if p.Dir.Value == "" {
		r.formf(p.Dir.At, "No directory", "A project needs the key dir. Write the directory of its root module, as a path from the root of the repository. For the root itself, write \".\".")
		return
	}
	if strings.Contains(p.Dir.Value, "..") {
		r.formf(p.Dir.At, "Invalid directory", "The dir of a project is a path from the root of the repository, and cannot contain \"..\".")
		return
	}
	p.Dir.Value = path.Clean("./" + p.Dir.Value)
	f, has := set["name"]
	switch {
	case p.Name.Value != "":
	case has && !null(r.follow(f.value)):
		r.formf(p.Name.At, "Empty name", "The name of a project cannot be empty. Write a name, or remove the key: the project then has the name of its directory.")
	case p.Workspace.Value == "" || p.Workspace.Value == "default":
		p.Name = Text{p.Dir.Value, p.Dir.At}
	default:
		p.Name = Text{path.Join(p.Dir.Value, p.Workspace.Value), p.Dir.At}
	}
}

// setting reads a key of a project, except for the keys that other methods read.
func (r *reader) setting(p *Project, f field) {
	switch f.key {
	case "name", "dir", "workspace", "workflow", "autoplan":
	case "plan_requirements", "apply_requirements", "import_requirements":
		r.require(f, strings.TrimSuffix(f.key, "_requirements"), p.Name.Value)
	case "branch":
		r.branch(f)
	case "terraform_version":
		r.noticeUnless(f, func(version string) bool {
			version = strings.TrimPrefix(version, "v") + "."
			if strings.HasPrefix(version, string(language.V1_11)+".") {
				p.Language = language.V1_11
			}
			return p.Language != language.Newest || strings.HasPrefix(version, strings.TrimSuffix(language.NewestRelease, "0"))
		})
	case "terraform_distribution":
		r.noticeUnless(f, func(name string) bool { return name == "terraform" })
	case "silence_pr_comments":
		if len(r.texts(f)) > 0 {
			r.notice(f)
		}
	case "depends_on":
		p.DependsOn = r.texts(f)
	case "execution_order_group":
		r.group(p, f)
	case "delete_source_branch_on_merge", "policy_check", "custom_policy_check":
		if r.truth(f, false) {
			r.notice(f)
		}
	case "repo_locking":
		r.truth(f, false)
		r.notice(f)
	case "repo_locks":
		r.locks(f)
	default:
		r.formf(r.at(f.at), "Unknown key", "Atlantis does not know the key %q of a project. Correct it, or remove it.", visible(f.key))
	}
}

// noticeUnless adds a notice about a key, unless Lockstep always does what the value of the key requests. The
// function asIs reports whether Lockstep always does that.
func (r *reader) noticeUnless(f field, asIs func(value string) bool) {
	if t, ok := r.scalar(f); ok && !asIs(t.Value) {
		r.notice(f)
	}
}

func (r *reader) branch(f field) {
	t, ok := r.scalar(f)
	if !ok {
		return
	}
	inSlashes := len(t.Value) >= 2 && strings.HasPrefix(t.Value, "/") && strings.HasSuffix(t.Value, "/")
	if _, err := regexp.Compile(strings.Trim(t.Value, "/")); err != nil || !inSlashes {
		r.formf(t.At, "Invalid value", "The key branch needs a regular expression between slashes, such as /^main$/.")
		return
	}
	r.notice(f)
}

func (r *reader) group(p *Project, f field) {
	t, ok := r.scalar(f)
	if !ok {
		return
	}
	var err error
	if p.Group, err = strconv.Atoi(t.Value); err != nil {
		r.formf(t.At, "Invalid value", "The key execution_order_group needs a whole number.")
	}
}

// autoplan reads which changed files cause a plan of a project.
func (r *reader) autoplan(p *Project, f field) {
	enabled := true
	for _, x := range r.fields(f.value, f.key) {
		switch x.key {
		case "enabled":
			enabled = r.truth(x, true)
		case "when_modified":
			all := r.texts(x)
			if all == nil {
				continue
			}
			if strings.ContainsAny(p.Dir.Value, "*?[") {
				r.notice(x)
				continue
			}
			var outside []Text
			p.WhenChanged, outside = changed(p.Dir.Value, all)
			for _, t := range outside {
				r.notices.add(t.At.Start.Line, t.Value, "outside")
			}
		default:
			r.formf(r.at(x.at), "Unknown key", "Atlantis does not know the key %q in autoplan. The keys are enabled and when_modified.", visible(x.key))
		}
	}
	if !enabled {
		p.WhenChanged = []Text{}
	}
}

// many checks a project whose directory is a pattern of directories.
func (r *reader) many(p *Project) {
	elements := strings.Split(p.Dir.Value, "/")
	odd := func(e string) bool { return strings.Count(e, "*") > 1 || strings.ContainsAny(e, "?[") }
	switch {
	case slices.ContainsFunc(elements, odd):
		r.errorf(p.Dir.At, "Pattern of directories", "Lockstep accepts one * in each part of a path, such as services/*. List the directories of %s, or write project blocks in lockstep.hcl.", visible(p.Dir.Value))
	case p.Name.Value != p.Dir.Value:
		r.errorf(p.Dir.At, "Pattern of directories", "Projects of a pattern of directories have the names of their directories, so the keys name and workspace cannot be set. Write project blocks in lockstep.hcl.")
	}
}

// workflow adds the arguments of a project's workflow. That is the workflow that the field names, or otherwise
// the server's workflow.
func (r *reader) workflow(p *Project, f field) {
	name, from := Text{Value: "default", At: p.At}, r
	if server := r.server; f.at == nil && server != nil && server.set["workflow"].at != nil {
		f, from = server.set["workflow"], server.reader
	}
	if f.at != nil {
		var ok bool
		if name, ok = from.scalar(f); !ok {
			return
		}
	} else if r.server == nil {
		return // the default workflow is the server's
	}
	w, ok := r.workflows[name.Value]
	if !ok {
		if name.Value != "default" {
			from.notice(f)
		}
		return
	}
	if w.broken {
		r.errorf(name.At, "Workflow with errors", "The plan stage of the workflow %q has errors, so Lockstep does not know the values for the plan. Correct the workflow.", visible(name.Value))
	}
	if w.projects = append(w.projects, p.Name.Value); w.blocks() && !r.options.DropSteps {
		p.Broken = true // told once for all projects
	}
	v := &values{reader: r, project: p, environment: map[string]string{}}
	for _, a := range w.steps {
		v.apply(a)
	}
	v.complete()
	if len(p.BackendFiles) > 0 && len(p.BackendConfig) > 0 {
		r.errorf(name.At, "Mixed backend configuration", "The workflow %q gives -backend-config both files and values. Write the values into a file, too.", visible(name.Value))
	}
}

// literal returns a text as JSON.
func literal(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text has a form
	}
	return data
}
