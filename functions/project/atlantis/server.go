package atlantis

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A Server is the configuration file of an Atlantis server. The server's option --repo-config names this file.
//
// Source: https://www.runatlantis.io/docs/server-side-repo-config, and the behaviour of version 0.47.1.
type Server struct {
	// Name is the name of the file, for people. Source is its content.
	Name   string
	Source []byte
	// Repository is HOST/OWNER/NAME, as the file's entries name repositories. If it is "", the repository is
	// not known: entries for all repositories count, and other entries are errors.
	Repository string
}

// ruled is the part of a server's file about one repository. It has the defaults of the repository's projects,
// which atlantis.yaml may override.
type ruled struct {
	reader *reader
	// set are the keys of the entries for the repository. If two entries have the same key, the later entry
	// counts.
	set map[string]field
	// overrides are the keys that atlantis.yaml may set. custom is set if it may define workflows.
	overrides []string
	custom    bool
}

// read parses the server's file, and returns the part about the repository.
func (x Server) read(o Options) *ruled {
	r := &reader{source: newSource(x.Name, x.Source), options: o, notices: notices{file: x.Name}, workflows: map[string]*workflow{}}
	s := &ruled{reader: r, set: map[string]field{}}
	for _, f := range r.fields(r.load(), "the file") {
		switch f.key {
		case "repos":
			for _, n := range r.items(f) {
				s.entry(n, x.Repository)
			}
		case "workflows":
			r.readWorkflows(f)
		case "policies", "team_authz":
			r.notice(f)
		case "metrics":
		default:
			r.formf(r.at(f.at), "Unknown key", "Atlantis does not know the key %q of its server's file. Correct it, or remove it.", visible(f.key))
		}
	}
	return s
}

// entry reads an entry of repos, if it is about the repository.
func (s *ruled) entry(n *yaml.Node, repository string) {
	r := s.reader
	fields := r.fields(n, "an entry of repos")
	i := slices.IndexFunc(fields, func(f field) bool { return f.key == "id" })
	if i < 0 {
		r.formf(r.at(n), "No id", "An entry of repos needs the key id. Write github.com/OWNER/NAME, or a regular expression between slashes.")
		return
	}
	id, ok := r.scalar(fields[i])
	if !ok || !s.about(id, repository) {
		return
	}
	for _, f := range fields {
		switch f.key {
		case "id":
		case "plan_requirements", "apply_requirements", "import_requirements", "workflow", "delete_source_branch_on_merge", "autodiscover":
			s.set[f.key] = f
		case "allowed_overrides":
			s.overrides = values1(r.texts(f))
		case "allow_custom_workflows":
			s.custom = r.truth(f, false)
		case "pre_workflow_hooks", "post_workflow_hooks":
			r.notices.add(f.at.Line, f.key, "hooks")
		case "branch", "repo_locking", "repo_locks", "policy_check", "custom_policy_check", "silence_pr_comments", "allowed_workflows", "repo_config_file":
			r.notice(f)
		default:
			r.formf(r.at(f.at), "Unknown key", "Atlantis does not know the key %q of an entry of repos. Correct it, or remove it.", visible(f.key))
		}
	}
}

// about reports whether an entry with an id is about the repository.
func (s *ruled) about(id Text, repository string) bool {
	pattern, is := strings.CutPrefix(id.Value, "/")
	if is {
		pattern = strings.TrimSuffix(pattern, "/")
	}
	expression, err := regexp.Compile(pattern)
	switch {
	case is && err != nil:
		s.reader.formf(id.At, "Invalid value", "The id %q is not a valid regular expression.", visible(id.Value))
		return false
	case is && (pattern == ".*" || repository != "" && expression.MatchString(repository)):
		return true
	case repository == "":
		s.reader.formf(id.At, "Which repository?", "This entry is about %q. To choose the repository, run `lockstep config import -server FILE -repo github.com/OWNER/NAME`.", visible(id.Value))
	}
	return !is && id.Value == repository
}

// may reports whether atlantis.yaml may set a key. If there is no file of a server, it may set all keys.
func (s *ruled) may(key string) bool { return s == nil || slices.Contains(s.overrides, key) }

// values1 returns texts without their places.
func values1(all []Text) []string {
	out := []string{}
	for _, x := range all {
		out = append(out, x.Value)
	}
	return out
}

// defaults gives a project the server's defaults. set has the keys that the project itself sets. defaults
// removes from set the keys that the project may not set.
func (s *ruled) defaults(r *reader, p *Project, set map[string]field) {
	if s == nil {
		return
	}
	for _, command := range []string{"plan", "apply", "import"} {
		key := command + "_requirements"
		own, has := set[key]
		f, ours := s.set[key]
		if has && !s.may(key) {
			delete(set, key)
			r.notices.add(own.at.Line, key, "no override")
			has = false
		}
		if ours && !has {
			s.reader.asked = nil
			s.reader.require(f, command, p.Name.Value)
			r.asked = append(r.asked, s.reader.asked...)
		}
	}
	if own, has := set["workflow"]; has && !s.may("workflow") {
		delete(set, "workflow")
		r.notices.add(own.at.Line, "workflow", "no override")
	}
}
