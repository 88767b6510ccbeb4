package policies

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// DefaultLimit is the time limit of [Set.Judge] if [Options.Limit] is 0.
const DefaultLimit = 10 * time.Second

// Options are the options of a policy directory. The zero value has conftest's defaults.
type Options struct {
	// Namespaces are the packages whose rules are evaluated, without "data.", such as "main" or
	// "terraform.network". Each must have at least one rule. An empty list means the package main.
	Namespaces []string
	// AllNamespaces is set if the rules of all packages are evaluated. Namespaces is then ignored.
	AllNamespaces bool
	// RegoV0 parses the files as Rego version 0 instead of 1, as conftest's option --rego-version=v0 does.
	RegoV0 bool
	// Limit is the time limit for judging one plan; 0 means [DefaultLimit].
	Limit time.Duration
}

// A Set has the compiled policies of one directory. It never changes, and is safe for concurrent use. The zero
// value has no rules.
type Set struct {
	limit      time.Duration
	rules      []query          // sorted
	exceptions map[string]query // by namespace
}

// A query is a rule that is prepared for evaluation.
type query struct {
	definition // the first one
	evaluate   rego.PreparedEvalQuery
}

// Compile compiles the files of a policy directory. The keys of files are slash-separated paths, relative to
// the directory. The layout is conftest's:
//   - *.rego files, in any folder, are policies, except *_test.rego.
//   - *.json, *.yaml and *.yml files are data. Their content is merged into "data" below the names of their
//     folders. If data files are in another directory, their paths are relative to that one.
//   - Other files are ignored.
//
// The error is an [*Error] with all mistakes that OPA's compiler reports before it stops. It is also an
// [*Error] if a namespace has no rule that denies or warns, because such policies would never deny anything.
// Compile keeps no reference to files.
func Compile(files map[string][]byte, opts Options) (*Set, error) {
	var ps problems
	var s *Set
	ps.guard("while the policies were compiled", func() { s = compile(files, opts, &ps) })
	if err := ps.err(); err != nil {
		return nil, err
	}
	return s, nil
}

func compile(files map[string][]byte, opts Options, ps *problems) *Set {
	version := ast.RegoV1
	if opts.RegoV0 {
		version = ast.RegoV0
	}
	d := load(files, version, ps)
	if len(*ps) > 0 {
		return nil
	}
	rules := counting(d, opts, ps)
	c := ast.NewCompiler().
		WithCapabilities(capabilities(version)).
		WithDefaultRegoVersion(version).
		WithPathConflictsCheck(func(at []string) (bool, error) { return d.has(at), nil }).
		SetErrorLimit(0)
	if c.Compile(d.modules); c.Failed() {
		ps.addError("", "", c.Errors)
		return nil
	}
	if foreign(c, d, ps); len(*ps) > 0 {
		return nil
	}
	s := &Set{limit: opts.Limit, exceptions: map[string]query{}}
	if s.limit <= 0 {
		s.limit = DefaultLimit
	}
	store := inmem.NewFromObject(d.data)
	for _, found := range rules {
		q, err := prepare(found, c, store)
		if err != nil {
			ps.addError(found.String()+": ", "", err)
			continue
		}
		if q.name == exceptionName {
			s.exceptions[q.namespace] = q
		} else {
			s.rules = append(s.rules, q)
		}
	}
	return s
}

// counting returns the first definition of each rule in the namespaces, sorted. It includes the rules for
// exceptions.
func counting(d directory, opts Options, ps *problems) (out []definition) {
	wanted := opts.Namespaces
	if len(wanted) == 0 {
		wanted = []string{"main"}
	}
	denying := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(d.modules)) {
		m := d.modules[name]
		if !opts.AllNamespaces && !slices.Contains(wanted, namespaceOf(m)) {
			continue
		}
		for _, r := range definitions(m, ps) {
			if !slices.ContainsFunc(out, func(x definition) bool { return x.rule == r.rule }) {
				out = append(out, r)
			}
			if r.name != exceptionName {
				denying[r.namespace] = true
			}
		}
	}
	if opts.AllNamespaces && len(denying) == 0 {
		ps.add("", 0, "no package has a rule deny, violation or warn, so every plan would pass")
	}
	for _, n := range wanted {
		if !opts.AllNamespaces && !denying[n] {
			ps.add("", 0, "the package %s has no rule deny, violation or warn, so every plan would pass: begin policies with \"package %s\", or name their packages as the namespaces", n, n)
		}
	}
	slices.SortFunc(out, func(a, b definition) int { return a.compare(b.rule) })
	return out
}

// prepare returns the query for the value of a rule. The query does not convert the value to JSON, because JSON
// can be exponentially larger than the value.
func prepare(found definition, c *ast.Compiler, store storage.Store) (query, error) {
	ref := found.module.Package.Path.Append(ast.StringTerm(found.name))
	p, err := rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(ref)))),
		rego.Compiler(c),
		rego.Store(store),
		rego.StrictBuiltinErrors(true),
		rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return t, nil }),
	).PrepareForEval(context.Background())
	return query{found, p}, err
}
