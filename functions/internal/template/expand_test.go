package template

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// expand returns the names of the resources that SAM makes of one: itself, and those that it
// generates for it, which need it.
// Source: https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-generated-resources-function.html
func expand(name string, r templates.Resource) []string {
	if r.Type != "AWS::Serverless::Function" {
		return nil
	}
	var out []string
	if r.Properties["Role"] == nil {
		out = append(out, name+"Role")
	}
	if r.Properties["EventInvokeConfig"] != nil {
		out = append(out, name+"EventInvokeConfig")
	}
	if r.Properties["FunctionUrlConfig"] != nil {
		out = append(out, name+"Url", name+"UrlPublicPermissions")
	}
	if alias, ok := r.Properties["AutoPublishAlias"].(string); ok {
		out = append(out, name+"Alias"+alias)
	}
	if events, ok := r.Properties["Events"].(map[string]any); ok {
		for _, e := range slices.Sorted(maps.Keys(events)) {
			out = append(out, name+e, name+e+"Permission")
		}
	}
	return out
}

// graphOf returns the needs of each resource, including those that SAM generates: a function's role
// comes before it, all others after.
func graphOf(x templates.Template) graph {
	g := graph{}
	for name, r := range x.Resources {
		g[name] = append(g[name], nil...)
		for _, more := range expand(name, r) {
			if more == name+"Role" {
				g[more] = nil
				g[name] = append(g[name], more)
			} else {
				g[more] = append(g[more], name)
			}
		}
	}
	for _, r := range references(x) {
		_, from := g[r.from]
		_, to := g[r.name]
		if from && to && r.kind != condition && !slices.Contains(g[r.from], r.name) {
			g[r.from] = append(g[r.from], r.name)
		}
	}
	return g
}
