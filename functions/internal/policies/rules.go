package policies

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The names of conftest's rules.
// See https://github.com/open-policy-agent/conftest/blob/master/policy/engine.go.
var (
	warningName = regexp.MustCompile(`^warn(_[a-zA-Z0-9]+)*$`)
	failureName = regexp.MustCompile(`^(deny|violation)(_[a-zA-Z0-9]+)*$`)
	nearMiss    = regexp.MustCompile(`^(deny|violation|warn)_`)
)

const exceptionName = "exception"

// A rule is all definitions of a name in a package.
type rule struct {
	namespace string
	name      string
}

// A definition is one of a rule.
type definition struct {
	rule
	module *ast.Module
	at     *ast.Location
}

func (r rule) String() string { return "the rule " + r.name + " of the package " + r.namespace }

func (r rule) compare(to rule) int {
	return cmp.Or(strings.Compare(r.namespace, to.namespace), strings.Compare(r.name, to.name))
}

// warns reports whether the rule's results are warnings.
func (r rule) warns() bool { return warningName.MatchString(r.name) }

// exempt is the name of the rule in exceptions, "" for those without one: deny_root has "root".
func (r rule) exempt() string {
	_, name, _ := strings.Cut(r.name, "_")
	return name
}

func namespaceOf(m *ast.Module) string { return strings.TrimPrefix(m.Package.Path.String(), "data.") }

// definitions finds those of the rules in a module, exceptions among them, and the mistakes in their
// heads. One that only the evaluation brings to light is found there.
func definitions(m *ast.Module, ps *problems) (out []definition) {
	for _, r := range m.Rules {
		ref := r.Head.Ref()
		head, ok := ref[0].Value.(ast.Var)
		if !ok {
			continue
		}
		name := string(head)
		is := failureName.MatchString(name) || warningName.MatchString(name)
		if !is && name != exceptionName {
			if nearMiss.MatchString(name) {
				ps.addAt(r.Location, "%s would be no rule of conftest's: after deny_, violation_ or warn_ there are letters and digits, with single underscores between", name)
			}
			continue
		}
		out = append(out, definition{rule{namespaceOf(m), name}, m, r.Location})
		switch scalar := r.Head.Value != nil && ast.IsScalar(r.Head.Value.Value); {
		case len(r.Head.Args) > 0:
			ps.addAt(r.Location, "%s is a function, which nobody would call: give it another name, or write %s", name, form(name, m))
		case len(ref) > 1:
			ps.addAt(r.Location, "%s is an object instead of a set: write %s", name, form(name, m))
		case scalar:
			ps.addAt(r.Location, "%s is %v instead of a set: write %s", name, r.Head.Value, form(name, m))
		}
	}
	return out
}

// form is the head of a rule as it has to be.
func form(name string, m *ast.Module) string {
	item := "msg"
	if name == exceptionName {
		item = "rules"
	}
	if m.RegoVersionSpan() == ast.RegoVersionSpanOf(ast.RegoV0) {
		return "\"" + name + "[" + item + "] { ... }\""
	}
	return "\"" + name + " contains " + item + " if { ... }\""
}

// conftestFile is a document that conftest makes, and whose absence would let rules pass.
var conftestFile = ast.MustParseRef("data.conftest.file")

// foreign finds references to documents that conftest alone has.
func foreign(c *ast.Compiler, d directory, ps *problems) {
	if d.has([]string{"conftest", "file"}) || len(c.GetRulesWithPrefix(conftestFile)) > 0 {
		return
	}
	for _, m := range c.Modules {
		ast.WalkRefs(m, func(ref ast.Ref) bool {
			if ref.HasPrefix(conftestFile) {
				ps.addAt(ref[0].Location, "data.conftest.file is conftest's own, and not available: the plan is in no file")
			}
			return false
		})
	}
}
