package project

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/grammar"
)

// providerParallelism is the argument with the limits of providers.
const providerParallelism = "provider_parallelism"

// allCalls is how many calls a plan or an apply makes at a time to all providers together. It is the engine's
// default.
const allCalls = 10

// A limitedProvider is an item of [providerParallelism].
type limitedProvider struct {
	name string
	at   hcl.Range
}

// ProviderLimits returns a function that returns the limit of a provider; 0 means no limit. The keys of limits
// are types ("aws"), which mean all providers of that type, or source addresses ("hashicorp/aws", at the registry of
// Terraform or of OpenTofu). If several keys match, the lowest limit counts. If limits is empty, the function is nil.
func ProviderLimits(limits map[string]int) func(addrs.Provider) int {
	if len(limits) == 0 {
		return nil
	}
	return func(p addrs.Provider) int {
		least := 0
		for name, n := range limits {
			if names(name, p) && (least == 0 || n < least) {
				least = n
			}
		}
		return least
	}
}

// names reports whether a key of the limits matches a provider.
func names(name string, p addrs.Provider) bool {
	of, err := addrs.ParseProviderIn(p.DefaultRegistry(), name)
	return err == nil && (of == p || !strings.Contains(name, "/") && of.Type == p.Type)
}

// providerLimits parses the limits of providers. An item with an error sets no limit.
func (p *parser) providerLimits(a *hcl.Attribute, arg grammar.Argument) map[string]int {
	v, _ := p.value(a, arg)
	out := map[string]int{}
	for name, limit := range v.Items() {
		n := limit.Number()
		switch _, err := addrs.ParseProvider(name); {
		case err != nil:
			p.errorf(limit.At, "Invalid provider", "%q does not name a provider: %s. Write its type, as \"aws\", or its source address, as \"registry.example.com/acme/dns\".", name, err)
		case n < 1:
			p.errorf(limit.At, "Invalid value", "The limit of the provider %q must be 1 or more. To remove the limit, remove the provider from %s.", name, a.Name)
		default:
			if n > allCalls {
				p.warnf(limit.At, "Limit without effect", "Lockstep makes at most %d calls at a time to all providers together, so the limit of the provider %q has no effect. Write a lower number, or remove the provider from %s.", allCalls, name, a.Name)
			}
			out[name] = n
			p.settings.limited = append(p.settings.limited, limitedProvider{name, limit.At})
		}
	}
	return out
}

// unlimited returns a warning for each limit in the settings whose provider no project uses. providers are the
// providers of all projects. nil means that the list is not complete: then there are no warnings.
func (s *Settings) unlimited(providers map[addrs.Provider]bool) (ds diags.Diagnostics) {
	if providers == nil {
		return nil
	}
	var known []string
	for p := range providers {
		known = append(known, p.Type, p.ForDisplay())
	}
	slices.Sort(known)
	for _, l := range s.limited {
		used := false
		for p := range providers {
			used = used || names(l.name, p)
		}
		if !used {
			ds = append(ds, diags.Warningf(&l.at, "No such provider", "%[2]s names the provider %[1]q, but no project requires it.%[3]s Write the type or the source address of a provider, or remove it.", l.name, providerParallelism, diags.Suggest(l.name, slices.Values(known)))...)
		}
	}
	return ds
}
