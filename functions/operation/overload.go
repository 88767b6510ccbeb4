package operation

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// serverError matches an error text in which a provider reports an HTTP status from 500 to 599. The text must
// also contain a word such as "status": a number alone is not enough.
var serverError = regexp.MustCompile(`(?i)(\b(http|status|status ?code|code|response|api error|error)[ /:=(]*(1\.[01] |2(\.0)? )?"?5\d\d\b|\b5\d\d[ :]+(internal server error|bad gateway|service unavailable|gateway time-?out)|\b(internal server error|bad gateway|service unavailable|gateway time-?out)\b)`)

// manyServerErrors is the minimum number of server errors, for one provider, for which Overload gives a hint. A
// single error may be a coincidence.
const manyServerErrors = 2

// Overload returns a hint if several parallel calls of a provider failed with an error of the provider's
// server: perhaps the server does not support parallel changes. ds are the diagnostics of an apply of p. limit
// returns how many parallel calls a provider may have. remedy returns a sentence that says how to run one call
// at a time.
func Overload(ds diags.Diagnostics, p *plans.Plan, limit func(addrs.Provider) int, remedy func(addrs.Provider) string) diags.Diagnostics {
	providers := map[string]addrs.Provider{}
	for _, c := range p.Changes {
		providers[c.Addr.Instance.String()] = c.Provider.Provider
	}
	failed := map[addrs.Provider]map[string]bool{}
	for _, d := range ds {
		of, ok := providers[d.Address]
		if !ok || d.Severity != diags.Error || !serverError.MatchString(d.Summary+" "+d.Detail) {
			continue
		}
		if failed[of] == nil {
			failed[of] = map[string]bool{}
		}
		failed[of][d.Address] = true
	}
	var out diags.Diagnostics
	for of, objects := range failed {
		if len(objects) >= manyServerErrors && limit(of) != 1 {
			out = append(out, diags.Warningf(nil, "The server may not support concurrent changes",
				"%d calls of the provider %s failed with a server error (HTTP status 5xx). Some servers fail when they get several changes at once. %s", len(objects), of, remedy(of))...)
		}
	}
	slices.SortFunc(out, func(a, b diags.Diagnostic) int { return cmp.Compare(a.Detail, b.Detail) })
	return out
}
