package requirements

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Policy is a policy block of lockstep.hcl: a directory of Rego policies that must not deny a plan.
// It is a requirement for applies, and so for the projects of its block, and with its overrides.
type Policy struct {
	Name string
	// Dir is the directory in the repository, as the base branch has it: slash-separated, in conftest's
	// layout.
	Dir string
	// Namespaces are the packages whose rules count; nil is conftest's, "main", and ["*"] is all.
	Namespaces []string `json:",omitempty"`
	// RegoV0 is set for policies in version 0 of Rego.
	RegoV0 bool `json:",omitempty"`
}

// DefaultPolicyDir is conftest's directory of policies.
// Source: https://www.conftest.dev/options/
const DefaultPolicyDir = "policy"

// maxPolicies is the limit of policy blocks in a file: each is evaluated after each plan.
const maxPolicies = 10

// ParsePolicies reads policy blocks as requirements. If there are errors, the result lacks blocks, and
// must not be used to allow anything.
func ParsePolicies(blocks hcl.Blocks) (out []Requirement, all hcl.Diagnostics) {
	names := map[string]bool{}
	for i, b := range blocks {
		r := &reader{}
		x := r.policy(b)
		switch name := x.Policy.Name; {
		case i >= maxPolicies:
			r.errorf(b.DefRange, "Too many policy blocks", "There are %d, and at most %d are allowed: a directory can have many policies.", len(blocks), maxPolicies)
		case names[name]:
			r.errorf(b.DefRange, "Two policies with one name", "There is another policy block %q: give one of them another name.", name)
		default:
			names[name] = true
		}
		if all = append(all, r.diags...); !r.diags.HasErrors() {
			out = append(out, x)
		}
	}
	return out, all
}

// policy reads one block.
func (r *reader) policy(b *hcl.Block) Requirement {
	p := &Policy{Name: b.Labels[0], Dir: DefaultPolicyDir}
	x := Requirement{Command: "apply", At: fmt.Sprintf("%s:%d", path.Base(b.DefRange.Filename), b.DefRange.Start.Line), Rules: Rules{Policy: p}}
	if !slugPattern.MatchString(fold(p.Name)) {
		r.errorf(b.LabelRanges[0], "Invalid name of a policy", "The name consists of letters, digits and the characters _ . - and has at most 100.")
	}
	r.content(b.Body, schema([]string{"dir", "namespaces", "rego", "projects", "override"}))
	if r.has("dir") {
		p.Dir = r.text("dir")
		if clean := path.Clean(p.Dir); p.Dir == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, `\`) {
			r.errorf(r.at("dir"), "Invalid directory", "The directory with the policies is a path in the repository: \"policy\".")
		} else {
			p.Dir = clean
		}
	}
	p.Namespaces = each(r, "namespaces", func(s string) (string, error) {
		if s == "" || strings.HasPrefix(s, "data.") {
			return "", fmt.Errorf("%q is not the name of a package: write it as after the word package, \"main\", or \"*\" for all", s)
		}
		return s, nil
	})
	if slices.Contains(p.Namespaces, "*") {
		p.Namespaces = []string{"*"}
	}
	switch v := r.text("rego"); v {
	case "", "v1":
	case "v0":
		p.RegoV0 = true
	default:
		r.errorf(r.at("rego"), "Invalid version", "The version of Rego is \"v1\", or \"v0\" for policies that OPA 0.x reads.")
	}
	x.Projects, x.Override = r.patterns("projects"), r.parties("override")
	r.notEmpty(map[string]bool{"projects": x.Projects == nil, "override": x.Override == nil, "namespaces": p.Namespaces == nil})
	return x
}
