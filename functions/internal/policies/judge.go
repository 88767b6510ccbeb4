package policies

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/util"
)

// Judge evaluates the rules. Their input is a plan: the JSON of `terraform show -json`, with its
// format_version. An [*Error] means a mistake in the policies. Any other error is about the plan or the
// context. After an error there is no verdict.
//
// The time limit is the end of ctx, or the limit of the set, whichever comes first. The latter causes an
// [*Error]. OPA checks the time between all steps, and inside functions that can take long. It does not
// interrupt single calls of other functions, such as a regular expression on a long text.
func (s *Set) Judge(ctx context.Context, plan []byte) (Verdict, error) {
	if s == nil || len(s.rules) == 0 {
		return Verdict{}, errors.New("a set of policies that was not compiled can not judge")
	}
	input, err := readPlan(plan)
	if err != nil {
		return Verdict{}, fmt.Errorf("read the plan to judge: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	e := &evaluation{input: input, lifted: map[string]map[string]bool{}}
	for _, q := range s.rules {
		if e.judge(limited, s, q); limited.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return Verdict{}, fmt.Errorf("judge the plan: %w", context.Cause(ctx))
	}
	if err := e.problems.err(); err != nil {
		return Verdict{}, err
	}
	return e.verdict(), nil
}

// readPlan parses the JSON of a plan. A document that is not a plan is an error. Without this error, the
// document would pass, because it has nothing that rules check.
func readPlan(plan []byte) (ast.Value, error) {
	var doc any
	if err := util.UnmarshalJSON(plan, &doc); err != nil {
		return nil, err
	}
	object, _ := doc.(map[string]any)
	if version, _ := object["format_version"].(string); version == "" {
		return nil, errors.New("it has no format_version, so it is not the JSON of a plan")
	}
	return ast.InterfaceToValue(doc)
}

// An evaluation is the state of judging one plan.
type evaluation struct {
	input              ast.Value
	lifted             map[string]map[string]bool // names in exceptions, by namespace
	failures, warnings []Finding
	problems           problems
}

// judge evaluates one rule. It also evaluates rules for which there is an exception, as conftest does: an
// exception makes it ignore denials, but not mistakes.
func (e *evaluation) judge(ctx context.Context, s *Set, q query) {
	if x, is := s.exceptions[q.namespace]; is && e.lifted[q.namespace] == nil {
		e.lifted[q.namespace] = e.exempted(x, e.value(ctx, x, s.limit))
	}
	if ctx.Err() != nil {
		return
	}
	found := e.findings(q, e.value(ctx, q, s.limit))
	switch {
	case e.lifted[q.namespace][q.exempt()]:
	case q.warns():
		e.warnings = append(e.warnings, found...)
	default:
		e.failures = append(e.failures, found...)
	}
}

// value evaluates a rule. It returns nil if the rule has no value. After a mistake it also returns nil, and
// records the mistake.
func (e *evaluation) value(ctx context.Context, q query, limit time.Duration) (v ast.Value) {
	e.problems.guard("while "+q.String()+" was evaluated", func() {
		results, err := q.evaluate.Eval(ctx, rego.EvalParsedInput(e.input))
		switch {
		case ctx.Err() != nil:
			e.problems.addAt(q.at, "%v was not evaluated when the time was over, which is %v for all rules together", q.rule, limit)
		case err != nil:
			e.problems.addError(q.String()+": ", "", err)
		case len(results) > 0:
			v = results[0].Expressions[0].Value.(*ast.Term).Value
		}
	})
	return v
}

// findings returns the messages in a rule's value. Each is a string, or an object with a string msg. Elements
// of another kind are recorded as mistakes.
func (e *evaluation) findings(q query, v ast.Value) (out []Finding) {
	for item := range e.items(q, v) {
		if object, ok := item.(ast.Object); ok {
			msg := object.Get(ast.InternedTerm("msg"))
			if msg == nil {
				e.problems.addAt(q.at, "%v has an object without msg: write {\"msg\": \"...\"}, with other keys at will", q.rule)
				continue
			}
			item = msg.Value
		}
		text, ok := item.(ast.String)
		switch {
		case !ok:
			e.problems.addAt(q.at, "%v has a message of type %s: a message is a text, or an object with a text msg", q.rule, ast.ValueName(item))
		case strings.TrimSpace(string(text)) == "":
			e.problems.addAt(q.at, "%v has an empty message, which conftest lets pass: say something", q.rule)
		default:
			out = append(out, Finding{q.namespace, q.name, shorten(string(text))})
		}
	}
	return out
}

// exempted returns the names of rules that an exception in a namespace lists. v is the value of the rule for
// exceptions.
func (e *evaluation) exempted(q query, v ast.Value) map[string]bool {
	out := map[string]bool{}
	for names := range e.items(q, v) {
		for name := range e.items(q, names) {
			text, ok := name.(ast.String)
			if !ok {
				e.problems.addAt(q.at, "%v has a name of type %s: each item is a list of names of rules, without deny_, violation_ and warn_", q.rule, ast.ValueName(name))
			}
			out[string(text)] = ok
		}
	}
	return out
}

// items returns the elements of v, if v is a set or an array. Any other value is recorded as a mistake.
func (e *evaluation) items(q query, v ast.Value) iter.Seq[ast.Value] {
	var terms []*ast.Term
	switch v := v.(type) {
	case nil:
	case ast.Set:
		terms = v.Slice()
	case *ast.Array:
		for i := range v.Len() {
			terms = append(terms, v.Elem(i))
		}
	default:
		e.problems.addAt(q.at, "%v is of type %s instead of a set: write %s", q.rule, ast.ValueName(v), form(q.name, q.module))
	}
	return func(yield func(ast.Value) bool) {
		for _, t := range terms {
			if !yield(t.Value) {
				return
			}
		}
	}
}
