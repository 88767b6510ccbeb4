package project

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
)

// remoteState is the type of the data source that reads the outputs of another state.
const remoteState = "terraform_remote_state"

// maxStates is the maximum number of other states that a configuration is known to read.
const maxStates = 200

// states returns the addresses of the states in S3 that data sources of the configuration read, sorted. An address
// whose parts are not all known from the configuration's text is left out.
func (r *staticReader) states() []string {
	found := map[string]bool{}
	for _, m := range r.cfg.Order[:min(len(r.cfg.Order), maxReaders)] {
		for _, args := range r.in(m.Dir).remote {
			s := scope{m, args["for_each"]}
			for _, backend := range r.wholeTexts(args["backend"], s, "") {
				r.addStates(found, backend, args, s)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// addStates adds the addresses of the states that one data source reads.
func (r *staticReader) addStates(found map[string]bool, backend string, args map[string]hclsyntax.Expression, s scope) {
	if backend != "s3" {
		return
	}
	config, in := args["config"], s
	if x, is := config.(*hclsyntax.ScopeTraversalExpr); is {
		config, in, _ = r.named(x.Traversal, s)
	}
	given := map[string]hclsyntax.Expression{}
	if o, is := config.(*hclsyntax.ObjectConsExpr); is {
		for _, item := range o.Items {
			if v, ds := item.KeyExpr.Value(nil); !ds.HasErrors() && textsOf(v)[0].whole {
				given[textsOf(v)[0].begins] = item.ValueExpr
			}
		}
	}
	buckets, keys := r.wholeTexts(given["bucket"], in, ""), r.wholeTexts(given["key"], in, "")
	prefixes, workspaces := r.wholeTexts(given["workspace_key_prefix"], in, "env:"), r.wholeTexts(args["workspace"], s, DefaultWorkspace)
	n := len(buckets) * len(keys) * len(prefixes) * len(workspaces)
	if r.steps += n; n > maxStates || len(found)+n > maxStates || r.steps > maxSteps {
		return
	}
	for _, bucket := range buckets {
		for _, key := range keys {
			for _, prefix := range prefixes {
				for _, workspace := range workspaces {
					at, err := places.Of(backend, map[string]any{"bucket": bucket, "key": key, "workspace_key_prefix": prefix}, workspace)
					if err == nil {
						found[at.String()] = true
					}
				}
			}
		}
	}
}

// wholeTexts returns those possible values of an expression that are completely known. absent is the value if
// there is no expression.
func (r *staticReader) wholeTexts(x hclsyntax.Expression, s scope, absent string) (out []string) {
	if l, is := x.(*hclsyntax.LiteralValueExpr); x == nil || is && l.Val.IsNull() {
		return []string{absent}
	}
	for _, t := range r.texts(x, s, 0) {
		if t.whole && !t.rooted {
			out = append(out, t.begins)
		}
	}
	return out
}

// Readers returns the names of the projects that read the state of a project: by their inputs, or by data sources
// whose arguments are known. The names are in the order of all, each once.
func Readers(all []Project, p Project) (out []string) {
	for _, x := range all {
		if x.Name == p.Name || slices.Contains(out, x.Name) {
			continue
		}
		at := p.Place.String()
		if slices.Contains(projectinputs.Projects(x.Inputs), p.Name) || p.Place.Backend == "s3" && slices.Contains(x.States, at) {
			out = append(out, x.Name)
		}
	}
	return out
}
