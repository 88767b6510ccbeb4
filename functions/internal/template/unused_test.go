package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A Judged is what a simulator says of a decision.
type Judged struct {
	Judging
	Allowed bool
	By      []string // the statements that match it, "POLICY N", counted from 0
}

// Unused returns the statements that make no difference: for each that allows something, there must be a
// request that nothing else allows, and for each of its actions and resources one that it allows; for
// each that denies something there must be a request that is allowed but for it.
func (w *World) Unused(all []Judged) []string {
	var out []string
	for _, p := range w.Policies {
		for i, s := range list(p.Resolved["Statement"]) {
			m := s.(map[string]any)
			u := usage{world: w, at: fmt.Sprintf("%s %d", p.Name, i), denies: m["Effect"] == "Deny", kind: p.Kind}
			u.find(all)
			name := fmt.Sprintf("%s, statement %v", p.Name, m["Sid"])
			if m["Sid"] == nil {
				name = fmt.Sprintf("%s, statement %d", p.Name, i+1)
			}
			if !u.alone {
				out = append(out, name+": no request needs it")
				continue
			}
			out = append(out, u.parts(name, m)...)
		}
	}
	return out
}

// usage is the use of a statement.
type usage struct {
	world  *World
	at     string
	denies bool
	kind   templates.PolicyKind
	by     []Judged // the requests that it matches
	alone  bool     // there is one that it decides
}

func (u *usage) find(all []Judged) {
	for _, j := range all {
		if !slices.Contains(j.By, u.at) {
			continue
		}
		u.by = append(u.by, j)
		same, allows := 0, false
		for _, by := range j.By {
			denies, kind := u.world.statement(by)
			if denies == u.denies && (denies || (kind == templates.RolePolicies) == (u.kind == templates.RolePolicies)) {
				same++
			}
			allows = allows || !denies
		}
		u.alone = u.alone || same == 1 && (j.Allowed || u.denies && allows)
	}
}

// statement reports whether a statement denies, and the kind of its policy.
func (w *World) statement(at string) (denies bool, kind templates.PolicyKind) {
	name, n := cut(at)
	for _, p := range w.Policies {
		if p.Name == name {
			s := list(p.Resolved["Statement"])[n].(map[string]any)
			return s["Effect"] == "Deny", p.Kind
		}
	}
	if name == delegates {
		return false, templates.ResourcePolicies
	}
	return false, templates.RolePolicies // of the matrix' principals
}

// cut cuts "POLICY N".
func cut(at string) (string, int) {
	i := strings.LastIndex(at, " ")
	n, err := strconv.Atoi(at[i+1:])
	if err != nil {
		panic("template: a statement named " + at) // by us
	}
	return at[:i], n
}

// parts returns the actions and the resources of a statement that are in none of its requests.
func (u *usage) parts(name string, statement map[string]any) []string {
	var out []string
	for _, a := range texts(statement["Action"]) {
		if !slices.ContainsFunc(u.by, func(j Judged) bool { return matches(a, j.Action) }) {
			out = append(out, name+": no request needs "+a)
		}
	}
	for _, r := range texts(statement["Resource"]) {
		if !slices.ContainsFunc(u.by, func(j Judged) bool { return matches(r, j.On) }) {
			out = append(out, name+": no request needs "+r)
		}
	}
	return out
}
