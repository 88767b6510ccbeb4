package requirements

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/risks"
)

// parseRisk reads the name of a risk.
func parseRisk(s string) (string, error) {
	if slices.Contains(risks.Names, risks.Name(s)) {
		return s, nil
	}
	var names []string
	for _, n := range risks.Names {
		names = append(names, string(n))
	}
	return s, fmt.Errorf("there is no risk %q.%s Write one of %s", s, diags.Suggest(s, slices.Values(names)), strings.Join(names, ", "))
}

// AssessmentOf identifies how the risks of a plan are found: by this version of Lockstep, with these patterns of
// stateful types. It is never "".
func AssessmentOf(stateful []string) string {
	sum := sha256.Sum256([]byte(strings.Join(stateful, "\n")))
	return fmt.Sprintf("1:%x", sum[:8])
}

// IsStateful reports whether one of the patterns matches a resource type.
func IsStateful(patterns []string, resource string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return MatchesType(p, resource) })
}

// Assess sets how the risks of plans must have been found, in all rules with NoRisk.
func (r *Requirement) Assess(stateful []string) {
	set := func(x *Rules) {
		if x.NoRisk != nil {
			x.Assessment = AssessmentOf(stateful)
		}
	}
	set(&r.Rules)
	for i := range r.Alternatives {
		set(&r.Alternatives[i].Rules)
	}
}
