package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// A Loosening is a policy that allows more than the template's.
type Loosening struct {
	Policy  Deployed
	What    string         // the change
	Changed map[string]any // the document
	Actions []string       // the patterns of actions that the change concerns
}

// Asks returns the requests that the loosening might allow, and the matrix does not. Their order is
// random, and always the same: neighbours in the sorted order are alike, and notice the same.
func (l Loosening) Asks(w *World, c Catalogue) []Ask {
	asks := slices.DeleteFunc(w.wanted(w.asksOf(l.Policy.Policy, l.Actions, c)), func(a Ask) bool { return a.Want })
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
	return asks
}

// Loosenings returns every way to loosen the world's policies by one step: another action or
// resource, or all of them; a condition dropped or widened; another principal; and a denial dropped
// or narrowed.
func (w *World) Loosenings(c Catalogue) []Loosening {
	var out []Loosening
	for _, d := range w.Policies {
		for i, s := range list(d.Resolved["Statement"]) {
			l := loosener{world: w, catalogue: c, policy: d, index: i, statement: s.(map[string]any)}
			if l.denies() {
				l.dropDenial()
			} else {
				l.addActions()
				l.addResources()
				l.addPrincipals()
			}
			l.loosenConditions()
			out = append(out, l.out...)
		}
	}
	return out
}

// A loosener loosens one statement.
type loosener struct {
	world     *World
	catalogue Catalogue
	policy    Deployed
	index     int
	statement map[string]any
	out       []Loosening
}

func (l *loosener) denies() bool      { return l.statement["Effect"] == "Deny" }
func (l *loosener) actions() []string { return texts(l.statement["Action"]) }

// put adds a loosening that has other statements in the place of this one.
func (l *loosener) put(what string, about []string, instead ...any) {
	document := clone(l.policy.Resolved)
	statements := list(document["Statement"])
	document["Statement"] = append([]any{}, slices.Concat(statements[:l.index], instead, statements[l.index+1:])...)
	sid := l.statement["Sid"]
	if sid == nil {
		sid = l.index + 1
	}
	l.out = append(l.out, Loosening{l.policy, fmt.Sprintf("%s, statement %v: %s", l.policy.Name, sid, what), document, about})
}

// with adds a loosening in which a member of the statement has another value.
func (l *loosener) with(what, member string, v any, about []string) {
	s := clone(l.statement)
	s[member] = v
	l.put(what, about, s)
}

// clone copies a document.
func clone(v map[string]any) map[string]any {
	data, err := json.Marshal(v)
	var out map[string]any
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("template: copy a policy: %v", err)) // it comes from YAML
	}
	return out
}

// addActions adds every action of the statement's services that applies to one of its resources,
// and all of them.
func (l *loosener) addActions() {
	given := l.actions()
	for _, service := range servicesOf(given) {
		var more []string
		for _, action := range l.catalogue.sortedActions() {
			if strings.HasPrefix(action, service+":") && !matchesAny(given, action) && l.adds(action) {
				more = append(more, action)
				l.with("and "+action, "Action", append(slices.Clone(given), action), []string{action})
			}
		}
		if len(more) > 0 {
			l.with("and "+service+":*", "Action", append(slices.Clone(given), service+":*"), more)
		}
	}
}

// adds reports whether an action applies to an object that the statement names, and is not already
// granted to the party by another statement.
func (l *loosener) adds(action string) bool {
	conditions := fmt.Sprint(l.statement["Condition"])
	if slices.ContainsFunc(deaf[action], func(key string) bool { return strings.Contains(conditions, key) }) {
		return false
	}
	return slices.ContainsFunc(l.catalogue[action], func(on string) bool {
		r := l.world.Resources[on]
		if l.policy.Kind != templates.RolePolicies {
			return (slices.Contains(l.policy.On, on) || slices.Contains(l.policy.On, r.Of)) && !l.granted(action, "")
		}
		return matchesAny(texts(l.statement["Resource"]), r.ARN) && !l.granted(action, r.ARN)
	})
}

// deaf are actions that do not know the condition keys of other actions of their service: a
// statement with a condition on such a key never matches them.
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html, list_awskeymanagementservice.html and list_awssecuritytokenservice.html
var deaf = map[string][]string{
	"lambda:InvokeFunction":         {"lambda:FunctionUrlAuthType"},
	"lambda:InvokeFunctionUrl":      {"lambda:InvokedViaFunctionUrl"},
	"kms:SynchronizeMultiRegionKey": {"kms:ViaService"},
	"sts:AssumeRoleWithSAML":        {"sts:ExternalId"},
	"sts:AssumeRoleWithWebIdentity": {"sts:ExternalId"},
	"sts:TagSession":                {"sts:ExternalId"},
	"sts:SetContext":                {"sts:ExternalId", "aws:RequestTag/"},
	"sts:SetSourceIdentity":         {"sts:ExternalId", "aws:RequestTag/"},
}

// granted reports whether another statement of the same party allows an action on an ARN without
// conditions; or, in a resource's policy, to the same principals and perhaps under the same
// conditions.
func (l *loosener) granted(action, arn string) bool {
	for _, d := range l.world.Policies {
		if d.Kind != l.policy.Kind || !slices.Equal(d.On, l.policy.On) {
			continue
		}
		for _, s := range list(d.Resolved["Statement"]) {
			m := s.(map[string]any)
			same := fmt.Sprint(m["Principal"]) == fmt.Sprint(l.statement["Principal"])
			sure := m["Condition"] == nil || fmt.Sprint(m["Condition"]) == fmt.Sprint(l.statement["Condition"])
			there := arn == "" && same && sure || arn != "" && m["Condition"] == nil && matchesAny(texts(m["Resource"]), arn)
			if m["Effect"] == "Allow" && there && matchesAny(texts(m["Action"]), action) {
				return true
			}
		}
	}
	return false
}

// addResources adds every other resource that the statement's actions apply to, all of their kind,
// and everything.
func (l *loosener) addResources() {
	if l.policy.Kind != templates.RolePolicies {
		return // a resource's policy is about that resource
	}
	given, about := texts(l.statement["Resource"]), l.actions()
	l.with("on *", "Resource", "*", about)
	for _, g := range given {
		if i := strings.LastIndexAny(strings.TrimRight(g, "/:*"), ":/"); i > 0 {
			l.with("on "+g[:i+1]+"*", "Resource", append(slices.Clone(given), g[:i+1]+"*"), about)
		}
	}
	for _, on := range slices.Sorted(maps.Keys(l.world.Resources)) {
		arn := l.world.Resources[on].ARN
		if arn != "*" && !matchesAny(given, arn) && slices.ContainsFunc(l.catalogue.sortedActions(), func(action string) bool {
			return matchesAny(about, action) && slices.Contains(l.catalogue[action], on) && !l.granted(action, arn)
		}) {
			l.with("on "+arn, "Resource", append(slices.Clone(given), arn), about)
		}
	}
}

// addPrincipals admits other principals, one at a time.
func (l *loosener) addPrincipals() {
	if l.policy.Kind == templates.RolePolicies || l.statement["Principal"] == "*" {
		return
	}
	more := []any{"*", map[string]any{"AWS": "*"}, map[string]any{"AWS": "arn:aws:iam::111122223333:root"}}
	// Where a condition names principals, others that it excludes change nothing.
	if conditions, _ := l.statement["Condition"].(map[string]any); conditions["ArnEquals"] == nil {
		more = append(more, map[string]any{"AWS": "arn:aws:iam::999999999999:root"}, map[string]any{"Service": "ec2.amazonaws.com"})
	}
	for _, p := range more {
		if fmt.Sprint(p) == fmt.Sprint(l.statement["Principal"]) {
			continue
		}
		too := clone(l.statement)
		too["Principal"] = p
		if too["Sid"] != nil {
			too["Sid"] = fmt.Sprint(too["Sid"], "Too")
		}
		l.put(fmt.Sprintf("and for %v", p), l.actions(), clone(l.statement), too)
	}
}

// dropDenial drops a denying statement, or a part of it.
func (l *loosener) dropDenial() {
	about := l.actions()
	l.put("dropped", about)
	for _, member := range []string{"Action", "Resource"} {
		given := texts(l.statement[member])
		for i, g := range given {
			if len(given) > 1 {
				l.with("not "+g, member, slices.Delete(slices.Clone(given), i, i+1), about)
			}
		}
	}
	for _, p := range about {
		if service, ok := strings.CutSuffix(p, ":*"); ok {
			l.with("only "+service+":Get*", "Action", service+":Get*", about)
		}
	}
	if l.statement["Principal"] == "*" {
		l.with("for another account only", "Principal", map[string]any{"AWS": "arn:aws:iam::999999999999:root"}, about)
		l.with("for one role only", "Principal", map[string]any{"AWS": "arn:aws:iam::111122223333:role/nobody"}, about)
	}
}

// servicesOf returns the services of actions.
func servicesOf(actions []string) []string {
	var out []string
	for _, a := range actions {
		s, _, _ := strings.Cut(a, ":")
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
