package cliconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// repositoryOf reads the argument repository_template of an oci_mirror block: a template that may have
// ${hostname}, ${namespace} and ${type}. A part of an address that the patterns in include leave open must be in
// the template, since two providers would otherwise come from one repository.
// Source: https://opentofu.org/docs/cli/oci_registries/provider-mirror/
func repositoryOf(template string, include []addrs.ProviderPattern) (func(addrs.Provider) (string, error), error) {
	const argument = "the argument repository_template of an oci_mirror block"
	if template == "" {
		return nil, errors.New("an oci_mirror block needs the argument repository_template, such as \"example.com/providers/${namespace}/${type}\"")
	}
	expr, ds := parsing.Template([]byte(template), "repository_template")
	if ds.HasErrors() {
		return nil, fmt.Errorf("%s is no template: %s", argument, ds[0].Detail)
	}
	used := map[string]bool{}
	for _, t := range expr.Variables() {
		used[t.RootName()] = true
	}
	open := openParts(include)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if _, ok := open[name]; !ok {
			return nil, fmt.Errorf("%s has ${%s}, and there are only ${hostname}, ${namespace} and ${type}", argument, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if open[name] && !used[name] {
			return nil, fmt.Errorf("%s has no ${%s}, so several providers would have one repository: add it, or let include name only one %[2]s", argument, name)
		}
	}
	return func(p addrs.Provider) (string, error) {
		v, ds := expr.Value(&hcl.EvalContext{Variables: map[string]cty.Value{
			"hostname": cty.StringVal(p.Host), "namespace": cty.StringVal(p.Namespace), "type": cty.StringVal(p.Type),
		}})
		if !ds.HasErrors() {
			if text, err := convert.Convert(v, cty.String); err == nil && text.IsWhollyKnown() && !text.IsNull() {
				return text.AsString(), nil
			}
		}
		return "", fmt.Errorf("%s gives no name of a repository for the provider %s", argument, p)
	}, nil
}

// openParts reports for each part of an address whether the patterns allow several values. The hosts of the two
// default registries count as one.
func openParts(include []addrs.ProviderPattern) map[string]bool {
	found := map[string]map[string]bool{"hostname": {}, "namespace": {}, "type": {}}
	for _, p := range include {
		host, namespace, typeName := p.Parts()
		if host == addrs.OpenTofuRegistryHost {
			host = addrs.DefaultRegistryHost
		}
		found["hostname"][host], found["namespace"][namespace], found["type"][typeName] = true, true, true
	}
	open := map[string]bool{}
	for name, values := range found {
		open[name] = len(values) != 1 || values["*"]
	}
	return open
}
