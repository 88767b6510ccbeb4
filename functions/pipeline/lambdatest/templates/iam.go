package templates

import (
	"fmt"
	"slices"
)

// A Statement is a statement of a policy. Template functions in it are resolved.
type Statement struct {
	sid                string
	deny               bool
	principals         []string // of a resource's policy
	actions, resources []string
	conditions         map[string]any
}

// A Call is an action on a resource that IAM decides about.
type Call struct {
	Action, Resource string
	Context          map[string][]string // the values of condition keys
}

// StatementsIn returns the statements of a policy document.
func StatementsIn(document map[string]any) []Statement {
	var out []Statement
	for _, s := range list(document["Statement"]) {
		m := s.(map[string]any)
		conditions, _ := m["Condition"].(map[string]any)
		x := Statement{
			sid: fmt.Sprint(m["Sid"]), deny: m["Effect"] == "Deny",
			actions: texts(m["Action"]), conditions: conditions,
		}
		if m["Resource"] != nil {
			x.resources = texts(m["Resource"])
		}
		switch p := m["Principal"].(type) {
		case string:
			x.principals = []string{p}
		case map[string]any:
			for _, who := range p {
				x.principals = append(x.principals, texts(who)...)
			}
		}
		out = append(out, x)
	}
	return out
}

// texts returns a value, which is a text or a list of texts, as a list.
func texts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{fmt.Sprint(v)}
	}
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprint(x))
	}
	return out
}

// allowed evaluates statements as IAM does: at least one must allow the call, and none may deny it. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
func allowed(statements []Statement, c Call) bool {
	ok := false
	for _, s := range statements {
		if !s.covers(c) {
			continue
		}
		if s.deny {
			return false
		}
		ok = true
	}
	return ok
}

func (s Statement) covers(c Call) bool {
	return slices.ContainsFunc(s.actions, func(p string) bool { return Like(p, c.Action) }) &&
		slices.ContainsFunc(s.resources, func(p string) bool { return Like(p, c.Resource) }) && s.holds(c)
}

// holds reports whether the statement's conditions are fulfilled.
func (s Statement) holds(c Call) bool {
	for operator, arg := range s.conditions {
		for name, wanted := range arg.(map[string]any) {
			if !c.meets(operator, name, texts(wanted)) {
				return false
			}
		}
	}
	return true
}

// meets evaluates one condition. It panics at an operator that it does not know. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
func (c Call) meets(operator, name string, wanted []string) bool {
	same := func(value string) bool { return slices.Contains(wanted, value) }
	matches := func(value string) bool {
		return slices.ContainsFunc(wanted, func(p string) bool { return Like(p, value) })
	}
	values := c.Context[name]
	switch operator {
	case "ForAllValues:StringEquals":
		return !slices.ContainsFunc(values, func(v string) bool { return !same(v) })
	case "ForAllValues:StringLike":
		return !slices.ContainsFunc(values, func(v string) bool { return !matches(v) })
	case "ForAnyValue:StringLike":
		return slices.ContainsFunc(values, matches)
	case "StringEquals", "Bool":
		return len(values) == 1 && same(values[0])
	case "StringNotEquals":
		return len(values) == 0 || !same(values[0])
	case "StringLike", "ArnLike", "ArnEquals":
		return len(values) == 1 && matches(values[0])
	case "Null":
		return same(fmt.Sprint(len(values) == 0))
	}
	panic(fmt.Sprintf("templates: no case for the condition %s of %s", operator, name))
}

// Like reports whether a text matches a pattern. In the pattern, * matches any text, and ? any one character.
func Like(pattern, text string) bool {
	for ; pattern != "" && pattern[0] != '*'; pattern, text = pattern[1:], text[1:] {
		if text == "" || pattern[0] != '?' && pattern[0] != text[0] {
			return false
		}
	}
	if pattern == "" {
		return text == ""
	}
	for i := range len(text) + 1 {
		if Like(pattern[1:], text[i:]) {
			return true
		}
	}
	return false
}
