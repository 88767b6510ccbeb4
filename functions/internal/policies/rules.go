package policies

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Patterns for the names of the rules that conftest evaluates. See
// https://github.com/open-policy-agent/conftest/blob/master/policy/engine.go.
var (
	warningName = regexp.MustCompile(`^warn(_[a-zA-Z0-9]+)*$`)
	failureName = regexp.MustCompile(`^(deny|violation)(_[a-zA-Z0-9]+)*$`)
	nearMiss    = regexp.MustCompile(`^(deny|violation|warn)_`)
)

const exceptionName = "exception"

// A rule has all definitions with one name in a package.
type rule struct {
	namespace string
	name      string
}

// A definition is one of the definitions that a rule has.
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

// exempt returns the name by which an exception lists this rule, such as "root" for deny_root. It returns ""
// for a rule that exceptions cannot list.
func (r rule) exempt() string {
	_, name, _ := strings.Cut(r.name, "_")
	return name
}

func namespaceOf(m *ast.Module) string { return strings.TrimPrefix(m.Package.Path.String(), "data.") }

// definitions returns the definitions of the rules in a module, including those for exceptions. It records
// mistakes in the heads of rules. The evaluation finds all other mistakes.
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

// form returns an example that shows how to write the head of a rule with this name.
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

// conftestFile is a document that exists only in conftest. Here, a rule that refers to it would have no value,
// and so let every plan pass.
var conftestFile = ast.MustParseRef("data.conftest.file")

// foreign records references to documents that exist only in conftest as mistakes.
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
