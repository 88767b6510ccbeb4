package requirements

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// A Policy is a policy block of lockstep.hcl: a directory of Rego policies that must not deny a plan. It is a
// requirement for applies of the block's projects, with the block's overrides.
type Policy struct {
	Name string
	// Dir is the directory in the repository at the base branch, slash-separated, in conftest's layout.
	Dir string
	// Data are directories in the same repository with the policies' data, as for conftest's option --data.
	Data []string `json:",omitempty"`
	// Repository is the repository with the directories, "owner/name"; "" means the pull request's own. Ref is
	// a branch or a commit of that repository.
	Repository string `json:",omitempty"`
	Ref        string `json:",omitempty"`
	// Namespaces are the packages whose rules count. nil means conftest's default, "main", and ["*"] means all.
	Namespaces []string `json:",omitempty"`
	// RegoV0 is set for policies in version 0 of Rego.
	RegoV0 bool `json:",omitempty"`
}

// Reads reports whether one of the files is in the directories of the policies or of their data.
func (p Policy) Reads(files []string) bool {
	return slices.ContainsFunc(append([]string{p.Dir}, p.Data...), func(dir string) bool {
		return slices.ContainsFunc(files, func(f string) bool { return dir == "." || f == dir || strings.HasPrefix(f, dir+"/") })
	})
}

// DefaultPolicyDir is conftest's default directory of policies. Source: https://www.conftest.dev/options/
const DefaultPolicyDir = "policy"

// DefaultPolicyRef is the branch from which policies in another repository are read by default.
const DefaultPolicyRef = "main"

// repositoryPattern matches owner/name. Source:
// https://docs.github.com/en/rest/repos/repos#create-an-organization-repository
var repositoryPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100}$`)

// maxPolicies is the maximum number of policy blocks in a file. Each policy is evaluated after each plan.
const maxPolicies = 10

// ParsePolicies parses policy blocks as requirements. If there are errors, some blocks are missing, and the
// result must not be used to allow anything.
func ParsePolicies(list hcl.Blocks) ([]Requirement, hcl.Diagnostics) {
	return blocks.Named(list, maxPolicies, "a directory can have many policies", policy)
}

// policy reads one block.
func policy(r *blocks.Reader, b *hcl.Block) Requirement {
	p := &Policy{Name: b.Labels[0], Dir: DefaultPolicyDir}
	x := Requirement{Command: "apply", At: blocks.Place(b), Rules: Rules{Policy: p}}
	r.Content(b.Body, blocks.Schema([]string{"dir", "data", "repository", "ref", "namespaces", "rego", "projects", "override"}))
	if r.Has("dir") {
		if dir, ok := inRepository(r.Text("dir")); ok {
			p.Dir = dir
		} else {
			r.Errorf(r.At("dir"), "Invalid directory", "The directory with the policies is a path in the repository: \"policy\".")
		}
	}
	p.Data = blocks.Each(r, "data", func(s string) (string, error) {
		dir, ok := inRepository(s)
		if !ok || dir == p.Dir {
			return "", fmt.Errorf("a directory with data is a path in the repository, and not that of the policies: \"policy/data\"")
		}
		return dir, nil
	})
	if r.Has("repository") {
		p.Repository, p.Ref = r.Text("repository"), DefaultPolicyRef
		if !repositoryPattern.MatchString(p.Repository) {
			r.Errorf(r.At("repository"), "Invalid repository", "The repository with the policies is one of the same account: \"acme/policies\".")
		}
	}
	if r.Has("ref") {
		switch p.Ref = r.Text("ref"); {
		case p.Repository == "":
			r.Errorf(r.At("ref"), "A ref without a repository", "The policies of this repository are those of the base branch: remove ref, or name a repository.")
		case p.Ref == "":
			r.Errorf(r.At("ref"), "Invalid ref", "The ref is a branch of the repository, or the whole ID of a commit: \"main\".")
		}
	}
	p.Namespaces = blocks.Each(r, "namespaces", func(s string) (string, error) {
		if s == "" || strings.HasPrefix(s, "data.") {
			return "", fmt.Errorf("%q is not the name of a package: write it as after the word package, \"main\", or \"*\" for all", s)
		}
		return s, nil
	})
	if slices.Contains(p.Namespaces, "*") {
		p.Namespaces = []string{"*"}
	}
	switch v := r.Text("rego"); v {
	case "", "v1":
	case "v0":
		p.RegoV0 = true
	default:
		r.Errorf(r.At("rego"), "Invalid version", "The version of Rego is \"v1\", or \"v0\" for policies that OPA 0.x reads.")
	}
	x.Projects, x.Override = r.Projects(), lifters(r)
	r.NotEmpty(map[string]bool{"projects": x.Projects == nil, "override": x.Override == nil, "namespaces": p.Namespaces == nil, "data": p.Data == nil})
	return x
}

// inRepository parses the path of a directory in a repository.
func inRepository(s string) (dir string, ok bool) {
	dir = path.Clean(s)
	return dir, s != "" && !path.IsAbs(dir) && dir != ".." && !strings.HasPrefix(dir, "../") && !strings.Contains(dir, `\`)
}
