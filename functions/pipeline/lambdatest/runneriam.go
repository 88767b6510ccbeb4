//go:build linux

package lambdatest

import (
	"fmt"
	"slices"
	"strings"
)

// A statement is one of a policy.
type statement struct {
	sid                string
	deny               bool
	principals         []string // of a resource's policy
	actions, resources []string
	conditions         map[string]any
}

// A call is a request for one action.
type call struct {
	Action, Resource string
	// keys are the partition keys of DynamoDB items that the call is about.
	keys []string
	// context has the other condition keys, such as kms:ViaService, and lists those that
	// have several values.
	context map[string]string
	lists   map[string][]string
	// principal is who asks a role to be assumed.
	principal string
}

// statementsOf reads the policies of a role, as they are when the stack is deployed.
func statementsOf(role map[string]any) []statement {
	var out []statement
	for _, p := range role["Policies"].([]any) {
		document := p.(map[string]any)["PolicyDocument"].(map[string]any)
		out = append(out, statementsIn(document)...)
	}
	return out
}

// rightsOf reads the policies that the template gives a role, in it or beside it.
func (s *Stack) rightsOf(role string) []statement {
	out := statementsOf(s.resolver.resolve(s.Template.Resources[role].Properties).(map[string]any))
	s.each("AWS::IAM::RolePolicy", func(_ string, p map[string]any) {
		if p["RoleName"].(map[string]any)["Ref"] == role {
			out = append(out, statementsIn(s.resolver.resolve(p["PolicyDocument"]).(map[string]any))...)
		}
	})
	return out
}

// statementsIn reads one policy.
func statementsIn(document map[string]any) []statement {
	var out []statement
	for _, s := range document["Statement"].([]any) {
		m := s.(map[string]any)
		conditions, _ := m["Condition"].(map[string]any)
		x := statement{
			sid: fmt.Sprint(m["Sid"]), deny: m["Effect"] == "Deny",
			actions: texts(m["Action"]), resources: texts(m["Resource"]), conditions: conditions,
		}
		if p, ok := m["Principal"].(map[string]any); ok {
			x.principals = texts(p["AWS"])
		}
		out = append(out, x)
	}
	return out
}

// texts returns a text or a list of them as a list.
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

// allowed evaluates policies as IAM does: a call needs a statement that allows it, and
// none that denies it.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
func allowed(statements []statement, c call) bool {
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

func (s statement) covers(c call) bool {
	return slices.ContainsFunc(s.actions, func(p string) bool { return like(p, c.Action) }) &&
		slices.ContainsFunc(s.resources, func(p string) bool { return like(p, c.Resource) }) && s.holds(c)
}

// holds evaluates the conditions that the template has.
func (s statement) holds(c call) bool {
	for operator, arg := range s.conditions {
		for name, wanted := range arg.(map[string]any) {
			if !c.meets(operator, name, texts(wanted)) {
				return false
			}
		}
	}
	return true
}

// meets evaluates one condition. One that it does not know is a reason to stop.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
func (c call) meets(operator, name string, wanted []string) bool {
	matches := func(value string) bool {
		return slices.ContainsFunc(wanted, func(p string) bool { return like(p, value) })
	}
	value, there := c.context[name]
	switch {
	case name == "dynamodb:LeadingKeys" && operator == "ForAllValues:StringEquals":
		return !slices.ContainsFunc(c.keys, func(k string) bool { return !matches(k) })
	case name == "dynamodb:LeadingKeys" && operator == "ForAnyValue:StringLike":
		return slices.ContainsFunc(c.keys, matches)
	case operator == "ForAllValues:StringEquals" && c.lists[name] != nil:
		return !slices.ContainsFunc(c.lists[name], func(v string) bool { return !slices.Contains(wanted, v) })
	case operator == "StringLike" && (strings.HasPrefix(name, "aws:RequestTag/") || name == "kms:ViaService"):
		return there && matches(value)
	case slices.ContainsFunc([]string{"kms:", "sts:", "aws:PrincipalArn"}, func(p string) bool { return strings.HasPrefix(name, p) }) && (operator == "StringEquals" || operator == "ArnEquals"):
		return there && slices.Contains(wanted, value)
	case operator == "StringNotEquals":
		return !there || !slices.Contains(wanted, value)
	case name == "aws:SecureTransport" && operator == "Bool":
		return there && slices.Contains(wanted, value)
	case strings.HasPrefix(name, "kms:") && operator == "Null":
		return slices.Contains(wanted, fmt.Sprint(!there))
	}
	panic(fmt.Sprintf("lambdatest: no case for the condition %s of %s", operator, name))
}

// like matches a text with a pattern in which * is anything, and ? any one character.
func like(pattern, text string) bool {
	for ; pattern != "" && pattern[0] != '*'; pattern, text = pattern[1:], text[1:] {
		if text == "" || pattern[0] != '?' && pattern[0] != text[0] {
			return false
		}
	}
	if pattern == "" {
		return text == ""
	}
	for i := range len(text) + 1 {
		if like(pattern[1:], text[i:]) {
			return true
		}
	}
	return false
}
