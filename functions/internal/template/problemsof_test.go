package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// Problems returns the reasons for which CloudFormation could not create a template's resources, or
// for which they would not work from the first moment: unknown names, cycles, references to
// resources that may be missing, and functions that start before they have their rights. A good
// template has none.
func Problems(x templates.Template) []string {
	var out []string
	refs := references(x)
	out = append(out, unknown(x, refs)...)
	out = append(out, unused(x, refs)...)
	out = append(out, missing(x, refs)...)
	g := graphOf(x)
	if _, err := g.order(); err != nil {
		return append(out, err.Error()) // the following checks need an order
	}
	return append(out, early(x, g)...)
}

// Order returns a template's resources, including those that SAM generates, in an order in which
// CloudFormation could create them.
func Order(x templates.Template) ([]string, error) { return graphOf(x).order() }

// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
var pseudo = []string{"AWS::AccountId", "AWS::NoValue", "AWS::NotificationARNs", "AWS::Partition", "AWS::Region", "AWS::StackId", "AWS::StackName", "AWS::URLSuffix"}

// unknown returns references to unknown names, and names that SAM would give twice.
func unknown(x templates.Template, refs []reference) []string {
	var out []string
	made := map[string]bool{}
	for name, r := range x.Resources {
		for _, more := range expand(name, r) {
			made[more] = true
			if _, there := x.Resources[more]; there {
				out = append(out, fmt.Sprintf("%s: SAM makes a resource of this name for %s", more, name))
			}
		}
	}
	for _, r := range refs {
		_, resource := x.Resources[r.name]
		_, parameter := x.Parameters[r.name]
		_, cond := x.Conditions[r.name]
		resource = resource || made[r.name]
		switch {
		case r.kind == condition && !cond:
			out = append(out, fmt.Sprintf("%s: there is no condition %s", r.at, r.name))
		case r.kind == dependsOn && !resource:
			out = append(out, fmt.Sprintf("%s: there is no resource %s", r.at, r.name))
		case r.kind == value && !resource && !parameter && !slices.Contains(pseudo, r.name):
			out = append(out, fmt.Sprintf("%s: there is no resource or parameter %s", r.at, r.name))
		case r.from == "Conditions" && resource:
			out = append(out, fmt.Sprintf("%s: a condition is known before %s is made", r.at, r.name))
		}
	}
	return out
}

// unused returns parameters and conditions without references, and parameters that are missing in
// their groups.
func unused(x templates.Template, refs []reference) []string {
	named := map[string]bool{}
	for _, r := range refs {
		named[r.name] = true
	}
	var out []string
	for _, name := range append(slices.Sorted(maps.Keys(x.Parameters)), slices.Sorted(maps.Keys(x.Conditions))...) {
		if !named[name] {
			out = append(out, name+": is used by nothing")
		}
	}
	asked := map[string]int{}
	face, _ := x.Metadata["AWS::CloudFormation::Interface"].(map[string]any)
	groups, _ := face["ParameterGroups"].([]any)
	for _, g := range groups {
		for _, name := range texts(g.(map[string]any)["Parameters"]) {
			asked[name]++
			if _, ok := x.Parameters[name]; !ok {
				out = append(out, "ParameterGroups: there is no parameter "+name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.Parameters)) {
		if asked[name] != 1 {
			out = append(out, fmt.Sprintf("ParameterGroups: %s is in %d groups, and not in one", name, asked[name]))
		}
	}
	return out
}

// missing returns references to conditional resources that may be evaluated when these do not
// exist.
func missing(x templates.Template, refs []reference) []string {
	var out []string
	var some []reference // to resources that may not be there
	about := map[string]bool{}
	for _, r := range refs {
		to := x.Resources[r.name].Condition
		if _, known := x.Conditions[to]; r.kind == condition || !known {
			continue
		}
		some, about[to] = append(some, r), true
		for _, g := range r.guards {
			if _, known := x.Conditions[g.condition]; known {
				about[g.condition] = true
			}
		}
	}
	err := worlds(x.Conditions, slices.Sorted(maps.Keys(about)), func(holds map[string]bool) {
		for _, r := range some {
			to := x.Resources[r.name].Condition
			if holds[to] {
				continue
			}
			if !slices.ContainsFunc(r.guards, func(g guard) bool { return holds[g.condition] != g.holds }) {
				out = append(out, fmt.Sprintf("%s: %s is there under the condition %s only", r.at, r.name, to))
			}
		}
	})
	if err != nil {
		out = append(out, err.Error())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// early returns functions that could be called before their role has all its policies, or before
// their log group exists: they would then create one that keeps everything for ever.
func early(x templates.Template, g graph) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(x.Resources)) {
		r := x.Resources[name]
		if r.Type != "AWS::Serverless::Function" {
			continue
		}
		role := target(r.Properties["Role"])
		for _, other := range slices.Sorted(maps.Keys(x.Resources)) {
			o := x.Resources[other]
			grants := o.Type == "AWS::IAM::RolePolicy" && target(o.Properties["RoleName"]) == role ||
				o.Type == "AWS::IAM::Policy" && slices.ContainsFunc(list(o.Properties["Roles"]), func(r any) bool { return target(r) == role })
			logs := o.Type == "AWS::Logs::LogGroup" && logOf(o) != "" && logOf(o) == fmt.Sprint(r.Properties["FunctionName"])
			if (grants || logs) && !g.needs(name, other) {
				out = append(out, fmt.Sprintf("%s: it can begin before %s is there", name, other))
			}
		}
	}
	return out
}

// logOf returns the name of a log group's function, as the template writes it.
func logOf(r templates.Resource) string {
	m, _ := r.Properties["LogGroupName"].(map[string]any)
	text, ok := strings.CutPrefix(fmt.Sprint(m["Fn::Sub"]), "/aws/lambda/")
	if !ok {
		return ""
	}
	return fmt.Sprint(map[string]any{"Fn::Sub": text})
}

// target returns the resource that a Ref or a GetAtt names.
func target(v any) string {
	var out []reference
	walker{out: &out}.walk("", v)
	if len(out) != 1 {
		return ""
	}
	return out[0].name
}

// list returns one value or a list of them as a list.
func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	if v == nil {
		return nil
	}
	return []any{v}
}
