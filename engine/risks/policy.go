package risks

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// These are the limits of policies. AWS' own limits are far below.
const (
	maxDocument = 1 << 20 // bytes
	maxNesting  = 100
	maxGrants   = 1000
	maxName     = 4096 // bytes of an action and a resource
)

// A grant is one right that a policy gives: an action on a resource. The action is in lower case, and shown is the
// action as it is written.
type grant struct {
	action, shown, resource string
	// condition is the hash of the statement's condition; "" for none.
	condition string
	// everybody is set if anybody may use the right.
	everybody bool
}

// A reading is what a policy gives, as far as it can be read.
type reading struct {
	grants []grant
	// rights is set if some rights are [hidden]. callers is set if it is hidden who may use a right that could be for
	// everybody.
	rights, callers bool
}

// grants reads a policy and returns the rights that it gives. Statements that deny are left out. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
func grants(policy string) (out reading, err error) {
	if strings.TrimSpace(policy) == "" {
		return out, nil
	}
	doc, err := decode(policy)
	if err != nil {
		return out, err
	}
	if doc == hidden {
		return reading{rights: true, callers: true}, nil
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return out, errors.New("the policy is no object")
	}
	for _, x := range listOf(root["statement"]) {
		if x == hidden {
			out.rights, out.callers = true, true
			continue
		}
		s, ok := x.(map[string]any)
		if !ok {
			return out, errors.New("a statement is no object")
		}
		if err := out.statement(s); err != nil {
			return out, err
		}
	}
	return out, nil
}

// statement adds what a statement gives.
func (r *reading) statement(s map[string]any) error {
	effect, _ := s["effect"].(string)
	if effect != hidden && !strings.EqualFold(effect, "Allow") {
		return nil
	}
	g := grant{everybody: anybody(s)}
	callers := !g.everybody && hides(s["principal"])
	if c, has := s["condition"]; has {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		g.condition = fmt.Sprintf("%x", sha256.Sum256(text))
		limited, unknown := limits(c)
		callers = !limited && (callers || g.everybody && unknown)
		g.everybody = g.everybody && !limited && !unknown
	}
	r.callers = r.callers || callers
	if effect == hidden {
		r.rights, r.callers = true, r.callers || g.everybody
		return nil
	}
	for _, g.shown = range textsOr(s, "action") {
		if g.shown == hidden {
			r.rights, r.callers = true, r.callers || g.everybody
			continue
		}
		for _, g.resource = range textsOr(s, "resource") {
			g.action = strings.ToLower(g.shown)
			if r.grants = append(r.grants, g); len(r.grants) > maxGrants || len(g.action)+len(g.resource) > maxName {
				return errors.New("the policy is too large")
			}
		}
	}
	return nil
}

// hides reports whether some of a JSON value is hidden.
func hides(v any) bool {
	switch v := v.(type) {
	case string:
		return v == hidden
	case []any:
		return slices.ContainsFunc(v, hides)
	case map[string]any:
		for _, x := range v {
			if hides(x) {
				return true
			}
		}
	}
	return false
}

// textsOr returns the texts of a statement's element, such as Action. If the statement has the inverse element,
// such as NotAction, or neither of the two, the result is "*".
func textsOr(s map[string]any, element string) (out []string) {
	if _, not := s["not"+element]; not {
		return []string{"*"}
	}
	for _, x := range listOf(s[element]) {
		if text, ok := x.(string); ok {
			out = append(out, text)
		}
	}
	if out == nil {
		return []string{"*"}
	}
	return out
}

// listOf returns the elements of a JSON value that is a list or a single element.
func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// anybody reports whether the principals of a statement include everybody.
func anybody(s map[string]any) bool {
	if _, not := s["notprincipal"]; not {
		return true
	}
	kinds, is := s["principal"].(map[string]any)
	if !is {
		kinds = map[string]any{"": s["principal"]}
	}
	for _, of := range kinds {
		for _, p := range listOf(of) {
			if text, ok := p.(string); ok && text == "*" {
				return true
			}
		}
	}
	return false
}

// limiting are the keys of conditions that limit who may use a right, if their values are fixed. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
var limiting = []string{
	"aws:sourcearn", "aws:sourcevpc", "aws:sourcevpce", "aws:sourceowner", "aws:sourceaccount", "aws:sourceorgid", "aws:sourceip", "aws:userid",
	"aws:principalarn", "aws:principalaccount", "aws:principalorgid", "aws:principalorgpaths", "kms:calleraccount", "s3:dataaccesspointarn",
	"s3:dataaccesspointaccount",
}

// limits reports whether a condition limits a right to known callers. unknown is set if the answer depends on a hidden
// part of the condition.
func limits(condition any) (limited, unknown bool) {
	operators, _ := condition.(map[string]any)
	for operator, of := range operators {
		switch operator {
		case "stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike", "ipaddress",
			"foranyvalue:stringequals", "foranyvalue:stringlike":
		default:
			continue
		}
		keys, _ := of.(map[string]any)
		for key, values := range keys {
			if slices.Contains(limiting, key) && !hides(values) && fixed(key, listOf(values)) {
				return true, false
			}
		}
	}
	return false, hides(condition)
}

// fixed reports whether all values of a condition's key name somebody in particular.
func fixed(key string, values []any) bool {
	for _, v := range values {
		text, ok := v.(string)
		switch {
		case !ok || text == "" || strings.Contains(text, "${"):
			return false
		case strings.HasSuffix(key, "sourceip"):
			if _, err := netip.ParseAddr(text); err == nil {
				continue
			}
			if _, err := netip.ParsePrefix(text); err != nil {
				return false
			}
			if _, public := parseSource(text); public {
				return false
			}
		case strings.HasSuffix(key, "arn"):
			// The account of an ARN is its fifth part. A bucket's ARN has none, and needs a whole name.
			parts := strings.SplitN(text, ":", 6)
			if len(parts) < 6 || strings.ContainsAny(parts[4], "*?") || parts[4] == "" && strings.ContainsAny(parts[5], "*?") {
				return false
			}
		case strings.HasSuffix(key, "orgpaths"):
			if org, _, _ := strings.Cut(text, "/"); strings.ContainsAny(org, "*?") {
				return false
			}
		case strings.ContainsAny(text, "*?"):
			return false
		}
	}
	return len(values) > 0
}

// broad reports whether a right is for all actions, or for all of one service.
func (g grant) broad() bool {
	service, action, two := strings.Cut(g.action, ":")
	if !two {
		return strings.ContainsAny(g.action, "*?")
	}
	return strings.ContainsAny(service, "*?") || strings.Trim(action, "*?") == ""
}

// within reports whether another right includes g.
func (g grant) within(b grant) bool {
	return (b.condition == "" || b.condition == g.condition) && matches(b.action, g.action) && matches(b.resource, g.resource)
}

// matches reports whether a pattern includes everything that another pattern includes. It understands patterns
// with a * at the end. For other patterns, it may return false although the answer is yes.
func matches(pattern, text string) bool {
	if pattern == text {
		return true
	}
	start, open := strings.CutSuffix(pattern, "*")
	return open && !strings.ContainsAny(start, "*?") && strings.HasPrefix(text, start)
}

// decode reads JSON. The keys of objects are in lower case: AWS ignores their case in conditions. A key that
// occurs twice is an error, because readers differ about which one counts.
func decode(text string) (any, error) {
	if len(text) > maxDocument {
		return nil, errors.New("the policy is too large")
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := value(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the policy")
	}
	return v, nil
}

func value(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, is := t.(json.Delim)
	switch {
	case !is:
		return t, nil
	case depth == maxNesting:
		return nil, errors.New("the policy is nested too deeply")
	case delim == '[':
		list := []any{}
		for d.More() {
			v, err := value(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	object := map[string]any{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := strings.ToLower(key.(string))
		if _, twice := object[name]; twice {
			return nil, errors.New("a key occurs twice")
		}
		if object[name], err = value(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return object, err
}
